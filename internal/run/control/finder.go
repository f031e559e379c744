package control

import (
	"fmt"
	"math"
	"strings"
	"time"

	"benchtop/internal/search"
	"benchtop/metrics"
	"benchtop/metrics/judge"
)

// The constants of a search in one run.
const (
	holdBelow = 0.92 // of the lowest load at which the border may be, which is held
	stepDown  = 0.85 // from a load that was held and not proven
	mostHolds = 4    // loads that are held and fail, for each tier
	mostOpen  = 2    // loads that are held, and neither fail nor are proven
	mostSteps = 60   // of all kinds: whatever the server does, the search ends
	// searchRuns are the steps of the usual length that a search takes, and tierRuns those for each further tier; a
	// step near the border is at most longestTrial times as long.
	searchRuns, tierRuns = 18, 6
	longestTrial         = metrics.LongestStep
	drainSteps           = 12 // steps that a queue may take to drain
)

// Step is what to do next.
type Step struct {
	Phase metrics.SearchPhase
	// Tier that asked for the step.
	Tier int
	// Load to set, in requests per second or users; 0 while draining.
	Load float64
	// Settle is how long the load is in force before its requests are judged, For how long they are then. A drain takes
	// For at most.
	Settle, For time.Duration
	// Words say it on a screen.
	Words string
	// Told is the state of the search for the events of the run.
	Told metrics.SearchStep
}

// Finder makes a search in one run: a measurement is a step, a break after one that failed lets the queue drain, and at
// last the highest load that passed is held for long, for each tier. If it fails then, a lower one is held.
type Finder struct {
	find   metrics.Find
	search *search.Search
	step   Step
	after  Step   // follows a drain
	held   []hold // by tier
	steps  int
}

// hold is how a tier's load lasted: the load that was proven, 0 for none yet; the last that was held, how many failed,
// and how many were neither proven nor failed.
type hold struct {
	proven, last float64
	fails, open  int
	failed       bool    // the last
	next         float64 // to be held
}

// NewFinder begins a search, for tiers with these names; none for a single one that has no name.
func NewFinder(f metrics.Find, tiers ...string) *Finder {
	s := &Finder{find: f, search: search.New(search.Options{
		From: f.From, Most: f.Most, Unit: f.Unit, Tiers: tiers, Runs: searchRuns + (max(1, len(tiers))-1)*tierRuns,
		Longest: longestTrial,
	})}
	s.held = make([]hold, max(1, len(tiers)))
	s.step = s.plan()
	return s
}

// Step is what to do now.
func (f *Finder) Step() Step { return f.step }

// Found are the results of the tiers whose load is proven.
func (f *Finder) Found() (all []search.Result) {
	for i, r := range f.search.Results() {
		if r.Passed = f.held[i].proven; r.Passed > 0 {
			all = append(all, r)
		}
	}
	return all
}

// Next takes the outcome of the last step, in the order of the tiers, and returns what to do next. The outcome of a
// drain does not matter: a queue that stays shows in the next step.
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
			r.Passed = f.held[i].proven
		}
		x.Tiers = append(x.Tiers, metrics.SearchTier{Passed: r.Passed, Failed: r.Failed})
	}
	return x
}

// observe takes the outcome of a load, and returns the first tier that missed, -1 for none.
func (f *Finder) observe(tiers []search.Evidence) (missed int) {
	missed = -1
	for i := range tiers {
		e, h := &tiers[i], &f.held[i]
		passed := e.Passed()
		if !passed && missed < 0 {
			missed = i
		}
		if f.step.Phase != metrics.SearchHolding || f.step.Tier != i && f.step.Load != h.next {
			continue
		}
		h.last, h.failed = f.step.Load, !passed
		switch {
		case e.Confidence >= metrics.EnoughConfidence:
			h.proven = f.step.Load
		case passed:
			h.open++
		default:
			h.fails++
		}
	}
	f.search.Observe(f.step.Load, tiers)
	return missed
}

