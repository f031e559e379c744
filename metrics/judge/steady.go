package judge

import (
	"cmp"
	"math"
	"slices"
	"time"

	"benchtop/metrics"
)

const (
	// SteadyShortest is the length of a level from which on it can be called steady: shorter series show no change.
	SteadyShortest = 20 * time.Second
	// steadyBins bounds the points of a series, steadySide is the part of it that each side of a change has at least.
	steadyBins = 240
	steadySide = 0.05
	// changeErrors are the standard errors, and changeLeast the part of the mean, from which on a change is one: see
	// docs/accuracy.md.
	changeErrors = 5
	// noiseLeast is the least standard deviation of a point, as a part of the mean: a series without any other would
	// change with a single request.
	noiseLeast = 0.1
	// sideErrors times the errors of the longer side stand for those of both.
	sideErrors  = 1.5
	changeLeast = 0.1
	// SteadyLeast is the part of a level that has to be steady, else it never was.
	SteadyLeast = 0.5
)

// Flight has the requests between their load time and their end, for each second of a run.
type Flight struct {
	parts  []float64 // request seconds of those that begin or end in the second
	change []int     // of the number of those that are there for all of it
}

// Add counts a request that ended, in a run that ends by then.
func (f *Flight) Add(from, to time.Duration) {
	if from == metrics.Never || to < from {
		return
	}
	first, last := metrics.SecondOf(from), metrics.SecondOf(to)
	for len(f.parts) <= last+1 {
		f.parts, f.change = append(f.parts, 0), append(f.change, 0)
	}
	f.parts[first] -= from.Seconds() - float64(first)
	f.parts[last] += to.Seconds() - float64(last)
	f.change[first]++
	f.change[last]--
}

// Means are the mean numbers of requests.
func (f *Flight) Means() []float64 {
	out, whole := slices.Clone(f.parts), 0
	for i := range out {
		whole += f.change[i]
		out[i] += float64(whole)
	}
	return out
}

// SteadyPart finds the steady part of a level by the seconds of its run: requests in flight and throughput show no
// change in it. At the strongest change the longer side goes on, as long as it is SteadyLeast of the level. from = to
// where there is none; known is false for a level that is too short to tell.
func SteadyPart(flight []float64, seconds []*metrics.Window,
	l *metrics.LoadLevel) (from, to time.Duration, known bool) {
	first := int((l.From + time.Second - 1) / time.Second)
	last := min(int(l.To/time.Second), len(seconds), len(flight))
	if l.To-l.From < SteadyShortest || last-first < 2 {
		return 0, 0, false
	}
	group := (last - first + steadyBins - 1) / steadyBins
	n := (last - first) / group
	there, made := make([]float64, n), make([]float64, n)
	for i := range n * group {
		w := seconds[first+i]
		there[i/group] += flight[first+i]
		made[i/group] += float64(cmp.Or(w.TokensOut, w.Completed)) // tokens or, of pooling, ends
	}
	a, b := 0, n
	for {
		at, errors := change(there[a:b])
		if k, e := change(made[a:b]); e > errors {
			at, errors = k, e
		}
		switch {
		case errors < changeErrors && a == 0 && b == n:
			return l.From, l.To, true
		case errors < changeErrors:
			second := func(bin int) time.Duration { return time.Duration(first+bin*group) * time.Second }
			return second(a), second(b), true
		case 2*at > b-a:
			b = a + at
		default:
			a += at
		}
		if float64(b-a) < SteadyLeast*float64(n) {
			return l.From, l.From, true
		}
	}
}

// change is the place at which the mean of a series changes most, and by how many standard errors; 0 for a change that
// does not matter. The errors are of series whose points depend on each other, see correlation, without the change
// itself: a step there, or a straight line, or that of the longer side, which a rare cold start does not touch.
func change(x []float64) (at int, errors float64) {
	n := len(x)
	sums := make([]float64, n+1)
	for i, v := range x {
		sums[i+1] = sums[i] + v
	}
	side := max(2, int(math.Ceil(steadySide*float64(n))))
	most, before, after := 0.0, 0.0, 0.0
	for k := side; k <= n-side; k++ {
		left, right := sums[k]/float64(k), (sums[n]-sums[k])/float64(n-k)
		if v := math.Abs(left-right) * math.Sqrt(float64(k)*float64(n-k)); v > most {
			most, at, before, after = v, k, left, right
		}
	}
	size := math.Abs(before - after)
	if at == 0 || size < changeLeast*sums[n]/float64(n) {
		return 0, 0
	}
	middle, slope := line(x)
	step, straight := slices.Clone(x), slices.Clone(x)
	for i := range x {
		if step[i] -= before; i >= at {
			step[i] = x[i] - after
		}
		straight[i] -= middle + slope*(float64(i)-float64(n-1)/2)
	}
	longer := step[:at]
	if 2*at < n {
		longer = step[at:]
	}
	least := min(noise(step), noise(straight), sideErrors*sideErrors*noise(longer))
	floor := noiseLeast * sums[n] / float64(n)
	return at, size / math.Sqrt(max(floor*floor, least)*(1/float64(at)+1/float64(n-at)))
}

// noise is the variance of a series around 0, times the number of its points that are worth one independent one.
func noise(rest []float64) float64 {
	squares := 0.0
	for _, v := range rest {
		squares += v * v
	}
	return squares / float64(len(rest)-1) * 2 * correlation(rest)
}

// line is the straight line of least squares through a series: its middle and its slope.
func line(x []float64) (middle, slope float64) {
	n := float64(len(x))
	var squares float64
	for i, v := range x {
		t := float64(i) - (n-1)/2
		middle, slope, squares = middle+v/n, slope+t*v, squares+t*t
	}
	return middle, slope / squares
}
