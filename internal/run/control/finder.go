package control

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"benchtop/metrics"
)

// The search's constants.
const (
	stepDown   = 0.93 // from a load that failed while it was held; its square from the second such, and so on
	mostHolds  = 8    // loads that are tried to be held for long
	mostHalves = 7    // times that the first load is halved
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
}

// Finder searches for the highest load within the objectives, in one run: up by factors until a load fails, a break until the queue
// has drained, then ever closer between the highest that passed and the lowest that failed, and at last the highest is held for long. If
// it fails, a lower one is held.
type Finder struct {
	find      metrics.Find
	step      Step
	low, high float64 // the highest load that passed, the lowest that failed; 0 for none yet
	after     Step    // follows a drain
	halves    int
	holds     int
	steps     int
	found     bool
}

// NewFinder begins a search.
func NewFinder(f metrics.Find) *Finder {
	s := &Finder{find: f}
	s.measure(metrics.SearchClimbing, s.nice(f.From))
	return s
}

// Step is what to do now.
func (f *Finder) Step() Step { return f.step }

// Found is the load that was held for long; not ok if none was, or not yet.
func (f *Finder) Found() (load float64, ok bool) { return f.low, f.found }

// Next takes whether the load of the last step was within the objectives and returns what to do next. The outcome of a drain
// does not matter: a queue that stays shows in the next step.
func (f *Finder) Next(within bool) Step {
	f.steps++
	switch {
	case f.step.Phase == metrics.SearchDone:
	case f.steps > mostSteps:
		f.end(fmt.Sprintf("gave up after %d steps: results vary too much", mostSteps))
	case f.step.Phase == metrics.SearchClimbing:
		f.climbed(within)
	case f.step.Phase == metrics.SearchDraining:
		f.step = f.after
	case f.step.Phase == metrics.SearchNarrowing:
		f.narrowed(within)
	default:
		f.held(within)
	}
	return f.step
}

func (f *Finder) climbed(within bool) {
	load := f.step.Load
	switch {
	case !within:
		f.high = load
		f.tooMuch(load)
	case load >= f.find.Most:
		f.low = load
		f.hold(load)
	default:
		f.low = load
		next := min(max(f.nice(load*metrics.SearchClimb), f.above(load)), f.find.Most)
		f.measure(metrics.SearchClimbing, next)
	}
}

// tooMuch goes on between the bounds, or further down if nothing held yet.
func (f *Finder) tooMuch(load float64) {
	if f.low > 0 {
		f.narrow()
	} else {
		f.halves++
		next := f.nice(load / 2)
		if f.halves > mostHalves || f.find.Users && load <= 1 || next <= 0 {
			f.end("even " + f.load(load) + " misses the objectives")
			return
		}
		f.measure(metrics.SearchNarrowing, next)
	}
	f.drain()
}

// drain puts a break before the next step.
func (f *Finder) drain() {
	f.after = f.step
	f.do(metrics.SearchDraining, 0, 0, drainSteps*f.find.Step)
}

// do makes a step the next one.
func (f *Finder) do(phase metrics.SearchPhase, load float64, settle, length time.Duration) {
	so := metrics.Search{Users: f.find.Users, Phase: phase, Load: load, Passed: f.low, Failed: f.high}
	f.step = Step{Phase: phase, Load: load, Settle: settle, For: length, Words: so.String()}
}

// narrow tries a load between the two, if they are not close enough.
func (f *Finder) narrow() {
	next := f.nice(math.Sqrt(f.low * f.high))
	if f.find.Users {
		next = math.Floor((f.low + f.high) / 2)
	}
	if near := f.high-f.low <= metrics.SearchPrecision*f.low; near || next <= f.low || next >= f.high {
		f.hold(f.low)
		return
	}
	f.measure(metrics.SearchNarrowing, next)
}

func (f *Finder) narrowed(within bool) {
	load := f.step.Load
	if within {
		f.low = load
		f.narrow()
		return
	}
	f.high = load
	f.tooMuch(load)
}

func (f *Finder) hold(load float64) { f.do(metrics.SearchHolding, load, 0, f.find.Hold) }

func (f *Finder) held(within bool) {
	load := f.step.Load
	if within {
		f.low, f.found = load, true
		f.end(f.load(load) + " passed for " + f.find.Hold.String())
		return
	}
	f.holds++
	next := min(f.nice(load*math.Pow(stepDown, float64(f.holds))), f.below(load))
	if f.holds >= mostHolds || next <= 0 {
		f.end("no load passed for " + f.find.Hold.String() + "; last tested: " + f.load(load))
		return
	}
	f.high, f.low = load, 0
	f.hold(next)
	f.drain()
}

func (f *Finder) end(words string) {
	f.step = Step{Phase: metrics.SearchDone, Load: f.step.Load, Words: words}
}

// measure tests a load.
func (f *Finder) measure(phase metrics.SearchPhase, load float64) {
	settle, judged := f.find.Trial(load)
	f.do(phase, load, settle, judged)
}

// nice is a load a person can read: three digits, or whole users. Rounding never makes it more than the most.
func (f *Finder) nice(load float64) float64 {
	if f.find.Users {
		return math.Max(1, math.Floor(load))
	}
	nice, err := strconv.ParseFloat(strconv.FormatFloat(load, 'g', 3, 64), 64)
	if err != nil || math.IsNaN(nice) || math.IsInf(nice, 0) {
		nice = load
	}
	return min(nice, f.find.Most)
}

// above and below are the nearest loads worth trying.
func (f *Finder) above(load float64) float64 {
	if f.find.Users {
		return load + 1
	}
	return load
}

func (f *Finder) below(load float64) float64 {
	if f.find.Users {
		return load - 1
	}
	return load
}

// load is one for a person.
func (f *Finder) load(load float64) string { return metrics.LoadText(load, f.find.Users) }
