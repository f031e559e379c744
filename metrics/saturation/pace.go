package saturation

import (
	"math"
	"slices"
	"time"

	"benchtop/metrics"
)

// Pace measures whether requests are completed as fast as they arrive. If the time from the arrival of a request to its end rises by r
// seconds in a second of arrivals, n/(1+r) requests are completed in the time in which n arrive, and the rest is the queue. This holds
// for any length of requests, so it needs no guess as to which requests belong to a level.
type Pace struct {
	succeeded, failed int
	// wait and whole are the times to the first and to the last chunk, of the requests of the first and of the second half.
	wait, whole [2]figures
}

// Add counts a success that arrived between from and to. wait and whole are the times from its arrival to its first and last chunk.
func (p *Pace) Add(at, from, to, wait, whole time.Duration) {
	p.succeeded++
	half := 0
	if at-from >= to-at {
		half = 1
	}
	p.wait[half].add(wait.Seconds())
	p.whole[half].add(whole.Seconds())
}

// Fail counts a failure, which is not completed.
func (p *Pace) Fail() { p.failed++ }

// Succeeded is the share of successes, from 0 to 1; 1 without requests.
func (p *Pace) Succeeded() float64 { return 1 - metrics.Share(p.failed, p.succeeded+p.failed) }

// Empty forgets all requests.
func (p *Pace) Empty() {
	p.succeeded, p.failed = 0, 0
	for _, of := range []*[2]figures{&p.wait, &p.whole} {
		of[0], of[1] = of[0][:0], of[1][:0]
	}
}

// settledBy is the length of a level, in usual lengths of a request, from which on a rise of that length counts. A load that begins fills
// the server's batch, and each request takes longer than the one before. Requests that are served together are fast or slow together.
const settledBy = 10

// fewestPerHalf is the number of requests from which on their spread measures chance.
const fewestPerHalf = 10

// Completed is the share, from 0 to 1, of the arrivals of a level of this length that were completed at its pace: the share of successes,
// reduced where requests took longer and longer by more than chance.
func (p *Pace) Completed(length time.Duration) float64 {
	usual := p.whole[0].statistic(nil).Median / 1000
	return p.completed(length, usual > 0 && length.Seconds() >= settledBy*usual)
}

// completed also counts the time to the last chunk if byWhole, as for a server that begins every request at once.
func (p *Pace) completed(length time.Duration, byWhole bool) float64 {
	most := 0.0
	if rise, significant := trend(p.wait, length); significant {
		most = max(most, rise)
	}
	if rise, significant := trend(p.whole, length); significant && byWhole {
		most = max(most, rise)
	}
	return p.Succeeded() / (1 + most)
}

// trend is the rise of the mean from the first to the second half of a level of this length, in seconds a second. It is significant if
// it exceeds three standard errors of enough requests.
func trend(of [2]figures, length time.Duration) (rise float64, significant bool) {
	if len(of[0]) == 0 || len(of[1]) == 0 {
		return 0, false
	}
	a, b := of[0].statistic(nil), of[1].statistic(nil)
	rose := b.Mean - a.Mean
	spread := math.Sqrt(a.Std*a.Std/float64(a.N) + b.Std*b.Std/float64(b.N))
	return rose / 1000 / (length.Seconds() / 2), min(a.N, b.N) >= fewestPerHalf && math.Abs(rose) > 3*spread
}

// figures are times in seconds, one for each request, in any order. Their memory can be reused, unlike that of a sample.
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

// mergeSorted merges two lists in rising order.
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
