package report

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/judge"
)

// requests are those of a run that are picked, in any order.
type requests func(event.Pick) iter.Seq2[metrics.Request, error]

// Summarize computes the report of a run from its requests. It is pure: the same requests give the same report, in any
// order. It ranges over reqs twice, because peaks need the earliest start, and further times for the few requests whose
// chunks are needed once levels and steady state are known. It keeps a digest and no chunks of each request, unless the
// plan asks for detail. The first error of reqs ends it, and comes with the report of the requests before it.
func Summarize(reqs iter.Seq2[metrics.Request, error], run metrics.Run) (metrics.Report, error) {
	origin := noOrigin
	for q, err := range reqs {
		if err != nil {
			break // the next pass meets it
		}
		origin = earlier(origin, &run.Plan, &q)
	}
	return sumUp(func(event.Pick) iter.Seq2[metrics.Request, error] { return reqs }, run, origin)
}

func sumUp(reqs requests, run metrics.Run, origin time.Duration) (r metrics.Report, err error) {
	s := newSummary(&run.Plan, lastObjectives(&run.Plan, run.Events), origin)
	for q, e := range ahead(reqs(event.Pick{})) {
		if e != nil {
			err = e
			break
		}
		s.request = q
		s.add(&s.request)
	}
	return s.finish(run, reqs), err
}

// summary is the report of a run in the making. It takes requests in any order.
type summary struct {
	run                   metrics.Run // but for the plan known at the end
	report                metrics.Report
	digests               digests
	cells                 cells
	accumulator           accumulator
	line                  metrics.Timeline
	samples               samples
	levels                judge.Levels
	flight                judge.Flight
	steps                 rateSteps
	groups                groupSamples
	places                places
	sessions              sessions
	failures              metrics.FailureAccumulator
	lengths               metrics.LengthAccumulator
	wrong, garbage        metrics.WrongAccumulator
	calls, accepted       metrics.Sample  // of successes: time to the first tool call, share of the drafts
	again, first          metrics.Sample  // TTFT of successes by whether their prompts were sent before
	paces                 metrics.Sample  // TPOT of the successes with an output speed
	vllmTTFT              metrics.Sample  // as vLLM 0.33 counts chunks
	vllmLater, vllmUnread int             // successes in which that is later, or never
	tries                 metrics.Sample  // TTFT of last tries
	open, broken          overlap         // successes in flight, and those that failed or were cut
	unsent                int             // requests that were cut before they were sent
	request               metrics.Request // the current one; it and its outcome reuse their memory
	outcome               metrics.Outcome
}

// newSummary begins the report of a plan. The objectives are those of its end, origin is the earliest start of a
// success.
func newSummary(plan *metrics.Plan, slo metrics.SLO, origin time.Duration) *summary {
	s := &summary{run: metrics.Run{Plan: *plan}, groups: groupSamples{}, places: newPlaces(plan)}
	s.accumulator.origin = origin.Seconds()
	s.line = metrics.Timeline{Plan: &s.run.Plan, SLO: slo}
	r := &s.report
	r.Plan, r.Objectives = *plan, slo
	r.InputSources, r.OutputSources = map[metrics.TokenSource]int{}, map[metrics.TokenSource]int{}
	return s
}

// add takes a request, with its chunks.
func (s *summary) add(q *metrics.Request) {
	r := &s.report
	s.digests.add(q)
	s.line.Replay(q)
	s.sessions.add(&r.Plan, q)
	if r.Plan.Warming(q) || q.Failure == metrics.Cancelled {
		return
	}
	switch {
	case q.OK():
		s.success(q)
	case q.Failure == metrics.Abandoned:
		s.outcome = q.OutcomeWithGaps(s.outcome.ITLs)
		s.early(q)
	default:
		s.failures.Add(q)
		s.failed(q)
	}
	groups := s.line.Groups.Of(q)
	s.places.add(&r.Plan, q, &s.outcome, groups[:])
	if r.Plan.Detailed {
		r.Details = append(r.Details, q.Detail())
	}
}

