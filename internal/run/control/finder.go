package control

import (
	"fmt"
	"math"
	"strings"
	"time"

	"benchtop/internal/search"
	"benchtop/metrics"
)

// The constants of a search in one run.
const (
	stepDown   = 0.93 // from a load that failed while it was held; its square from the second such, and so on
	mostHolds  = 8    // loads that are tried to be held for long, for each tier
	mostSteps  = 120  // of all kinds: whatever the server does, the search ends
	drainSteps = 12   // steps that a queue may take to drain
)

// Step is what to do next.
type Step struct {
	Phase metrics.SearchPhase
	// Load to set, in requests per second or users; 0 while draining.
	Load float64
	// Settle is how long the load is in force before its requests are judged, For how long they are then. A drain takes For at
	// most.
	Settle, For time.Duration
	// Words say it on a screen.
	Words string
	// Told is the state of the search for the events of the run.
	Told metrics.SearchStep
}

// Finder makes a search in one run: a measurement is a step, a break after one that failed lets the queue drain, and at last the highest
// load that passed is held for long, for each tier. If it fails then, a lower one is held.
type Finder struct {
	find   metrics.Find
	search *search.Search
	step   Step
	after  Step   // follows a drain
	held   []hold // by tier
	steps  int
}

// hold is how a tier's load lasted: the load that passed for long, 0 for none yet; the last that failed then, and how many did.
type hold struct {
	passed, failed float64
	fails          int
}

// NewFinder begins a search, for tiers with these names; none for a single one that has no name.
func NewFinder(f metrics.Find, tiers ...string) *Finder {
	s := &Finder{find: f, search: search.New(search.Options{
		From: f.From, Most: f.Most, Whole: f.Users, Tiers: tiers, Runs: mostSteps,
	})}
	s.held = make([]hold, max(1, len(tiers)))
	s.step = s.plan()
	return s
}

// Step is what to do now.
func (f *Finder) Step() Step { return f.step }

// Found are the results of the tiers whose highest load was held for long.
func (f *Finder) Found() (all []search.Result) {
	for i, r := range f.search.Results() {
		if r.Passed = f.held[i].passed; r.Passed > 0 {
			all = append(all, r)
		}
	}
	return all
}

// Next takes the outcome of the last step, in the order of the tiers, and returns what to do next. The outcome of a drain does not
// matter: a queue that stays shows in the next step.
func (f *Finder) Next(tiers []search.Evidence) Step {
	f.steps++
	switch {
	case f.step.Phase == metrics.SearchDone:
		return f.step
	case f.step.Phase == metrics.SearchDraining:
		f.step = f.after
		return f.step
	}
	load, missed := f.step.Load, f.observe(tiers)
	next := f.plan()
	if f.steps > mostSteps {
		next = f.end(fmt.Sprintf("gave up after %d steps: results vary too much", mostSteps))
	}
	if missed >= 0 && next.Phase != metrics.SearchDone {
		f.after = next
		next = f.make(metrics.SearchDraining, 0, missed, 0, drainSteps*f.find.Step)
		next.Words = named(f.search.Results()[missed].Tier, f.load(load)+" failed; waiting for the queue to drain")
	}
	next.Told.Tested = load
	for i := range min(len(tiers), len(next.Told.Tiers)) {
		of, e := &next.Told.Tiers[i], &tiers[i]
		of.Requests, of.Good, of.Within = e.Requests, e.Good, e.Passed()
	}
	f.step = next
	return next
}

// told is the state of the search at a step.
func (f *Finder) told(phase metrics.SearchPhase) metrics.SearchStep {
	x := metrics.SearchStep{Phase: phase}
	for i, r := range f.search.Results() {
		if phase == metrics.SearchDone { // what was not held is no answer
			r.Passed = f.held[i].passed
		}
		x.Tiers = append(x.Tiers, metrics.SearchTier{Passed: r.Passed, Failed: r.Failed})
	}
	return x
}

// observe takes the outcome of a load, and returns the first tier that missed, -1 for none.
func (f *Finder) observe(tiers []search.Evidence) (missed int) {
	missed = -1
	holding := f.step.Phase == metrics.SearchHolding
	results := f.search.Results()
	for i := range tiers {
		e := &tiers[i]
		held := holding && f.step.Load == f.toHold(i, results[i].Passed)
		if e.Passed() {
			if held {
				f.held[i].passed = f.step.Load
			}
			continue
		}
		if missed < 0 {
			missed = i
		}
		// What did not last fails, however many requests were good before.
		e.Missed = e.Missed || holding
		if held {
			f.held[i].failed = f.step.Load
			f.held[i].fails++
		}
	}
	f.search.Observe(f.step.Load, tiers)
	return missed
}

// plan is the next measurement, or the next load to hold, or the end. Once a load is held, no further one is measured for less long.
func (f *Finder) plan() Step {
	if f.step.Phase != metrics.SearchHolding {
		if probe, more := f.search.Next(); more {
			phase := metrics.SearchNarrowing
			if f.search.Results()[probe.Tier].Failed == 0 {
				phase = metrics.SearchClimbing
			}
			settle, judged := f.find.Trial(probe.Load)
			return f.make(phase, probe.Load, probe.Tier, settle, judged)
		}
	}
	results := f.search.Results()
	for i, r := range results {
		if load := f.toHold(i, r.Passed); load > 0 {
			return f.make(metrics.SearchHolding, load, i, 0, f.find.Hold)
		}
	}
	return f.end(f.outcome(results))
}

// toHold is the load to hold for a tier, 0 for none: the highest that passed, or one a little below that which did not last. Tiers with the same
// one share the step.
func (f *Finder) toHold(tier int, passed float64) float64 {
	h := &f.held[tier]
	switch {
	case h.passed > 0:
		return 0
	case h.fails == 0:
		return passed
	}
	lower := h.failed * math.Pow(stepDown, float64(h.fails))
	if f.find.Users {
		lower = min(math.Floor(lower), h.failed-1)
	}
	if h.fails >= mostHolds || lower <= 0 {
		return 0
	}
	return max(search.Readable(lower), passed)
}

// make is a step of one tier.
func (f *Finder) make(phase metrics.SearchPhase, load float64, tier int, settle, length time.Duration) Step {
	r := f.search.Results()[tier]
	so := metrics.Search{Users: f.find.Users, Phase: phase, Load: load, Passed: r.Passed, Failed: r.Failed}
	return Step{Phase: phase, Load: load, Settle: settle, For: length, Words: named(r.Tier, so.String()), Told: f.told(phase)}
}

// named puts the name of a tier before words on it.
func named(tier, words string) string {
	if tier == "" {
		return words
	}
	return tier + ": " + words
}

// outcome is how the search ended, for a person.
func (f *Finder) outcome(results []search.Result) string {
	var all []string
	for i, r := range results {
		words := r.Why
		switch {
		case f.held[i].passed > 0:
			words = f.load(f.held[i].passed) + " passed for " + f.find.Hold.String()
		case f.held[i].fails > 0:
			words = "no load passed for " + f.find.Hold.String() + "; last tested: " + f.load(f.held[i].failed)
		}
		all = append(all, named(r.Tier, words))
	}
	return strings.Join(all, "; ")
}

func (f *Finder) end(words string) Step {
	return Step{Phase: metrics.SearchDone, Load: f.step.Load, Words: words, Told: f.told(metrics.SearchDone)}
}

// load is one for a person.
func (f *Finder) load(load float64) string { return metrics.LoadText(load, f.find.Users) }
