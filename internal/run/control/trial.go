package control

import (
	"sync"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/saturation"
)

// Verdict is what is known of a trial so far.
type Verdict string

const (
	// Open: not decided yet.
	Open Verdict = "open"
	// Within: enough requests were good. Missed: too many were not.
	Within Verdict = "within"
	Missed Verdict = "missed"
)

// Trial judges a load by the requests that were scheduled while it was in force, since that load caused their latencies. It
// is a sink of the run's events.
//
// Requests count from the moment at which the load asked for them, as in the levels of the report: a rate that a limit of this client
// holds back is not within the objectives.
type Trial struct {
	plan     *metrics.Plan
	mu       sync.Mutex // guards everything below
	slo      metrics.SLO
	share    float64
	from, to time.Duration
	patience time.Duration
	expected float64

	scheduled, good, bad int
	pending              map[int]pending
	pace                 saturation.Pace
	// waiting are all requests that are due and have no first chunk, those of earlier loads too.
	waiting map[int]struct{}
}

// pending is a request whose verdict is open.
type pending struct {
	came time.Duration
	// promising: its first chunk came in time.
	promising bool
}

// NewTrial judges nothing before Begin. The plan says what the objectives are and how many requests must meet them.
func NewTrial(plan *metrics.Plan) *Trial {
	enough, _ := plan.EnoughGood()
	return &Trial{plan: plan, slo: plan.Goodput, share: enough, pending: map[int]pending{}, waiting: map[int]struct{}{}}
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
			t.slo = *x.Objectives
		}
	}
}

// Begin forgets what was and judges the requests that are scheduled from one moment of the run to another. expected is how
// many that will be, 0 if that is not known. A request without a verdict after so much patience beyond that is judged by its
// chunks until then.
func (t *Trial) Begin(from, to time.Duration, expected float64, patience time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.from, t.to, t.expected, t.patience = from, to, expected, patience
	t.scheduled, t.good, t.bad = 0, 0, 0
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
	t.pending[q.Index] = pending{came: came}
}

// Waiting is how many requests are due and have no first chunk yet, whichever load they belong to.
func (t *Trial) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waiting)
}

// chunk looks at first chunks alone.
func (t *Trial) chunk(q *metrics.Request) {
	if q.LastChunk != q.FirstChunk {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.waiting, q.Index)
	p, mine := t.pending[q.Index]
	if !mine || p.promising {
		return
	}
	wait := q.FirstChunk - t.plan.LoadTime(q)
	switch limit, given := t.limit(metrics.TTFT); {
	case given && wait > limit:
		t.settle(q.Index, false)
	case len(t.slo) == 1 && given:
		t.pace.Add(p.came, t.from, t.to, wait, wait)
		t.settle(q.Index, true)
	default:
		p.promising = true
		t.pending[q.Index] = p
	}
}

// done judges a request by all objectives. One that was cut counts for nothing.
func (t *Trial) done(q *metrics.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.waiting, q.Index)
	if _, mine := t.pending[q.Index]; !mine {
		return
	}
	if q.Failure == metrics.Cancelled {
		delete(t.pending, q.Index)
		t.scheduled--
		return
	}
	if came := t.plan.LoadTime(q); q.OK() {
		t.pace.Add(came, t.from, t.to, q.FirstChunk-came, q.LastChunk-came)
	} else {
		t.pace.Fail()
	}
	t.settle(q.Index, q.OK() && saturation.Good(t.plan, t.slo, q))
}

func (t *Trial) settle(index int, good bool) {
	delete(t.pending, index)
	if good {
		t.good++
	} else {
		t.bad++
	}
}

// limit of an objective, in bounds.
func (t *Trial) limit(metric metrics.Latency) (time.Duration, bool) {
	for _, o := range t.slo {
		if o.Metric == metric {
			return time.Duration(min(o.LimitMS, 1e12) * float64(time.Millisecond)), true
		}
	}
	return 0, false
}

// Verdict says what is known at a moment of the run. It settles as soon as the rest cannot change it.
func (t *Trial) Verdict(now time.Duration) Verdict {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.giveUp(now)
	all := float64(t.scheduled)
	if now < t.to {
		// More are to come, about as many as the load says.
		if t.expected > 0 && float64(t.bad) > (1-t.share)*max(all, t.expected)+1 {
			return Missed
		}
		return Open
	}
	// The smallest surplus makes up for shares that are not quite what they are written as.
	const surplus = 1e-9
	switch {
	case float64(t.bad) > (1-t.share)*all+surplus:
		return Missed
	case all > 0 && float64(t.good) >= t.share*all-surplus:
		return t.kept()
	case now < t.to+t.patience:
		return Open
	}
	// The patience is over, and some neither ended nor are late for sure.
	promising := 0
	for _, p := range t.pending {
		if p.promising {
			promising++
		}
	}
	if all > 0 && float64(t.good+promising) >= t.share*all-surplus {
		return t.kept()
	}
	return Missed
}

// kept says whether a load that enough requests were good under was also completed, and as fast as it came.
func (t *Trial) kept() Verdict {
	completed := t.pace.Succeeded()
	if f := t.plan.Find; f == nil || !f.Users {
		completed = t.pace.Completed(t.to - t.from)
	}
	if completed < metrics.EnoughCompleted {
		return Missed
	}
	return Within
}

// giveUp settles those that are late whatever comes.
func (t *Trial) giveUp(now time.Duration) {
	first, firstGiven := t.limit(metrics.TTFT)
	whole, wholeGiven := t.limit(metrics.E2EL)
	for index, p := range t.pending {
		waited := now - p.came
		if firstGiven && !p.promising && waited > first || wholeGiven && waited > whole {
			t.settle(index, false)
		}
	}
}
