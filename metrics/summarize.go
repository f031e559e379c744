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
	Events []LogEntry
	// Reason a run was cut short for, "" if it ran to its end, and the number of planned requests of which there is no
	// record.
	Reason string
	Unsent int
	// Probes are the side requests of the run, nil if it had none.
	Probes *Probes
	// SpecDecode and Diffusion are what the server's counters moved by during the run, nil where it has none.
	SpecDecode *SpecDecode
	Diffusion  *Diffusion
	// Client holds the samples the client took of itself, Stamps how its chunks were timed; nil where the end is not known.
	Client []ClientSecond
	Stamps *Stamps
	// Server and GPUs hold what server and accelerators said; ServerKind names the server, ServerAbsent and GPUsAbsent say
	// why there is nothing, or nothing more.
	Server                               []ServerSecond
	GPUs                                 []GPUSecond
	ServerKind, ServerAbsent, GPUsAbsent string
	// Damaged lines of the journal could not be read and were left out.
	Damaged int
}

// Summarize computes the report of a run from its requests. It is pure: the same log gives the same report, in whatever
// order the requests come. It ranges over reqs two or three times, because some figures can only be counted once others are
// known: peaks need the earliest start, levels the length of the load, the steady state its window. It keeps a few numbers
// and no chunks of each request, unless the plan asks for detail. The first error that reqs yields ends it; what was read
// until then is in the report that comes with the error.
func Summarize(reqs iter.Seq2[Request, error], run Run) (Report, error) {
	sets := settings(run.Events)
	seen, err := look(reqs, &run.Plan, sets)
	s := newSummary(run, seen)
	for q, e := range reqs {
		if e != nil {
			break // the first pass met the same error
		}
		s.request = q
		s.add(&s.request)
	}
	s.finish()
	if s.report.Steered == 0 { // else its full load was not the plan's, and in between there may have been none
		s.report.SteadyState = steadyState(reqs, &s.run.Plan, &s.open, s.length())
	}
	return s.report, err
}

// heaviest bounds the weight of a request, because the token counts of a journal are foreign numbers.
const heaviest = 1 << 30

type summary struct {
	run                   Run
	report                Report
	tally                 *tally
	line                  timeline
	looks                 looks
	levels                levels
	steps                 rateSteps
	failures              failures
	lengths               lengthTally
	vllmTTFT              sample  // as vLLM 0.33 counts chunks
	vllmLater, vllmUnread int     // successes in which that is later, or never
	open, broken          overlap // successes in flight, and those that failed or were cut
	cancelled, unsent     int
	answered              time.Duration // as in overview
	request               Request       // at hand, and its outcome: here, so that none takes memory of its own
	outcome               outcome
}

func newSummary(run Run, seen overview) *summary {
	slo := lastObjectives(&run.Plan, run.Events)
	s := &summary{
		run: run, answered: seen.answered,
		tally: newTally(seen.origin, slo), vllmTTFT: sample{},
	}
	r := &s.report
	r.Plan, r.Events, r.Ended = run.Plan, run.Events, run.Ended
	r.Probes, r.SpecDecode, r.Diffusion, r.Damaged = run.Probes, run.SpecDecode, run.Diffusion, run.Damaged
	r.InputSources, r.OutputSources = map[TokenSource]int{}, map[TokenSource]int{}
	r.Rows = make([]Row, 0, seen.requests) // lists that grow take twice as much
	s.open = overlap{make([]time.Duration, 0, seen.done.n), make([]time.Duration, 0, seen.done.n)}
	if r.Ended == Never {
		r.Ended = seen.last
	}
	plan := &s.run.Plan
	r.Duration = s.length().Seconds()
	r.SentRate, r.DoneRate = seen.sent.rate(), seen.done.rate()
	if plan.Paced() {
		r.ScheduledRate = seen.scheduled.rate()
	}
	r.Objectives, r.Steered = slo, hands(seen.sets)
	s.line = timeline{plan: plan, slo: slo}
	s.looks = looksAt(run.Server)
	s.steps = newRateSteps(plan, seen.sets)
	s.levels = newLevels(plan, slo, seen.sets, seen.scheduled, r.Ended, room{})
	return s
}

// length is how long the run took after its warm-up.
func (s *summary) length() time.Duration { return max(0, s.report.Ended-s.run.Plan.Warmup) }

func (s *summary) add(q *Request) {
	r := &s.report
	s.line.replay(q)
	s.looks.add(q)
	s.steps.add(q)
	if r.Plan.Warming(q) {
		return
	}
	s.levels.add(q)
	r.Redials += q.Redials
	if !q.OK() && q.Sent != Never {
		s.broken.add(q.Sent, q.Done)
	}
	if q.Failure == Cancelled {
		if q.Sent == Never {
			s.unsent++
		} else {
			s.cancelled++
		}
		return
	}
	row := Row{Index: q.Index, SlotWait: max(0, q.SlotWait()).Seconds()}
	if q.OK() {
		row.Latency = q.E2EL().Seconds()
		s.success(q)
	} else {
		r.Failed++
		s.failures.add(q)
		if q.unreached() && q.Done > s.answered {
			r.Unreached++
		}
	}
	r.Rows = append(r.Rows, row)
	if r.Plan.Detailed {
		r.Details = append(r.Details, *q)
	}
}