// begin fills in what follows from the facts of the run and an overview of its requests.
func (s *summary) begin(run metrics.Run) {
	seen := s.digests.overview(&run.Plan, judge.Settings(run.Events))
	plan, r := &s.run.Plan, &s.report
	s.run = run
	r.Plan, r.Events, r.Ended = run.Plan, run.Events, run.Ended
	r.Probes, r.SpecDecode, r.Diffusion, r.Damaged = run.Probes, run.SpecDecode, run.Diffusion, run.Damaged
	r.Checks = run.Checks
	r.Rows = make([]metrics.Row, 0, seen.requests) // a growing list would take twice the memory
	s.open.starts, s.open.ends = slices.Grow(s.open.starts, seen.done.N), slices.Grow(s.open.ends, seen.done.N)
	if r.Ended == metrics.Never {
		r.Ended = seen.last
	}
	r.Duration = s.length().Seconds()
	r.SentRate, r.DoneRate = seen.sent.Rate(), seen.done.Rate()
	if plan.Paced() {
		r.ScheduledRate = seen.scheduled.Rate()
	}
	r.Steered = manualChanges(seen.sets)
	if plan.Conversations == nil && !plan.Part.Split() && r.Ended != metrics.Never && run.Reason == "" {
		r.Missing = max(0, seen.top+1-seen.all)
	}
	s.samples = samplesOf(run.Server)
	s.steps = newRateSteps(plan, seen.sets)
	s.levels = judge.New(plan, r.Objectives, seen.sets, seen.scheduled, r.Ended, judge.Scratch{})
	s.levels.SetClient(run.Client)
}

// length of the run after its warm-up.
func (s *summary) length() time.Duration { return max(0, s.report.Ended-s.run.Plan.Warmup) }

// place takes the digest of a request.
func (s *summary) place(q *metrics.Request) {
	r := &s.report
	s.samples.add(q)
	s.flight.Add(r.Plan.LoadTime(q), q.Done)
	s.steps.add(q)
	if r.Plan.Warming(q) {
		if s.levels.Outages.Answered(q.Sent, q.Answered()); q.Reached() {
			s.levels.Outages.Reached(q.Done)
		}
		return
	}
	s.levels.Add(q)
	if !q.OK() && q.Sent != metrics.Never {
		s.broken.add(q.Sent, q.Done)
	}
	if q.Failure == metrics.Cancelled {
		if q.Sent == metrics.Never {
			s.unsent++
		}
		return
	}
	row := metrics.Row{Index: q.Index, SlotWait: max(0, q.SlotWait()).Seconds()}
	if q.OK() {
		row.Latency = q.E2EL().Seconds()
		s.open.add(q.Sent, q.LastChunk)
		o := q.Outcome()
		s.accumulator.addSpan(&o)
	}
	r.Rows = append(r.Rows, row)
}

// failed keeps a request that failed, in its place by index where not all are kept.
func (s *summary) failed(q *metrics.Request) {
	r := &s.report
	if r.Plan.Detailed {
		return // finish takes them from the details
	}
	f := q.Detail()
	at, _ := slices.BinarySearchFunc(r.FailedRequests, f, byIndex)
	if at < metrics.MostFailedRequests {
		kept := r.FailedRequests[:min(len(r.FailedRequests), metrics.MostFailedRequests-1)]
		r.FailedRequests = slices.Insert(kept, at, f)
	}
}

func byIndex(a, b metrics.DetailedRequest) int { return cmp.Compare(a.Index, b.Index) }

// early takes the latencies that need no success: those of chunks, those of groups, and those of tries.
func (s *summary) early(q *metrics.Request) {
	for l := range metrics.NumLatencies {
		if l.OfChunks() {
			addLatency(&s.accumulator.samples[l], l, q, &s.outcome)
		}
	}
	groups := s.line.Groups.Of(q)
	s.groups.add(q, &s.outcome, groups[:metrics.ByEndpoint]) // no report has endpoints
	if v := q.OfLastTry().TTFT(); s.report.Plan.Retry != "" && v != metrics.Never {
		s.tries.AddDuration(v, 1)
	}
}

