package control

import (
	"math"
	"sync"
	"time"

	"benchtop/internal/search"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/judge"
)

// Trial judges a load by the requests that were scheduled while it was in force, since that load caused their
// latencies: for each tier of the plan alike. It is a sink of the run's events.
//
// Requests count from the moment at which the load asked for them, as in the levels of the report: a rate that a limit
// of this client holds back is not within the objectives.
type Trial struct {
	plan     *metrics.Plan
	mu       sync.Mutex // guards everything below
	tiers    []tierTrial
	tests    []judge.Test
	from, to time.Duration
	patience time.Duration
	expected float64

	scheduled, cut, failed int
	pending                map[int]*openRequest
	// hears of all requests, because the work of a load is also that of requests in flight when it began
	sample *judge.Sample
	// unfinished are all requests that are due and have not ended, those of earlier loads too.
	unfinished map[int]struct{}
	// running is about how long requests run after their first chunk, a mean in which those that ended last count most.
	// Those that ended at one moment, endedAt, count together, whatever their order: ran is the sum of so many.
	running, ran, endedAt time.Duration
	ended                 int
	// base is the shortest time of a request in the trials so far.
	base time.Duration
}

// tierTrial are the requests of a trial as a tier judges them.
type tierTrial struct {
	slo metrics.SLO
	bad int // of the ratios, those above 1
	cut int // requests that were cut before they were judged
	// ratios are the latencies of judged requests over their limits, each by the objective that binds.
	ratios []float64
}

// openRequest is a request that some tiers have not judged yet.
type openRequest struct {
	came   time.Duration
	first  bool   // its first chunk came
	judged uint32 // a bit for each tier
}

func (p *openRequest) open(tier int) bool { return p.judged&(1<<tier) == 0 }

// NewTrial judges nothing before Begin. The plan says what the objectives are and how many requests must meet them.
func NewTrial(plan *metrics.Plan) *Trial {
	enough, _ := plan.EnoughGood()
	t := &Trial{plan: plan, pending: map[int]*openRequest{}, unfinished: map[int]struct{}{}}
	for _, tier := range plan.TiersUnder(plan.Goodput) {
		t.tiers = append(t.tiers, tierTrial{slo: tier.SLO})
		t.tests = append(t.tests, judge.Test{Enough: enough})
	}
	t.sample = judge.NewSample(0, 0, metrics.RequestsPerSecond)
	return t
}

// Take hears of requests, and of objectives that change: by those requests are judged that are not judged yet.
func (t *Trial) Take(e *event.Event) {
	switch e.Kind {
	case event.Due:
		t.due(e.Request)
	case event.Chunk:
		t.chunk(e.Request)
	case event.Done:
		t.done(e.Request)
	case event.Fact:
		if x, ok := e.Value.(metrics.LogEntry); ok && x.Objectives != nil {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.tiers[0].slo = *x.Objectives
		}
	}
}

// Begin forgets what was and judges the requests that are scheduled from one moment of the run to another. expected is
// how many that will be, 0 if that is not known. A request without a verdict after so much patience beyond that counts
// as bad. A load that is held may be ended by what is seen of it, so that its verdicts are those of fixed looks.
func (t *Trial) Begin(from, to time.Duration, expected float64, patience time.Duration, held bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.from, t.to, t.expected, t.patience = from, to, expected, patience
	t.scheduled, t.cut, t.failed = 0, 0, 0
	for i := range t.tiers {
		of := &t.tiers[i]
		of.bad, of.cut, of.ratios = 0, 0, of.ratios[:0]
		t.tests[i].Looks = held
	}
	clear(t.pending)
	t.base = shorter(t.base, t.sample.Base())
	t.sample = judge.NewSample(from, to, t.plan.Unit(), t.tests...)
	t.sample.RequestTime = t.base
}

// shorter is the shorter of two times, where 0 is one that is not known.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// forget is how many requests a mean remembers.
const forget = 16

