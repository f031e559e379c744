package control

import (
	"math"
	"sync"
	"time"

	"benchtop/internal/search"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/saturation"
)

// Trial judges a load by the requests that were scheduled while it was in force, since that load caused their latencies: for each tier
// of the plan alike. It is a sink of the run's events.
//
// Requests count from the moment at which the load asked for them, as in the levels of the report: a rate that a limit of this client
// holds back is not within the objectives.
type Trial struct {
	plan     *metrics.Plan
	mu       sync.Mutex // guards everything below
	tiers    []tierTrial
	share    float64
	from, to time.Duration
	patience time.Duration
	expected float64

	scheduled int
	pending   map[int]*pending
	pace      saturation.Pace
	// waiting are all requests that are due and have no first chunk, those of earlier loads too.
	waiting map[int]struct{}
	// running is about how long requests run after their first chunk, a mean in which those that ended last count most.
	running time.Duration
}

// tierTrial are the requests of a trial as a tier judges them.
type tierTrial struct {
	slo metrics.SLO
	bad int // of the ratios, those above 1
	cut int // without a verdict
	// ratios are the latencies of judged requests over their limits, each by the objective that binds.
	ratios []float64
}

// pending is a request that some tiers have not judged yet.
type pending struct {
	came   time.Duration
	first  bool   // its first chunk came
	judged uint32 // a bit for each tier
}

func (p *pending) open(tier int) bool { return p.judged&(1<<tier) == 0 }

// NewTrial judges nothing before Begin. The plan says what the objectives are and how many requests must meet them.
func NewTrial(plan *metrics.Plan) *Trial {
	enough, _ := plan.EnoughGood()
	t := &Trial{plan: plan, share: enough, pending: map[int]*pending{}, waiting: map[int]struct{}{}}
	for _, tier := range plan.TiersUnder(plan.Goodput) {
		t.tiers = append(t.tiers, tierTrial{slo: tier.SLO})
	}
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

// Begin forgets what was and judges the requests that are scheduled from one moment of the run to another. expected is how
// many that will be, 0 if that is not known. A request without a verdict after so much patience beyond that is judged by its
// chunks until then.
func (t *Trial) Begin(from, to time.Duration, expected float64, patience time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.from, t.to, t.expected, t.patience, t.scheduled = from, to, expected, patience, 0
	for i := range t.tiers {
		of := &t.tiers[i]
		of.bad, of.cut, of.ratios = 0, 0, of.ratios[:0]
	}
	clear(t.pending)
	t.pace.Empty()
}

// due counts a request in if it belongs to the trial.
func (t *Trial) due(q *metrics.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting[q.Index] = struct{}{}
	came := t.plan.LoadTime(q)
	if came < t.from || came >= t.to {
		return
	}
	t.scheduled++
	t.pending[q.Index] = &pending{came: came}
}

// Waiting is how many requests are due and have no first chunk yet, whichever load they belong to.
func (t *Trial) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waiting)
}

// Running is about how long requests run after their first chunk: a load has its effect on a server's batch only after so long.
func (t *Trial) Running() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running
}

// forget is how many requests a mean remembers.
const forget = 16

// chunk looks at first chunks alone.
func (t *Trial) chunk(q *metrics.Request) {
	if q.LastChunk != q.FirstChunk {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.waiting, q.Index)
	p, mine := t.pending[q.Index]
	if !mine || p.first {
		return
	}
	p.first = true
	wait, early := q.FirstChunk-p.came, true // early: no tier needs more than the first chunk
	for i := range t.tiers {
		of := &t.tiers[i]
		first := of.objective(metrics.TTFT)
		alone := len(first) == 1 && len(of.slo) == 1
		if ratio := first.Ratio(&metrics.Outcome{TTFT: wait.Seconds()}); ratio > 1 || alone {
			of.judge(p, i, ratio)
		}
		early = early && alone
	}
	if early {
		t.pace.Add(p.came, t.from, t.to, wait, wait)
		delete(t.pending, q.Index)
	}
}

// done judges a request by all objectives. One that was cut counts for nothing.
func (t *Trial) done(q *metrics.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.waiting, q.Index)
	if q.OK() {
		t.running += (q.LastChunk - q.FirstChunk - t.running) / forget
	}
	p, mine := t.pending[q.Index]
	if !mine {
		return
	}
	delete(t.pending, q.Index)
	cut := q.Failure == metrics.Cancelled
	switch {
	case cut:
	case q.OK():
		t.pace.Add(p.came, t.from, t.to, q.FirstChunk-p.came, q.LastChunk-p.came)
	default:
		t.pace.Fail()
	}
	for i := range t.tiers {
		switch of := &t.tiers[i]; {
		case !p.open(i):
		case cut:
			of.cut++
		default:
			of.judge(p, i, saturation.Ratio(t.plan, of.slo, q))
		}
	}
}

// judge files the ratio of a request for the tier with this number; +Inf for one that is late whatever comes.
func (of *tierTrial) judge(p *pending, tier int, ratio float64) {
	p.judged |= 1 << tier
	of.ratios = append(of.ratios, ratio)
	if ratio > 1 {
		of.bad++
	}
}

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

// Evidence is the outcome for each tier at a moment of the run, in the order of the plan. It is not ok before the rest cannot change
// any of them.
func (t *Trial) Evidence(now time.Duration) (tiers []search.Evidence, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.giveUp(now)
	for i := range t.tiers {
		if !t.decided(&t.tiers[i], now) {
			return nil, false
		}
	}
	for i := range t.tiers {
		tiers = append(tiers, t.evidence(i))
	}
	return tiers, true
}

// decided reports whether the outcome for a tier is known.
func (t *Trial) decided(of *tierTrial, now time.Duration) bool {
	all := t.scheduled - of.cut
	if now < t.to { // more are to come, about as many as the load says
		return t.expected > 0 && float64(of.bad) > (1-t.share)*max(float64(all), t.expected)+1
	}
	least := search.Evidence{Good: len(of.ratios) - of.bad, Requests: all, Share: t.share}
	most := search.Evidence{Good: all - of.bad, Requests: all, Share: t.share}
	return all > 0 && (least.Passed() || !most.Passed()) || now >= t.to+t.patience
}

// evidence of a tier. Requests that neither ended nor are late for sure count by what they showed.
func (t *Trial) evidence(tier int) search.Evidence {
	of := &t.tiers[tier]
	e := search.EvidenceOf(of.ratios, t.share)
	e.Requests = t.scheduled - of.cut
	for _, p := range t.pending {
		if p.first && p.open(tier) {
			e.Good++
		}
	}
	e.Missed = e.Requests == 0 || e.Passed() && !t.kept()
	return e
}

// kept reports whether a load that enough requests were good under was also completed, and as fast as it came.
func (t *Trial) kept() bool {
	completed := t.pace.Succeeded()
	if f := t.plan.Find; f == nil || !f.Users {
		completed = t.pace.Completed(t.to - t.from)
	}
	return completed >= metrics.EnoughCompleted
}

// giveUp judges those that are late whatever comes.
func (t *Trial) giveUp(now time.Duration) {
	for i := range t.tiers {
		of := &t.tiers[i]
		first, whole := of.limit(metrics.TTFT), of.limit(metrics.E2EL)
		for _, p := range t.pending {
			waited := now - p.came
			if p.open(i) && (!p.first && waited > first || waited > whole) {
				of.judge(p, i, math.Inf(1))
			}
		}
	}
}