func (s *summary) success(q *metrics.Request) {
	s.outcome = q.OutcomeWithGaps(s.outcome.ITLs)
	r := &s.report
	s.accumulator.addChunks(&s.outcome)
	s.early(q)
	s.cells.add(r.Plan.LoadTime(q), q)
	switch {
	case q.Pace() != metrics.Never:
		s.paces.Add(s.outcome.TPOT())
	case s.outcome.Output > 1:
		r.AtOnce++
	}
	r.InputSources[q.InputSource]++
	if r.Plan.Generates() {
		r.OutputSources[q.OutputSource]++
	}
	s.lengths.Add(q, s.run.Plan.Context)
	s.wrong.Add(q.Index, q.Judgement.Wrong, q.Judgement.Detail)
	s.garbage.Add(q.Index, q.Garbage.Reason, q.Garbage.Detail)
	if q.FirstCall != metrics.Never {
		s.calls.Add(q.FirstCallLatency().Seconds())
	}
	if share := q.Accepted().Rate(); metrics.Said(share) {
		s.accepted.Add(share)
	}
	if q.IdealKnown && q.Turn == 0 && r.Plan.Conversations == nil {
		of := &s.first
		if float64(q.IdealTokens) >= repeatShare*float64(q.InputTokens) {
			of = &s.again
		}
		of.Add(q.TTFT().Seconds())
	}
	switch q.VLLMLater {
	case metrics.Never:
		s.vllmUnread++
	case 0:
		s.vllmTTFT.Add(q.TTFT().Seconds())
	default:
		s.vllmLater++
		s.vllmTTFT.Add((q.TTFT() + q.VLLMLater).Seconds())
	}
}

// finish completes the report with the facts of the run. Chunks of some requests are read again.
func (s *summary) finish(run metrics.Run, reqs requests) metrics.Report {
	s.begin(run)
	for q := range s.digests.all() {
		s.place(&q.Request)
	}
	s.gaps(reqs)
	r, l := &s.report, &s.line
	r.Counts = l.Totals
	s.totals()
	s.latencies()
	for _, second := range s.run.Client {
		s.line.Client.File(second)
	}
	r.Workers = s.run.Workers
	r.Client = s.line.Client.Report(&r.Plan, s.run.Stamps, &s.line.Histograms[metrics.ITL])
	_, r.Timeline = s.line.Share(r.Ended, nil)
	r.Histograms = l.Histograms.Share()
	r.RTFx = metrics.PerSecond(r.Audio.Seconds(), r.Duration)
	r.Failures = s.failures.Counts()
	r.NotSent = s.run.Unsent + s.unsent
	if cut := r.Cancelled - s.unsent; s.run.Reason != "" || cut > 0 || r.NotSent > 0 && r.Plan.Duration == 0 {
		r.Interrupted = &metrics.Interruption{Reason: s.run.Reason, Cancelled: cut, Unsent: r.NotSent}
	}
	slices.SortFunc(r.Rows, func(a, b metrics.Row) int { return cmp.Compare(a.Index, b.Index) })
	slices.SortFunc(r.Details, byIndex)
	for _, d := range r.Details {
		if d.Error != "" {
			d.Text = ""
			r.FailedRequests = append(r.FailedRequests, d)
		}
	}
	s.groups.finish(r.Plan.Percentiles)
	r.RateSteps, r.Servers = s.steps.list(), l.Groups.Servers(&r.Plan)
	r.Classes, r.Turns = l.Groups.Ended()
	r.Compared = s.places.compared(&r.Plan, l.Groups.Axes(&r.Plan), s.samples)
	r.Sessions = s.sessions.report(r.Plan.Percentiles)
	r.Levels, r.Answer = s.levels.Judge()
	r.Unreached = s.levels.Outages.Gone()
	again, first := s.again.Statistic(nil), s.first.Statistic(nil)
	r.Repeats = metrics.Repeats{Again: again.N, First: first.N, AgainTTFT: again.Median, FirstTTFT: first.Median}
	r.FirstCalls = s.calls.Statistic(r.Plan.Percentiles)
	r.Acceptance = s.accepted.Shares([]float64{10, 90})
	r.Lengths, r.Wrong, r.Garbage = s.lengths.Lengths(), s.wrong.Sorted(), s.garbage.Sorted()
	work := metrics.GPUWork{OutputTokens: r.OutputTokens, InputTokens: r.InputTokens, Length: s.length()}
	if r.Judges() {
		work.GoodTokens = r.GoodTokens
	}
	r.Server, r.GPUs = serverReport(&s.run, s.samples, r.Ended), gpuReport(&s.run, work)
	r.Split = metrics.SplitOf(&l.TTFTParts, &l.Reported, s.samples, r.Plan.Warmup, math.MaxInt64, r.Ended)
	r.PeakOutputTokens = metrics.PeakSecond(r.Timeline, r.Plan.Warmup, r.Ended)
	whole := metrics.Snapshot{Plan: &r.Plan, At: r.Ended, Windows: r.Timeline}
	whole.Server = s.samples
	r.Answer.Complete(&whole, r.Levels, r.Split)
	r.Gates = r.CheckGates()
	conclude(r)
	s.steady(reqs)
	return *r
}