// mean is that of the requests that ended so far.
func (t *Trial) mean() time.Duration {
	if t.ended == 0 {
		return t.running
	}
	n := time.Duration(min(t.ended, forget))
	return t.running + (t.ran/time.Duration(t.ended)-t.running)*n/forget
}

// due counts a request in if it belongs to the trial.
func (t *Trial) due(q *metrics.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unfinished[q.Index] = struct{}{}
	came := t.plan.LoadTime(q)
	t.sample.Arrived(came)
	if came < t.from || came >= t.to {
		return
	}
	t.scheduled++
	t.pending[q.Index] = &openRequest{came: came}
}

// Unfinished is how many requests are due and have not ended, whichever load they belong to: a server that batches
// them all has no queue, and is still slower by them.
func (t *Trial) Unfinished() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.unfinished)
}

// Running is about how long requests run after their first chunk: a load has its effect on a server's batch only after
// so long.
func (t *Trial) Running() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mean()
}

// chunk looks at first chunks alone.
func (t *Trial) chunk(q *metrics.Request) {
	if q.LastChunk != q.FirstChunk {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p, mine := t.pending[q.Index]
	if !mine || p.first {
		return
	}
	p.first = true
	wait := q.FirstChunk - p.came
	for i := range t.tiers {
		of := &t.tiers[i]
		first := of.objective(metrics.TTFT)
		alone := len(first) == 1 && len(of.slo) == 1 // the tier needs no more than the first chunk
		if ratio := first.Ratio(&metrics.Outcome{TTFT: wait.Seconds()}); ratio > 1 || alone {
			t.judge(p, i, ratio)
		}
	}
}

// done judges a request by all objectives. One that was cut counts for the tiers that had judged it.
func (t *Trial) done(q *metrics.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.unfinished, q.Index)
	if q.OK() {
		if q.Done != t.endedAt {
			t.running, t.ran, t.ended, t.endedAt = t.mean(), 0, 0, q.Done
		}
		t.ran += q.LastChunk - q.FirstChunk
		t.ended++
	}
	f := judge.Summarize(t.plan, q)
	t.sample.Ended(&f)
	p, mine := t.pending[q.Index]
	if !mine {
		return
	}
	delete(t.pending, q.Index)
	switch {
	case f.Cancelled:
		t.cut++
	case !f.OK && !f.Left:
		t.failed++
	}
	for i := range t.tiers {
		switch of := &t.tiers[i]; {
		case !p.open(i):
		case f.Cancelled:
			of.cut++
		case f.Left:
			t.sample.Judge(p.came, i, math.NaN())
		default:
			t.judge(p, i, judge.Ratio(t.plan, of.slo, q))
		}
	}
}

// judge files the ratio of a request for the tier with this number; +Inf for one that is late whatever comes.
func (t *Trial) judge(p *openRequest, tier int, ratio float64) {
	of := &t.tiers[tier]
	p.judged |= 1 << tier
	of.ratios = append(of.ratios, ratio)
	t.sample.Judge(p.came, tier, ratio)
	if ratio > 1 {
		of.bad++
	}
}

// hopeless is the share of bad requests at which a load is given up before its time: how far it is beyond the border
// does not matter then.
const hopeless = 0.2

// objective is that on a latency, alone; none if there is none.
func (of *tierTrial) objective(metric metrics.Latency) metrics.SLO {
	for i, o := range of.slo {
		if o.Metric == metric {
			return of.slo[i : i+1]
		}
	}
	return nil
}

// limit of an objective, in bounds; forever for none.
func (of *tierTrial) limit(metric metrics.Latency) time.Duration {
	limit := 1e12
	for _, o := range of.objective(metric) {
		limit = min(limit, o.LimitMS)
	}
	return time.Duration(limit * float64(time.Millisecond))
}

