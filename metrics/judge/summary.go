package judge

import (
	"math"
	"slices"
	"time"

	"benchtop/metrics"
)

// Summary is a request that ended, as the levels count it.
type Summary struct {
	// LoadTime decides to which level the request belongs; see Plan.LoadTime.
	LoadTime      time.Duration
	Class         string
	OK, Cancelled bool
	// Left: see Request.Left. Whether it would have been good is not known, for a reason that is not the server's.
	Left bool

	NoSocket  bool // the client's own system refused it
	Unreached bool // it failed as without a server
	Reached   bool // the server answered to the end, if with an error

	// Answered is the last sign of the server after Sent, Never for none.
	Sent, Answered, Done time.Duration

	// The following are set for successes only, First, Last and Output also for users who left. Wait and Whole are the
	// times from LoadTime to the first and the last chunk, Late is the client's own lateness.
	First, Last             time.Duration
	TTFT, Wait, Whole, Late time.Duration
	Rest                    metrics.OtherObjectives
	Output                  int
}

// Summarize sums up a request that ended.
func Summarize(p *metrics.Plan, q *metrics.Request) Summary {
	f := Summary{
		LoadTime: p.LoadTime(q), Class: q.Class, OK: q.OK(), Cancelled: q.Failure == metrics.Cancelled, Left: q.Left(),
		NoSocket: q.Failure == metrics.FailedNoSocket, Unreached: q.Unreached(), Reached: q.Reached(),
		Sent: q.Sent, Answered: q.Answered(), Done: q.Done,
	}
	if f.OK || f.Left {
		f.First, f.Last, f.Output = q.FirstChunk, q.LastChunk, q.OutputTokens
	}
	if f.OK {
		f.TTFT = q.TTFT()
		f.Wait, f.Whole = max(f.TTFT, q.FirstChunk-f.LoadTime), max(q.E2EL(), q.LastChunk-f.LoadTime)
		f.Late = max(0, q.OwnLateness())
		f.Rest = q.OtherObjectives()
	}
	return f
}

// Ratio is the latency of a request that is nearest to its limit over that limit, with latencies counted from its load
// time: at most 1 for a success that met every objective, infinite for a failure.
func Ratio(p *metrics.Plan, slo metrics.SLO, q *metrics.Request) float64 {
	f := Summarize(p, q)
	if !f.OK {
		return math.Inf(1)
	}
	o := metrics.OutcomeOf(f.Wait, f.Whole, f.Output, f.Rest)
	return p.ObjectivesFor(q.Class, slo).Ratio(&o)
}

// figures are times in seconds, one for each request, in any order. Their memory can be reused, unlike that of a
// sample.
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

// quantile of sorted figures, NaN for none.
func (f figures) quantile(q float64) float64 {
	if len(f) == 0 {
		return math.NaN()
	}
	return f[min(len(f)-1, int(q*float64(len(f))))]
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
