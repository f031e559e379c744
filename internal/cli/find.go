package cli

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"benchtop/export"
	"benchtop/internal/steering"
	"benchtop/metrics"
)

// findOptions ask for a search for the highest load within the objectives.
type findOptions struct {
	on, users  bool
	from, most float64
	step, hold time.Duration
}

const (
	defaultFindFrom = 1
	defaultFindMost = 1000
	shortestStep    = time.Second
	longestFindStep = time.Hour
)

func (o *findOptions) define(f *pflag.FlagSet) {
	f.BoolVar(&o.on, "find", false, "search for the highest request rate within --goodput: raise it until it is too much, close in, hold the result")
	f.BoolVar(&o.users, "find-users", false, "search for the highest number of users without pause instead")
	f.Float64Var(&o.from, "find-from", defaultFindFrom, "load the search begins with, in requests per second or users")
	f.Float64Var(&o.most, "find-most", defaultFindMost, "load the search ends at")
	f.DurationVar(&o.step, "find-step", 10*time.Second, "how long each load of the search takes")
	f.DurationVar(&o.hold, "find-hold", 30*time.Second, "how long the load that was found is held")
}

// searching says that there is a search.
func (o *findOptions) searching() bool { return o.on || o.users }

// check tells what does not go with a search.
func (o *findOptions) check(given *pflag.FlagSet, load *loadOptions, slo metrics.SLO) (p problemList) {
	if !o.searching() {
		for _, name := range []string{"find-from", "find-most", "find-step", "find-hold"} {
			if given.Changed(name) {
				p.bad("--%s: needs --find or --find-users", name)
			}
		}
		return p
	}
	if o.on && o.users && given.Changed("find") {
		p.bad("--find and --find-users: choose one, a rate or users")
	}
	if len(slo) == 0 {
		p.bad("--find: say with --goodput what the search has to stay within, as --goodput ttft:500 tpot:50")
	}
	for _, name := range []string{"num-prompts", "request-rate", "ramp-up-strategy", "ramp-over", "stages", "concurrency-stages"} {
		if given.Changed(name) {
			p.bad("--find and --%s: the search sets the load and ends the run itself; begin it with --find-from, bound it with --find-most or --duration", name)
		}
	}
	if o.users && load.concurrency > 0 {
		p.bad("--find-users and --max-concurrency: the search sets the number of users; bound it with --find-most")
	}
	return append(p, o.checkNumbers()...)
}

func (o *findOptions) checkNumbers() (p problemList) {
	for _, x := range []struct {
		name string
		v    float64
	}{{"find-from", o.from}, {"find-most", o.most}} {
		switch {
		case !(x.v > 0) || x.v > highestRate:
			p.bad("--%s %g: must be above 0 and at most %g", x.name, x.v, highestRate)
		case o.users && x.v != math.Floor(x.v):
			p.bad("--%s %g: users are whole numbers", x.name, x.v)
		}
	}
	if o.users && len(p) == 0 {
		if err := room(int(o.most)); err != nil {
			p.bad("--find-most %g: %w", o.most, err)
		}
	}
	if o.from > o.most {
		p.bad("--find-from %g: must not be more than --find-most %g", o.from, o.most)
	}
	if o.step < shortestStep || o.step > longestFindStep {
		p.bad("--find-step %s: must be from %s to %s", o.step, shortestStep, longestFindStep)
	}
	if o.hold < shortestStep || o.hold > longestRun {
		p.bad("--find-hold %s: must be at least %s and at most a year", o.hold, shortestStep)
	}
	return p
}

// planned is the search for the plan, nil for none.
func (o *findOptions) planned() *metrics.Find {
	if !o.searching() {
		return nil
	}
	return &metrics.Find{From: o.from, Most: o.most, Step: o.step, Hold: o.hold, Users: o.users}
}

// inWords is the load for a person.
func (o *findOptions) inWords(slo metrics.SLO) string {
	unit := "req/s"
	if o.users {
		unit = "users"
	}
	within := strings.ReplaceAll((&objectives{slo}).String(), " ", ", ")
	return "search from " + number(o.from) + " to " + number(o.most) + " " + unit + " for the highest within " + within +
		" (ms), held for " + export.Duration(o.hold)
}

const (
	// verdictEvery is how often a search looks at what its load came to.
	verdictEvery = 100 * time.Millisecond
	// patienceFor is the least time that requests of a load get to end before they are judged by what they showed.
	patienceFor = 30 * time.Second
)

// search finds the highest load within the objectives and ends the sending when it was held, or when there is nothing left to
// try. It ends early with ctx, and when the user sets the load.
func (s *session) search(ctx context.Context) {
	if s.trial == nil {
		return
	}
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	h, f := s.helm, steering.NewFinder(*s.plan.Find)
	h.searching(giveUp)
	for step := f.Step(); ; {
		if step.Phase == steering.Done {
			h.found(f, step)
			return
		}
		within, ok := false, h.try(ctx, step)
		if ok {
			within, ok = s.outcomeOf(ctx, step)
		}
		if !ok {
			h.unfinished(step)
			return
		}
		step = f.Next(within)
	}
}

// outcomeOf waits until it is known what a step came to; not ok when ctx ended first.
func (s *session) outcomeOf(ctx context.Context, step steering.Step) (within, ok bool) {
	tick := time.NewTicker(verdictEvery)
	defer tick.Stop()
	began := s.helm.now()
	for {
		select {
		case <-ctx.Done():
			return false, false
		case <-tick.C:
		}
		now := s.helm.now()
		if step.Phase == steering.Draining {
			if now-began >= step.For || s.trial.Waiting() == 0 {
				return true, true
			}
			continue
		}
		if v := s.trial.Verdict(now); v != steering.Open {
			return v == steering.Within, true
		}
	}
}

// searching says that a search has the helm until a hand takes it.
func (h *helm) searching(giveUp context.CancelFunc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.giveUp = giveUp
}

// try puts the load of a step in force and begins its trial; false when a hand was quicker.
func (h *helm) try(ctx context.Context, step steering.Step) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.giveUp == nil || ctx.Err() != nil {
		return false
	}
	h.state.Search = step.Words
	if step.Phase == steering.Draining {
		h.hold(metrics.BySearch, step.Words)
		return true
	}
	h.set(ctx, step.Load, metrics.BySearch, step.Words, h.words(step.Load))
	from, expected := h.now()+step.Settle, 0.0
	if !h.inUsers {
		expected = step.Load * step.For.Seconds()
	}
	h.session.trial.Begin(from, from+step.For, expected, max(patienceFor, 2*h.session.plan.Find.Step))
	return true
}

// unfinished tells that the run ended before the search did, unless a hand has ended it.
func (h *helm) unfinished(step steering.Step) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.giveUp != nil {
		h.giveUp = nil
		h.session.log(metrics.Warn, "search: the run ended before it came to a result; the last it did: "+step.Words)
	}
}

// found tells how the search ended, and ends the sending.
func (h *helm) found(f *steering.Finder, step steering.Step) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.giveUp == nil {
		return
	}
	h.giveUp, h.state.Search = nil, step.Words
	h.tellState()
	e := metrics.Event{Level: metrics.Warn, Text: "search: " + step.Words}
	if load, ok := f.Found(); ok {
		e = metrics.Event{Level: metrics.Info, Text: "search: the highest load within the objectives is " + h.words(load), Mark: metrics.FoundMark}
	}
	h.session.stream.Tell(e)
	h.session.engine.StopSending()
}