// gaps sorts the gaps between chunks into the levels: by cell where one level has all of it, else by request.
func (s *summary) gaps(reqs requests) {
	split := s.cells.sort(&s.levels)
	if len(split) == 0 {
		return
	}
	picked := map[int]bool{}
	mine := func(q *metrics.Request) bool {
		at := s.run.Plan.LoadTime(q)
		return q.OK() && !s.run.Plan.Warming(q) && at != metrics.Never && split[metrics.SecondOf(at)]
	}
	for q := range s.digests.all() {
		if mine(&q.Request) {
			picked[q.Index] = true
		}
	}
	for q := range reqs.of(picked) {
		if mine(q) {
			s.levels.AddGaps(q)
		}
	}
}

// of are those of the requests with certain indexes that can be read.
func (r requests) of(picked map[int]bool) iter.Seq[*metrics.Request] {
	return func(yield func(*metrics.Request) bool) {
		if len(picked) == 0 {
			return
		}
		var one metrics.Request
		for q, err := range r(event.Pick{Only: func(index int) bool { return picked[index] }}) {
			if err != nil {
				return // the passes before met the same error
			}
			if one = q; picked[q.Index] && !yield(&one) {
				return
			}
		}
	}
}

// steady fills in the steady state and the steady windows of the levels.
func (s *summary) steady(reqs requests) {
	r := &s.report
	if r.Steered == 0 { // else the full load was not that of the plan
		r.SteadyState = steadyState(&s.run.Plan, &s.open)
	}
	windows := steadyLevels(r, s.flight.Means())
	if full := r.SteadyState; full != nil {
		warn(full, r.Plan.SteadyState, s.length())
		windows = append(windows, full)
	}
	s.fill(windows, reqs)
}

func (s *summary) totals() {
	r, t := &s.report, &s.accumulator
	r.InputThroughput = metrics.PerSecond(float64(r.Inputs), r.Duration)
	r.RequestThroughput = r.Counts.RequestThroughput(r.Duration)
	r.OutputThroughput = r.Counts.OutputThroughput(r.Duration)
	r.TotalThroughput = metrics.PerSecond(float64(r.InputTokens+r.OutputTokens), r.Duration)
	if r.Judges() {
		good := metrics.PerSecond(float64(r.Good), r.Duration)
		r.Goodput = &good
	}
	r.PeakOutputPerSecond, r.PeakConcurrency = peak(t.chunks), peak(t.concurrent)
	r.ExactPeakConcurrency = s.open.mostWith(&s.broken)
}

// latencies computes the figures of the latencies: a few of them at once, since a list of each takes memory.
func (s *summary) latencies() {
	r := &s.report
	var all sync.WaitGroup
	var next atomic.Int32
	var bug atomic.Value // told where it can be caught
	workers := min(runtime.GOMAXPROCS(0), mostAtOnce)
	batches := slices.Collect(slices.Chunk(slices.Collect(metrics.Latencies()), mostAtOnce/workers))
	for range workers {
		all.Go(func() {
			defer func() {
				if b := recover(); b != nil {
					bug.CompareAndSwap(nil, fmt.Sprint(b))
				}
			}()
			for i := next.Add(1) - 1; int(i) < len(batches); i = next.Add(1) - 1 {
				s.statistics(batches[i])
			}
		})
	}
	r.Speeds = s.paces.Speeds()
	r.Tries = s.tries.Statistic(r.Plan.Percentiles)
	if s.vllmLater+s.vllmUnread > 0 {
		r.VLLM = &metrics.VLLMReading{TTFT: s.vllmTTFT.Statistic(r.Plan.Percentiles), Unread: s.vllmUnread}
	}
	if all.Wait(); bug.Load() != nil {
		panic(bug.Load())
	}
}

// mostAtOnce bounds the latencies whose figures are computed at once.
const mostAtOnce = 4

