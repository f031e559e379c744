package saturation

import (
	"math"
	"slices"
	"time"

	"benchtop/metrics"
)

// Pace says whether requests are completed as fast as they come. If the time that a request takes, from the moment it is scheduled,
// rises by r seconds in a second of arrivals, then in the time in which n requests come only n/(1+r) are completed: the rest is the
// queue. That holds however long requests take, so it needs no guess as to which of them belong into a stretch of the run.
type Pace struct {
	succeeded, failed int
	// wait is the time until the first chunk, whole that until the last, of the requests of the first and of the second half.
	wait, whole [2]figures
}

// Add takes a success that was scheduled at a moment between from and to; wait is the time from there until its first chunk came, whole
// until its last.
func (p *Pace) Add(at, from, to, wait, whole time.Duration) {
	p.succeeded++
	half := 0
	if at-from >= to-at {
		half = 1
	}
	p.wait[half].add(wait.Seconds())
	p.whole[half].add(whole.Seconds())
}

// Fail takes a request that failed: it is not completed.
func (p *Pace) Fail() { p.failed++ }

// Succeeded is the share, from 0 to 1, of the requests that succeeded; 1 where none is known.
func (p *Pace) Succeeded() float64 { return 1 - metrics.Share(p.failed, p.succeeded+p.failed) }

// Empty forgets all requests.
func (p *Pace) Empty() {
	p.succeeded, p.failed = 0, 0
	for _, of := range []*[2]figures{&p.wait, &p.whole} {
		of[0], of[1] = of[0][:0], of[1][:0]
	}
}

// settledBy is how many times the usual length of a request a stretch must last for a rise of that length alone to tell something: a load
// that begins fills the server's batch first, every request taking longer than the one before, and requests that are served together
// are fast or slow together.
const settledBy = 10

// fewestPerHalf requests are needed for their spread to say what chance can do.
const fewestPerHalf = 10

// Completed is the share, from 0 to 1, of the requests that came in a stretch of so much time which were completed at its pace: the
// share that succeeded, unless more than chance shows that they took longer and longer.
func (p *Pace) Completed(length time.Duration) float64 {
	usual := p.whole[0].statistic(nil).Median / 1000
	return p.completed(length, usual > 0 && length.Seconds() >= settledBy*usual)
}

// completed goes by the time until the last chunk as well if told so, as of a server that begins every request at once.
func (p *Pace) completed(length time.Duration, byWhole bool) float64 {
	most := 0.0
	if rise, sure := trend(p.wait, length); sure {
		most = max(most, rise)
	}
	if rise, sure := trend(p.whole, length); sure && byWhole {
		most = max(most, rise)
	}
	return p.Succeeded() / (1 + most)
}

// trend is by how many seconds the mean of times rose in a second, from one half of a stretch of so much time to the other. sure says
// that the difference is more than three standard errors, of enough requests for these to mean something.
func trend(of [2]figures, length time.Duration) (rise float64, sure bool) {
	if len(of[0]) == 0 || len(of[1]) == 0 {
		return 0, false
	}
	a, b := of[0].statistic(nil), of[1].statistic(nil)
	rose := b.Mean - a.Mean
	spread := math.Sqrt(a.Std*a.Std/float64(a.N) + b.Std*b.Std/float64(b.N))
	return rose / 1000 / (length.Seconds() / 2), min(a.N, b.N) >= fewestPerHalf && math.Abs(rose) > 3*spread
}

// figures are times in seconds, one for each request, in any order. Unlike a sample they can be emptied and filled again without
// new memory.
type figures []float64

func (f *figures) add(seconds float64) { *f = append(*f, seconds) }

// sorted puts the figures in rising order.
func (f figures) sorted() figures {
	if !slices.IsSorted(f) {
		slices.Sort(f)
	}
	return f
}

// statistic sorts the figures and sums them up.
func (f figures) statistic(percentiles []float64) metrics.Statistic {
	return metrics.StatisticOf(f.sorted(), percentiles)
}

// mergeSorted appends two lists in rising order as one.
func mergeSorted(out, a, b figures) figures {
	for len(a) > 0 && len(b) > 0 {
		if a[0] <= b[0] {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}