// plan is the next measurement, or the next load to hold, or the end. Once a load is held, no further one is measured
// for less long.
func (f *Finder) plan() Step {
	if f.step.Phase != metrics.SearchHolding {
		if probe, more := f.search.Next(); more {
			phase := metrics.SearchNarrowing
			if probe.Purpose == search.Climb && f.search.Results()[probe.Tier].AtLeast {
				phase = metrics.SearchClimbing
			}
			settle, judged := f.find.Trial(probe.Load)
			// at a low rate a step is long anyway
			longer := min(time.Duration(float64(judged)*probe.Length), longestTrial*f.find.Step)
			return f.make(phase, probe.Load, probe.Tier, settle, max(judged, longer))
		}
	}
	results := f.search.Results()
	for i := range results {
		f.held[i].next = f.toHold(i, &results[i])
	}
	for i := range results {
		if load := f.held[i].next; load > 0 {
			return f.make(metrics.SearchHolding, load, i, 0, f.find.Hold)
		}
	}
	return f.end(f.outcome(results))
}

// toHold is the load to hold for a tier, 0 for none: a little below the range in which its border is, and below what
// failed.
func (f *Finder) toHold(tier int, r *search.Result) float64 {
	h := &f.held[tier]
	if h.proven > 0 || h.open >= f.mostOpen() || h.fails >= mostHolds || r.Passed == 0 {
		return 0
	}
	load := 0.0
	switch {
	case h.last > 0:
		load = min(r.Estimate.Low*holdBelow, h.last*stepDown)
	case r.AtLeast:
		return r.Passed
	default:
		load = r.Estimate.Low * holdBelow
	}
	switch {
	case f.find.Unit == metrics.Users && h.last == 0:
		return max(1, math.Floor(load))
	case f.find.Unit == metrics.Users:
		return math.Floor(load)
	}
	return search.Readable(load)
}

// mostOpen is how many loads are held that neither fail nor are proven: in too short a time a lower load is not proven
// either.
func (f *Finder) mostOpen() int {
	if judge.MostFor(f.find.Hold) < metrics.EnoughConfidence {
		return 1
	}
	return mostOpen
}

// make is a step of one tier.
func (f *Finder) make(phase metrics.SearchPhase, load float64, tier int, settle, length time.Duration) Step {
	r := f.search.Results()[tier]
	so := metrics.Search{Unit: f.find.Unit, Phase: phase, Load: load, Passed: r.Passed, Failed: r.Failed}
	return Step{Phase: phase, Tier: tier, Load: load, Settle: settle, For: length, Words: named(r.Tier, so.String()),
		Told: f.told(phase)}
}

// named puts the name of a tier before words on it.
func named(tier, words string) string {
	if tier == "" {
		return words
	}
	return tier + ": " + words
}

// outcome is how the search ended, for a person: "14 req/s proven; by its tests, the border is between
// 14.3 and 16.1 req/s".
func (f *Finder) outcome(results []search.Result) string {
	var all []string
	for i, r := range results {
		words, border := r.Why, r.Why
		if where := r.Border(f.find.Unit); where != "" {
			border = "by its tests, " + where // the answer of the run is by all requests
		}
		switch h := &f.held[i]; {
		case h.proven > 0 && r.AtLeast:
			words = f.load(h.proven) + " proven, the most that may be tried"
		case h.proven > 0:
			words = f.load(h.proven) + " proven; " + border
		case h.last > 0:
			words = fmt.Sprintf("%s not proven: %s; %s", f.load(h.last), h.why(f.find.Hold), border)
		}
		all = append(all, named(r.Tier, words))
	}
	return strings.Join(all, "; ")
}

// why says why the last load that was held is not proven.
func (h *hold) why(length time.Duration) string {
	if h.failed {
		return "it failed while it was held"
	}
	return "it passed, but without a proof within " + metrics.Duration(length)
}

func (f *Finder) end(words string) Step {
	return Step{Phase: metrics.SearchDone, Load: f.step.Load, Words: words, Told: f.told(metrics.SearchDone)}
}

// load is one for a person.
func (f *Finder) load(load float64) string { return f.find.Unit.Text(load) }