func (s *summary) success(q *Request) {
	s.outcome = q.outcome(s.outcome.itls)
	s.tally.add(&s.outcome)
	s.open.add(q.Sent, q.LastChunk)
	r := &s.report
	r.InputSources[q.InputSource]++
	if !r.Plan.Pooling {
		r.OutputSources[q.OutputSource]++
	}
	s.lengths.add(q)
	s.tally.addPlain(q)
	r.Inputs += max(1, q.Inputs)
	switch q.VLLMLater {
	case Never:
		s.vllmUnread++
	case 0:
		s.vllmTTFT.add(q.TTFT().Seconds())
	default:
		s.vllmLater++
		s.vllmTTFT.add((q.TTFT() + q.VLLMLater).Seconds())
	}
}

func (s *summary) finish() {
	r := &s.report
	s.totals()
	s.latencies()
	for _, second := range s.run.Client {
		s.line.client.file(second)
	}
	r.Client = s.line.client.client(&r.Plan, s.run.Stamps, &s.line.histograms[ITL])
	_, r.Timeline = s.line.share(r.Ended, nil)
	l := &s.line
	r.Histograms = l.histograms.share()
	r.WarmedUp, r.CachedTokens = l.totals.WarmedUp, l.totals.CachedTokens
	r.Met, r.PlannedGood = l.totals.shares(r.Objectives), l.planned
	r.Failures, r.FirstErrors = s.failures.counts(), texts(s.failures.first)
	r.NotSent = s.run.Unsent + s.unsent
	if s.run.Reason != "" || s.cancelled > 0 || r.NotSent > 0 && r.Plan.Duration == 0 {
		r.Interrupted = &Interrupted{Reason: s.run.Reason, Cancelled: s.cancelled, Unsent: r.NotSent}
	}
	slices.SortFunc(r.Rows, func(a, b Row) int { return cmp.Compare(a.Index, b.Index) })
	slices.SortFunc(r.Details, ByIndex)
	r.RateSteps = s.steps.list()
	s.levels.client = s.line.client.seconds
	r.Levels, r.Answer = s.levels.judge()
	r.Lengths = s.lengths.lengths()
	s.beside()
	r.checkGates()
	r.conclude()
}

// beside sums up what stands beside the requests.
func (s *summary) beside() {
	r := &s.report
	r.Server = s.run.serverReport(s.looks, r.Ended)
	r.GPUs = s.run.gpuReport(r.OutputTokens, s.length())
	r.Split = splitOf(&s.line.waits, &s.line.told, s.looks, r.Plan.Warmup, math.MaxInt64, r.Ended)
}

func (s *summary) totals() {
	r, t := &s.report, s.tally
	r.Completed, r.Good, r.InputTokens, r.OutputTokens = t.n, t.good, t.input, t.output
	r.InputThroughput = perSecond(float64(r.Inputs), r.Duration)
	r.RequestThroughput = perSecond(float64(t.n), r.Duration)
	r.OutputThroughput = perSecond(float64(t.output), r.Duration)
	r.TotalThroughput = perSecond(float64(t.input+t.output), r.Duration)
	if len(r.Objectives) > 0 {
		good := perSecond(float64(t.good), r.Duration)
		r.Goodput = &good
	}
	r.PeakOutputPerSecond, r.PeakConcurrency, r.ExactPeakConcurrency = t.peakOutput(), t.peakConcurrency(), s.open.mostWith(&s.broken)
}

func (s *summary) latencies() {
	r, t := &s.report, s.tally
	for l := range NumLatencies {
		if r.Plan.Pooling && l.Streams() {
			t.samples[l] = sample{}
		}
		r.Statistics[l] = t.samples[l].statistic(r.Plan.Percentiles, gatedPercentiles(r.Plan.Gates, l)...)
	}
	if s.vllmLater+s.vllmUnread > 0 {
		r.VLLM = &VLLMReading{TTFT: s.vllmTTFT.statistic(r.Plan.Percentiles), Unread: s.vllmUnread}
	}
}

// shares are the parts of the successes that met each objective; 0 where there are none.
func (t *Totals) shares(slo SLO) []ObjectiveShare {
	var out []ObjectiveShare
	for _, o := range slo {
		if o.Metric < NumObjectives {
			out = append(out, ObjectiveShare{Objective: o, Share: share(t.Met[o.Metric], t.Done)})
		}
	}
	return out
}
