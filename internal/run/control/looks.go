package control

import (
	"sync"
	"sync/atomic"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/judge"
)

// longestLook is the last look at a load that is held.
const longestLook = 4 * time.Minute

// Looks judge a load that is held, after fixed times: each by a trial of its own, of the requests that came until then.
// They are a sink of the run's events.
type Looks struct {
	plan  *metrics.Plan
	queue *Trial // of all requests, which judges none; nil where no one asks
	taken atomic.Pointer[[]*Trial]

	mu   sync.Mutex // guards everything below
	slo  metrics.SLO
	base time.Duration // the shortest time of a request in the trials so far
}

// NewLooks judge nothing before Begin. The plan says what the objectives are until they change.
func NewLooks(plan *metrics.Plan) *Looks {
	l := &Looks{plan: plan, slo: plan.Goodput}
	if plan.Confirm > 0 {
		l.queue = NewTrial(plan)
	}
	l.taken.Store(new([]*Trial))
	return l
}

// Take hears of requests, and of objectives that change.
func (l *Looks) Take(e *event.Event) {
	switch x, _ := e.Value.(metrics.LogEntry); {
	case e.Kind != event.Fact && l.queue != nil:
		l.queue.Take(e)
	case e.Kind == event.Fact && x.Objectives == nil:
		return
	case e.Kind == event.Fact:
		l.mu.Lock()
		l.slo = *x.Objectives
		l.mu.Unlock()
	}
	for _, t := range l.trials() {
		t.Take(e)
	}
}

func (l *Looks) trials() []*Trial { return *l.taken.Load() }

// Judges reports whether there are objectives.
func (l *Looks) Judges() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.plan.TiersUnder(l.slo)) > 0
}

// Unfinished is how many requests are due and have not ended.
func (l *Looks) Unfinished() int {
	if l.queue == nil {
		return 0
	}
	return l.queue.Unfinished()
}

// looksWithin are the looks of so much time.
func looksWithin(most time.Duration) (all []time.Duration) {
	for look := time.Duration(0); ; {
		_, left := judge.Look(look)
		if look += left; look > min(most, longestLook) {
			return all
		}
		all = append(all, look)
	}
}

// Begin judges a load from a moment on, after each of some looks.
func (l *Looks) Begin(load float64, from time.Duration, looks []time.Duration) {
	l.End()
	l.mu.Lock()
	defer l.mu.Unlock()
	plan := *l.plan
	plan.Goodput, plan.Tiers = l.slo, plan.Tiers[:min(1, len(plan.Tiers))]
	var all []*Trial
	for _, look := range looks {
		t, expected := NewTrial(&plan), 0.0
		if plan.Unit() != metrics.Users {
			expected = load * look.Seconds()
		}
		t.base = l.base
		t.Begin(from, from+look, expected, patienceFor, true)
		all = append(all, t)
	}
	l.taken.Store(&all)
}

// End forgets the load.
func (l *Looks) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range *l.taken.Swap(new([]*Trial)) {
		t.mu.Lock()
		l.base = shorter(l.base, t.sample.Base())
		t.mu.Unlock()
	}
}

// Verdict is that of the look with this number on the first tier; not known before all its requests have ended, or have
// had their time.
func (l *Looks) Verdict(look int, now time.Duration) (v metrics.LevelVerdict, known bool) {
	all := l.trials()
	if look >= len(all) || now < all[look].to || all[look].open() > 0 && now < all[look].to+patienceFor {
		return v, false
	}
	verdicts, _ := all[look].Verdicts(now)
	if len(verdicts) == 0 {
		return v, false
	}
	return verdicts[0], true
}

// open is how many requests of the load have not ended.
func (t *Trial) open() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.pending)
}

// Hopeless reports whether so many requests of the load are bad already that no look can prove it.
func (l *Looks) Hopeless(now time.Duration) bool {
	all := l.trials()
	if len(all) == 0 {
		return false
	}
	t := all[len(all)-1]
	t.mu.Lock()
	defer t.mu.Unlock()
	t.giveUp(now)
	return now < t.to && t.decided(0, now) // after that its verdict says it
}