// statistics computes the figures of some latencies in a pass over the digests.
func (s *summary) statistics(some []metrics.Latency) {
	p := &s.run.Plan
	var samples [mostAtOnce]metrics.Sample
	var digested []int // of them
	for i, l := range some {
		if !p.Measures(l) {
			continue
		}
		if samples[i] = s.accumulator.samples[l]; !l.OfChunks() {
			samples[i].Reserve(s.report.Completed)
			digested = append(digested, i)
		}
	}
	var o metrics.Outcome
	for q := range s.digests.all() {
		if len(digested) == 0 {
			break
		}
		if !q.OK() && q.Failure != metrics.Abandoned || p.Warming(&q.Request) {
			continue
		}
		o = q.Outcome()
		for _, i := range digested {
			if !some[i].Counts(&q.Request) {
				continue
			}
			addLatency(&samples[i], some[i], &q.Request, &o)
		}
	}
	for i, l := range some {
		s.report.Statistics[l] = samples[i].Statistic(p.Percentiles, metrics.GatedPercentiles(p.Gates, l)...)
	}
}

// repeatShare is the part of a prompt from which on it repeats those before.
const repeatShare = 0.9

const (
	fullShare        = 0.95
	shortestWindow   = 10 * time.Second
	shortestOfTheRun = 0.1
)

// steadyState finds the window from the first moment at which the successes in flight reached the threshold to the last
// at which they fell below it. It is nil for a plan without a closed loop, and where the threshold was not reached.
func steadyState(plan *metrics.Plan, open *overlap) *metrics.SteadyState {
	rule := plan.SteadyState
	if rule.Off || !plan.ClosedLoop() {
		return nil
	}
	s := metrics.SteadyState{Target: plan.MaxConcurrency, Threshold: rule.Threshold}
	if !(s.Threshold > 0) {
		s.Threshold = fullShare
	}
	least := max(1, math.Ceil(s.Threshold*float64(s.Target)))
	if least > math.MaxInt32 {
		return nil
	}
	s.ThresholdAbs = int(least)
	var reached bool
	if s.Start, s.End, s.Peak, reached = open.full(s.ThresholdAbs); !reached {
		return nil
	}
	return &s
}

// warn says that a window is too short.
func warn(s *metrics.SteadyState, rule metrics.SteadyStateRule, run time.Duration) {
	atLeast := rule.MinWindow
	if atLeast <= 0 {
		atLeast = max(shortestWindow, time.Duration(shortestOfTheRun*float64(run)))
	}
	if length := s.End - s.Start; length < atLeast {
		s.Warning = fmt.Sprintf("full load lasted only %s, less than %s; the figures may be noisy",
			length.Round(time.Millisecond), atLeast.Round(time.Millisecond))
	}
}

// steadyLevels finds the steady parts of the levels, and returns those to be filled. The load of a ramp is not steady.
func steadyLevels(r *metrics.Report, flight []float64) (windows []*metrics.SteadyState) {
	if r.Plan.Ramp != nil && r.Steered == 0 {
		return nil
	}
	for i := range r.Levels {
		l := &r.Levels[i]
		from, to, known := judge.SteadyPart(flight, r.Timeline, l)
		if !known {
			continue
		}
		l.Steady = &metrics.SteadyWindow{SteadyState: metrics.SteadyState{Start: from, End: to},
			Share: metrics.PerSecond(float64(to-from), float64(l.To-l.From))}
		if to > from {
			windows = append(windows, &l.Steady.SteadyState)
		}
	}
	return windows
}

// fill sums up the events in each window, begin included and end not. The chunks of the requests that were in flight at
// its begin or its end are read again, because no window is known before.
func (s *summary) fill(windows []*metrics.SteadyState, reqs requests) {
	if len(windows) == 0 {
		return
	}
	plan := &s.run.Plan
	sums := metrics.Each(windows, func(s *metrics.SteadyState) windowSum { return windowSum{SteadyState: s} })
	picked := map[int]bool{}
	for q := range s.digests.all() {
		if !q.OK() || plan.Warming(&q.Request) {
			continue
		}
		for i := range sums {
			if sums[i].add(q, plan) {
				picked[q.Index] = true
			}
		}
	}
	for q := range reqs.of(picked) {
		if !q.OK() || plan.Warming(q) {
			continue
		}
		for i := range sums {
			if sums[i].cuts(q, tangled(q)) {
				sums[i].output += outputWithin(q, sums[i].within)
			}
		}
	}
	for i := range sums {
		sums[i].finish(plan)
	}
}