// Verdicts are what is known of the load at a moment of the run, for each tier in the order of the plan. decided: the
// requests without a verdict cannot change which loads are too high, or have had their time.
func (t *Trial) Verdicts(now time.Duration) (tiers []metrics.LevelVerdict, decided bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.giveUp(now)
	decided = true
	for i := range t.tiers {
		decided = decided && t.decided(i, now)
	}
	t.sample.Running = t.begun()
	tiers = t.sample.Verdicts(now)
	return tiers, decided || t.vain(tiers, now)
}

// vain reports whether a load that is held will be proven for no tier by the end of its time.
func (t *Trial) vain(tiers []metrics.LevelVerdict, now time.Duration) bool {
	if !t.tests[0].Looks || now-t.from < max(vainAfter, (t.to-t.from)/2) {
		return false
	}
	for _, v := range tiers {
		if v.Standing.Failed() ||
			v.Confidence < metrics.EnoughConfidence && (v.Near || v.Missing > 0 && now+v.Missing > t.to+time.Second) {
			continue
		}
		return false
	}
	return true
}

// vainAfter is the time from which on, and at least half of the hold, it is known how many effective requests a load
// brings.
const vainAfter = time.Minute

// begun is how many requests have a first chunk and have not ended.
func (t *Trial) begun() (n int) {
	for _, p := range t.pending {
		if p.first {
			n++
		}
	}
	return n
}

// decided reports whether the outcome for a tier is known: more requests are to come, about as many as the load says.
func (t *Trial) decided(tier int, now time.Duration) bool {
	of := &t.tiers[tier]
	all := t.scheduled - of.cut
	share := t.tests[tier].Enough
	if now < t.to {
		most := 1 - share
		if !t.tests[tier].Looks {
			most = max(most, hopeless) // what is nearer to the border says how near
		}
		return t.expected > 0 && float64(of.bad) > most*max(float64(all), t.expected)+1
	}
	least := search.Evidence{Good: len(of.ratios) - of.bad, Requests: all, Share: share}
	most := search.Evidence{Good: all - of.bad, Requests: all, Share: share}
	return all > 0 && (least.Passed() || !most.Passed()) || now >= t.to+t.patience
}

// Evidence is what a search learns of the load, for each tier in the order of the plan. Requests that neither ended nor
// are late for sure count by what they showed.
func (t *Trial) Evidence(now time.Duration) (tiers []search.Evidence) {
	verdicts, _ := t.Verdicts(now)
	t.mu.Lock()
	defer t.mu.Unlock()
	behind := search.Behind(t.sample)
	for i, v := range verdicts {
		e := search.EvidenceOf(t.tiers[i].ratios, t.tests[i].Enough)
		e.Requests = t.scheduled - t.tiers[i].cut
		for _, p := range t.pending {
			if p.first && p.open(i) {
				e.Good++
			}
		}
		e.Effective, e.Length, e.Capacity = min(v.Effective, float64(e.Requests)), max(0, min(now, t.to)-t.from),
			t.sample.Capacity()
		if v.Standing == metrics.LevelWithin {
			e.Confidence = v.Confidence
		}
		e.Missed = e.Requests == 0 || v.Standing == metrics.LevelBehind || behind || t.refused(t.tests[i].Enough)
		tiers = append(tiers, e)
	}
	return tiers
}

// refused reports whether the server refused more of the load than it may, where a gate wants fewer good: elsewhere
// they are just bad.
func (t *Trial) refused(enough float64) bool {
	return enough < metrics.EnoughGood && t.scheduled > t.cut &&
		metrics.Share(t.failed, t.scheduled-t.cut) > 1-metrics.EnoughGood
}

// giveUp judges those that are late whatever comes.
func (t *Trial) giveUp(now time.Duration) {
	for i := range t.tiers {
		of := &t.tiers[i]
		first, whole := of.limit(metrics.TTFT), of.limit(metrics.E2EL)
		for _, p := range t.pending {
			waited := now - p.came
			if p.open(i) && (!p.first && waited > first || waited > whole) {
				t.judge(p, i, math.Inf(1))
			}
		}
	}
}
