package live

import (
	"math"
	"slices"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/saturation"
)

// mostJudged bounds the requests that a ledger keeps: five and a half hours at 100 a second, in 128 MB, and nearly as much again
// to judge them. What is beyond it can be counted, but not judged again.
const mostJudged = 2_000_000

// ledger keeps a few numbers of every request of a run that is on, so that all of them can be judged again by other
// objectives, and put into levels of load: 16 bytes when it is due, 8 when it is sent and 40 when it ends.
type ledger struct {
	came  pages[arrival]
	went  pages[time.Duration] // moments at which requests were sent
	ended pages[ended]
	most  int
	kept  int // requests that are in it, or will be when they end
	open  int // of them have not ended
	// full is when the first request came that had no place any more; Never before. beyond are those that met objectives without
	// a place, by what was in force when they ended.
	full   time.Duration
	beyond judgement
}

func newLedger(most int) ledger { return ledger{most: most, full: metrics.Never} }

// arrival is a request that came.
type arrival struct {
	cause time.Duration
	index int32
}

// ended is a request that ended. Times that no clock of 71 minutes can hold count as 71 minutes.
type ended struct {
	cause                         time.Duration
	sent, ttft, e2el, late, after micros // since cause; latencies; the client's own; between the last chunk and the end
	rest                          metrics.OtherObjectives
	output                        uint32
	second                        uint32 // window of its end
	warming, ok, cancelled        bool
	noSocket                      bool
}

// micros are whole microseconds.
type micros uint32

func microsOf(d time.Duration) micros {
	return micros(min(max(0, d)/time.Microsecond, math.MaxUint32))
}

func (m micros) duration() time.Duration { return time.Duration(m) * time.Microsecond }

// due files a request, and reports whether it is the first for which there is no place.
func (l *ledger) due(p *metrics.Plan, q *metrics.Request) (filled bool) {
	if l.kept >= l.most {
		if k := trackOf(q); k != nil {
			k.unjudged = true
		}
		filled = l.full == metrics.Never
		if filled {
			l.full = p.Cause(q)
		}
		return filled
	}
	l.kept++
	l.open++
	if !p.ClosedLoop() {
		l.arrive(p, q)
	}
	return false
}

// sent files that a request was sent; one of a closed loop comes when it gets its slot.
func (l *ledger) sent(p *metrics.Plan, q *metrics.Request) {
	if unjudged(q) {
		return
	}
	if p.ClosedLoop() {
		l.arrive(p, q)
	}
	if !p.Warming(q) {
		l.went.add(p.WentOut(q))
	}
}

func unjudged(q *metrics.Request) bool {
	k := trackOf(q)
	return k != nil && k.unjudged
}

func (l *ledger) arrive(p *metrics.Plan, q *metrics.Request) {
	if !p.Warming(q) {
		l.came.add(arrival{p.Cause(q), int32(min(max(0, q.Index), math.MaxInt32))})
	}
}

// done files a request that ended. slo is in force.
func (l *ledger) done(p *metrics.Plan, slo metrics.SLO, q *metrics.Request) {
	if unjudged(q) {
		if q.Failure == "" {
			o := q.Outcome()
			l.beyond.met(slo.Judge(&o), metrics.SecondOf(q.Done), p.Warming(q))
		}
		return
	}
	l.open--
	e := ended{
		cause: p.Cause(q), warming: p.Warming(q), ok: q.Failure == "", cancelled: q.Failure == metrics.Cancelled,
		noSocket: q.Failure == metrics.FailedNoSocket, second: uint32(metrics.SecondOf(q.Done)),
	}
	if e.warming && !e.ok {
		return // it is in no figure
	}
	if e.ok {
		e.sent, e.ttft, e.e2el = microsOf(q.Sent-e.cause), microsOf(q.TTFT()), microsOf(q.E2EL())
		e.late, e.after = microsOf(q.OwnLateness()), microsOf(q.Done-q.LastChunk)
		e.rest = q.OtherObjectives()
		e.output = uint32(min(max(0, q.OutputTokens), math.MaxUint32))
	}
	l.ended.add(e)
}

// fact is what the levels need to know of it.
func (e *ended) fact() saturation.Summary {
	wait, whole := e.sent.duration()+e.ttft.duration(), e.sent.duration()+e.e2el.duration()
	return saturation.Summary{
		Cause: e.cause, OK: e.ok, Cancelled: e.cancelled, NoSocket: e.noSocket,
		First: e.cause + wait, Done: e.cause + whole + e.after.duration(),
		TTFT: e.ttft.duration(), Wait: wait, Whole: whole, Late: e.late.duration(), Rest: e.rest, Output: int(e.output),
	}
}

// outcome of a success, its latencies counted from sent.
func (e *ended) outcome() metrics.Outcome {
	return metrics.OutcomeOf(e.ttft.duration(), e.e2el.duration(), int(e.output), e.rest)
}

// pages is a list that is only ever appended to, so that a reader can take what there is without copying it.
type pages[T any] struct{ list [][]T }

const pageLength = 1024

func (p *pages[T]) add(v T) {
	last := len(p.list) - 1
	if last < 0 || len(p.list[last]) == pageLength {
		p.list = append(p.list, make([]T, 0, pageLength))
		last++
	}
	p.list[last] = append(p.list[last], v)
}

// from returns the pages but for the first n entries. The reader may keep them.
func (p *pages[T]) from(n int) [][]T {
	if n/pageLength >= len(p.list) {
		return nil
	}
	out := slices.Clone(p.list[n/pageLength:])
	out[0] = out[0][min(n%pageLength, len(out[0])):]
	return out
}