// windowSum sums up what is in a window.
type windowSum struct {
	*metrics.SteadyState
	ttft, tpot    metrics.Sample
	input, output int
}

func (s *windowSum) within(at time.Duration) bool { return at >= s.Start && at < s.End }

// apart reports whether a request has no time in common with the window.
func (s *windowSum) apart(q *metrics.Request) bool { return q.Sent >= s.End || q.LastChunk < s.Start }

// cuts reports whether a part of the chunks of a request may lie in the window and another part not.
func (s *windowSum) cuts(q *metrics.Request, tangled int) bool {
	return !s.apart(q) && (tangled > 0 || !s.within(q.FirstChunk) || !s.within(q.LastChunk))
}

// add takes the digest of a success. It reports whether its chunks are needed.
func (s *windowSum) add(q *digest, plan *metrics.Plan) bool {
	s.Total++
	if s.apart(&q.Request) {
		return false
	}
	if s.within(q.Sent) {
		s.Started++
		s.input += q.InputTokens
		o := metrics.OutcomeOf(q.TTFT(), q.E2EL(), q.OutputTokens, metrics.OtherObjectives{})
		if plan.Measures(metrics.TTFT) {
			s.ttft.Add(o.TTFT)
		}
		if plan.Measures(metrics.TPOT) && o.Output >= 2 {
			s.tpot.Add(o.TPOT())
		}
	}
	if s.within(q.LastChunk) {
		s.Completed++
	}
	if s.cuts(&q.Request, q.tangled) {
		return true
	}
	s.output += q.OutputTokens
	return false
}

func (s *windowSum) finish(plan *metrics.Plan) {
	seconds := (s.End - s.Start).Seconds()
	s.RequestThroughput = metrics.PerSecond(float64(s.Completed), seconds)
	s.InputThroughput = metrics.PerSecond(float64(s.input), seconds)
	s.OutputThroughput = metrics.PerSecond(float64(s.output), seconds)
	s.TotalThroughput = metrics.PerSecond(float64(s.input+s.output), seconds)
	s.TTFT, s.TPOT = s.ttft.Statistic(plan.Percentiles), s.tpot.Statistic([]float64{90, 99})
}

// outputWithin counts the output tokens of a request that came at certain times.
func outputWithin(q *metrics.Request, within func(time.Duration) bool) (n int) {
	for i, tokens := range q.Spread() {
		if within(q.Chunks[i].At) {
			n += tokens
		}
	}
	return n
}

// full is the stretch from the first moment at which at least so many intervals overlap to the last at which fewer do,
// and the largest number that overlap; false where there are never so many.
func (o *overlap) full(atLeast int) (begin, end time.Duration, peak int, reached bool) {
	before := 0
	o.sweep(func(at time.Duration, level int) {
		if level >= atLeast && !reached {
			begin, reached = at, true
		}
		if level < atLeast && before >= atLeast {
			end = at
		}
		peak, before = max(peak, level), level
	})
	return begin, end, peak, reached
}

// overlap is a set of half-open intervals [start, end).
type overlap struct{ starts, ends []time.Duration }

func (o *overlap) add(start, end time.Duration) {
	o.starts, o.ends = append(o.starts, start), append(o.ends, end)
}

// sweep visits each moment at which the number of overlapping intervals changes, with the new number. Of equal times
// ends come before starts.
func (o *overlap) sweep(visit func(at time.Duration, level int)) {
	slices.Sort(o.starts)
	slices.Sort(o.ends)
	level, starts := 0, o.starts
	for _, end := range o.ends {
		for ; len(starts) > 0 && starts[0] < end; starts = starts[1:] {
			level++
			visit(starts[0], level)
		}
		level--
		visit(end, level)
	}
}

// mostWith is the largest number of intervals of two sets that overlap.
func (o *overlap) mostWith(b *overlap) int {
	if len(b.starts) > 0 {
		o = &overlap{slices.Concat(o.starts, b.starts), slices.Concat(o.ends, b.ends)}
	}
	most := 0
	o.sweep(func(_ time.Duration, level int) { most = max(most, level) })
	return most
}
