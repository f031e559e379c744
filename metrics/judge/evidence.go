package judge

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/mathext"

	"benchtop/metrics"
)

// evidence is how far the requests of a level are from the limits of a tier, in short bins of the time at which they
// arrived.
type evidence struct {
	bins    []bin
	without int // requests that ended, and that have no such ratio
}

// bin sums up the requests that arrived in a short time.
type bin struct {
	ratio fixedPoint // the sum of their ratios, each at most ratioMost
	n     int
	// good met the objectives as measured. The client's own delays are in that; best would have been good without them,
	// worst with the delay of reading once more.
	good, best, worst int
}

func (b *bin) join(o *bin) {
	b.ratio, b.n = b.ratio+o.ratio, b.n+o.n
	b.good, b.best, b.worst = b.good+o.good, b.best+o.best, b.worst+o.worst
}

func (b *bin) mean() float64 { return b.ratio.float() / float64(b.n) }

// ratios of a request to the limits: as measured, and without and with more of the client's own delays.
type ratios struct{ measured, best, worst float64 }

func (e *evidence) add(i int, r ratios) {
	b := &e.bins[i]
	if b.n++; r.measured < ratioMost {
		b.ratio += fixedOf(r.measured)
	} else { // not a number, too
		b.ratio += fixedOf(ratioMost)
	}
	for _, c := range []struct {
		ratio float64
		n     *int
	}{{r.measured, &b.good}, {r.best, &b.best}, {r.worst, &b.worst}} {
		if c.ratio <= 1 {
			*c.n++
		}
	}
}

// reset empties the evidence for a level with so many bins.
func (e *evidence) reset(bins int) {
	e.bins = slices.Grow(e.bins[:0], bins)[:bins]
	clear(e.bins)
	e.without = 0
}

// weight is what the evidence of a level is worth.
type weight struct {
	bin               // of all requests after the warm-up
	arrived   int     // of those, whether they have ended or not
	effective float64 // independent requests that they are worth
	lasting   float64 // the length of the level over the time for which its requests depend on each other
	warm      time.Duration
	pending   int // requests that have not ended, where they decide
}

// weigh cuts off a warm-up and finds the effective number of requests, of the first bins.
func (e *evidence) weigh(width time.Duration, bins int) (w weight) {
	means := e.means()[:bins]
	warm := warmUp(means)
	for i := warm; i < bins; i++ {
		w.join(&e.bins[i])
	}
	w.warm = width * time.Duration(warm)
	w.lasting = float64(len(means)-warm) / (2 * correlation(means[warm:]))
	w.effective = min(float64(w.n), w.lasting)
	return w
}

// means are the mean ratios of the bins. One without requests has that of the one before.
func (e *evidence) means() []float64 {
	out := make([]float64, len(e.bins))
	last := 0.0
	for i := range e.bins {
		if b := &e.bins[i]; b.n > 0 {
			if i > 0 && last == 0 {
				for k := range i {
					out[k] = b.mean()
				}
			}
			last = b.mean()
		}
		out[i] = last
	}
	return out
}

// warmUp is the number of bins to leave out, at most warmMost of them: the number that makes the mean of the rest most
// exact, by the rule MSER (White 1997).
func warmUp(x []float64) (cut int) {
	most := int(warmMost * float64(len(x)))
	best := math.Inf(1)
	sum, squares, n := 0.0, 0.0, 0.0
	for i := len(x) - 1; i >= 0; i-- {
		sum, squares, n = sum+x[i], squares+x[i]*x[i], n+1
		if i > most {
			continue
		}
		if error := max(0, squares-sum*sum/n) / (n * n); error <= best*(1+1e-9) {
			best, cut = error, i
		}
	}
	return cut
}

// correlation is the integrated autocorrelation time of a series, in its steps and at least a half: the sum of the
// autocorrelations as far as those of two neighbouring lags are together positive, the initial positive sequence of
// Geyer, Practical Markov chain Monte Carlo, Statistical Science 7 (1992).
func correlation(x []float64) float64 {
	n := len(x)
	if n < 2 {
		return 0.5
	}
	mean := 0.0
	for _, v := range x {
		mean += v / float64(n)
	}
	at := func(lag int) (sum float64) {
		for i := range n - lag {
			sum += (x[i] - mean) * (x[i+lag] - mean)
		}
		return sum
	}
	whole := at(0)
	if whole <= 1e-12*float64(n)*mean*mean {
		return 0.5
	}
	tau := 0.5
	for lag := 1; lag+1 < n/2; lag += 2 {
		pair := (at(lag) + at(lag+1)) / whole
		if pair <= 0 {
			break
		}
		tau += pair
	}
	return tau
}

// ShareAtLeast is the probability that the true share of good requests is at least least, when good of n independent
// ones were. It follows from Bayes' rule with a uniform prior, and is that of a beta distribution:
//
//	P(share >= least) = 1 - I_least(good+1, n-good+1)
//
// The numbers need not be whole, because effective requests are not.
func ShareAtLeast(good, n, least float64) float64 {
	switch {
	case !(n > 0) || !(good >= 0) || good > n || math.IsNaN(least) || math.IsInf(n, 0):
		return 0
	case least <= 0:
		return 1
	case least >= 1:
		return 0
	}
	return 1 - mathext.RegIncBeta(good+1, n-good+1, least)
}

// Chance is the probability that so many or more of n independent requests are bad where exactly enough are good in a
// long run.
func Chance(bad, n, enough float64) float64 {
	if !(bad > 0) || !(n > 0) || bad > n || !(enough > 0 && enough < 1) {
		return 1
	}
	return mathext.RegIncBeta(bad, n-bad+1, 1-enough)
}

// lowerBound is the share that the true one exceeds with EnoughConfidence.
func lowerBound(good, n float64) float64 {
	return mathext.InvRegIncBeta(good+1, n-good+1, 1-metrics.EnoughConfidence)
}

// needed is the number of effective requests of which a share is good that makes a confidence; 0 where no number does.
func needed(share, least, confidence float64) float64 {
	if share <= least {
		return 0
	}
	n := 1.0
	for ; ShareAtLeast(share*n, n, least) < confidence; n *= 1.1 {
		if n > 1e7 {
			return 0
		}
	}
	return n
}

// MostFor is the highest confidence that a load of such a length can have.
func MostFor(length time.Duration) float64 {
	if length < ShortestProof-shortestSlack {
		return shortMost
	}
	return metrics.MostConfidence
}
