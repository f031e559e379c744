package metrics

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"time"
)

// Run is everything about a run but its requests.
type Run struct {
	Plan Plan
	// Ended is the offset at which the run was over; Never if that is not known, because the process was killed: then
	// the end of the last request stands for it.
	Ended  time.Duration
	Events []Event
	// Reason a run was cut short for, "" if it ran to its end, and the number of planned requests of which there is no
	// record.
	Reason string
	Unsent int
	// Probes are the side requests of the run, nil if it had none.
	Probes *Probes
	// SpecDecode and Diffusion are what the server's counters moved by during the run, nil where it has none.
	SpecDecode *SpecDecode
	Diffusion  *Diffusion
}

// Summarize computes the report of a run from its requests. It is pure: the same log gives the same report, and the order
// of the requests shows only in which words of the server are quoted as examples. It ranges over reqs twice (the peaks need the earliest start first) and keeps two numbers
// and no chunks of each request, unless the plan asks for detail. The first error that reqs yields ends it; what was
// read until then is in the report that comes with the error.
func Summarize(reqs iter.Seq2[Request, error], run Run) (Report, error) {
	origin, err := earliestStart(reqs)
	s := summary{
		report: Report{Plan: run.Plan, InputSources: map[TokenSource]int{}, OutputSources: map[TokenSource]int{}},
		tally:  newTally(origin, run.Plan.Goodput),
		queue:  sample{}, queued: sample{}, firstToken: sample{}, firstAnswer: sample{},
		connect: sample{}, lateness: sample{}, scheduled: sample{},
	}
	for q, e := range reqs {
		if e != nil {
			break // the first pass met the same error
		}
		s.add(q)
	}
	return s.finish(run), err
}

func earliestStart(reqs iter.Seq2[Request, error]) (float64, error) {
	origin := math.Inf(1)
	for q, err := range reqs {
		if err != nil {
			return origin, err
		}
		if q.OK() {
			origin = min(origin, q.Sent.Seconds())
		}
	}
	return origin, nil
}

type summary struct {
	report                  Report
	tally                   *tally
	line                    timeline
	queue, queued           sample
	firstToken, firstAnswer sample
	connect, lateness       sample
	scheduled               sample
	open                    overlap
	cancelled, unsent       int
	last                    time.Duration
	gaps                    []float64
}

func (s *summary) add(q Request) {
	r := &s.report
	s.line.replay(&q)
	s.last = max(s.last, q.Done)
	r.Redials += q.Redials
	if q.Failure == Cancelled {
		if q.Sent == Never {
			s.unsent++
		} else {
			s.cancelled++
		}
		return
	}
	row := Row{Index: q.Index, Queue: max(0, q.Held()).Seconds()}
	if q.OK() {
		row.Latency = q.E2EL().Seconds()
		s.success(&q)
	} else {
		r.Failed++
		r.Failures = countFailure(r.Failures, &q)
	}
	r.Rows = append(r.Rows, row)
	if r.Plan.Detailed {
		r.Details = append(r.Details, q)
	}
}

func (s *summary) success(q *Request) {
	o := q.outcome(s.gaps)
	s.gaps = o.itls
	s.tally.add(o)
	s.open.add(q.Sent, q.LastChunk)
	s.report.InputSources[q.InputSource]++
	s.report.OutputSources[q.OutputSource]++
	held := max(0, q.Held()).Seconds()
	s.queue.add(held)
	s.queued.add(o.latency + held)
	for _, v := range []struct {
		into sample
		v    time.Duration
	}{
		{s.firstToken, q.FirstTokenLatency()}, {s.firstAnswer, q.FirstAnswerLatency()}, {s.connect, q.Connect},
		{s.lateness, q.Lateness()}, {s.scheduled, q.ScheduledLatency()},
	} {
		if v.v != Never {
			v.into.add(v.v.Seconds())
		}
	}
}

func (s *summary) finish(run Run) Report {
	r, t := &s.report, s.tally
	r.Ended = run.Ended
	if r.Ended == Never {
		r.Ended = s.last
	}
	r.Duration = r.Ended.Seconds()
	r.Completed, r.InputTokens, r.OutputTokens = t.n, t.input, t.output
	r.RequestThroughput = perSecond(float64(t.n), r.Duration)
	r.OutputThroughput = perSecond(float64(t.output), r.Duration)
	r.TotalThroughput = perSecond(float64(t.input+t.output), r.Duration)
	if len(run.Plan.Goodput) > 0 {
		good := perSecond(float64(t.good), r.Duration)
		r.Goodput = &good
	}
	r.PeakOutputPerSecond, r.PeakConcurrency, r.ExactPeakConcurrency = t.peakOutput(), t.peakConcurrency(), s.open.most()
	p := run.Plan.Percentiles
	r.TTFT, r.TPOT, r.ITL, r.E2EL = t.ttft.statistic(p), t.tpot.statistic(p), t.itl.statistic(p), t.e2el.statistic(p)
	r.ClientQueue, r.E2ELQueued = s.queue.statistic(p), s.queued.statistic(p)
	r.FirstToken, r.FirstAnswer = s.firstToken.statistic(p), s.firstAnswer.statistic(p)
	r.Connect, r.Lateness, r.ScheduledLatency = s.connect.statistic(p), s.lateness.statistic(p), s.scheduled.statistic(p)
	_, r.Timeline = s.line.share(r.Ended, nil)
	l := &s.line
	r.HistTTFT, r.HistTPOT, r.HistITL, r.HistE2EL = l.ttft.share(), l.tpot.share(), l.itl.share(), l.e2el.share()
	slices.SortStableFunc(r.Failures, func(a, b FailureCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Status, b.Status))
	})
	r.Events = run.Events
	if unsent := run.Unsent + s.unsent; run.Reason != "" || s.cancelled > 0 || unsent > 0 {
		r.Interrupted = &Interrupted{Reason: run.Reason, Cancelled: s.cancelled, Unsent: unsent}
	}
	slices.SortFunc(r.Rows, func(a, b Row) int { return cmp.Compare(a.Index, b.Index) })
	slices.SortFunc(r.Details, ByIndex)
	return *r
}

// perSecond is 0 for a run without length, so that no infinity gets into a result.
func perSecond(v, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return v / seconds
}
