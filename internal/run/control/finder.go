package control

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// Phase is what a search is doing.
type Phase string

const (
	// Climbing: each load that holds is followed by a higher one. Draining: nothing is sent until the queue that too much load
	// left is gone. Narrowing: between a load that held and one that did not. Holding: the highest is held for long.
	Climbing  Phase = "climbing"
	Draining  Phase = "draining"
	Narrowing Phase = "narrowing"
	Holding   Phase = "holding"
	// Done: there is nothing left to try.
	Done Phase = "done"
)

// The search's constants.
const (
	climb       = 1.3  // from a load that held to the next
	closeEnough = 0.05 // of the load, between one that held and one that did not
	stepDown    = 0.93 // from a load that did not hold for long; its square from the second such, and so on
	mostHolds   = 8    // loads that are tried to be held for long
	mostHalves  = 7    // times that the first load is halved
	mostSteps   = 120  // of all kinds: whatever the server does, the search ends
	drainSteps  = 12   // steps that a queue may take to drain
	fewest      = 20   // requests that a rate should bring before it is judged
	longestStep = 6    // steps that a low rate may take to bring them
)

// Step is what to do next.
type Step struct {
	Phase Phase
	// Load to set, in requests per second or users; 0 while draining.
	Load float64
	// Settle is how long the load is in force before its requests are judged, For how long they are then. A drain takes For at
	// most.
	Settle, For time.Duration
	// Words say it on a screen.
	Words string
}

// Finder searches for the highest load within the objectives, in one run: up by factors until a load is too much, a break until
// the queue has drained, then ever closer between the highest that held and the lowest that did not, and at last the highest
// is held for long. If it does not, a lower one is held.
type Finder struct {
	find      metrics.Find
	step      Step
	low, high float64 // the highest load that held, the lowest that did not; 0 for none yet
	after     Step    // follows a drain
	halves    int
	holds     int
	steps     int
	found     bool
}

// NewFinder begins a search.
func NewFinder(f metrics.Find) *Finder {
	s := &Finder{find: f}
	s.step = s.measure(Climbing, s.nice(f.From), "")
	s.step.Words = "testing " + s.load(s.step.Load)
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
	case f.step.Phase == Done:
	case f.steps > mostSteps:
		f.end(fmt.Sprintf("gave up after %d steps: results vary too much", mostSteps))
	case f.step.Phase == Climbing:
		f.climbed(within)
	case f.step.Phase == Draining:
		f.step = f.after
	case f.step.Phase == Narrowing:
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
		next := min(max(f.nice(load*climb), f.above(load)), f.find.Most)
		f.step = f.measure(Climbing, next, f.load(load)+" passed; testing "+f.number(next))
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
		f.step = f.measure(Narrowing, next, "testing "+f.load(next))
	}
	f.drain(f.load(load) + " failed")
}

// drain puts a break before the next step.
func (f *Finder) drain(why string) {
	f.after = f.step
	f.step = Step{Phase: Draining, For: drainSteps * f.find.Step, Words: why + "; waiting for the queue to drain"}
}

// narrow tries a load between the two, if they are not close enough.
func (f *Finder) narrow() {
	next := f.nice(math.Sqrt(f.low * f.high))
	if f.find.Users {
		next = math.Floor((f.low + f.high) / 2)
	}
	if near := f.high-f.low <= closeEnough*f.low; near || next <= f.low || next >= f.high {
		f.hold(f.low)
		return
	}
	f.step = f.measure(Narrowing, next, fmt.Sprintf("between %s and %s; testing %s", f.number(f.low), f.load(f.high), f.number(next)))
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

func (f *Finder) hold(load float64) {
	f.step = Step{
		Phase: Holding, Load: load, For: f.find.Hold,
		Words: "holding " + f.load(load) + " for " + f.find.Hold.String(),
	}
}

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
	f.drain(f.load(load) + " did not last")
}

func (f *Finder) end(words string) {
	f.step = Step{Phase: Done, Load: f.step.Load, Words: words}
}

// measure is a step whose first fifth is left for the server to get used to the load.
func (f *Finder) measure(phase Phase, load float64, words string) Step {
	settle := f.find.Step / 5
	return Step{Phase: phase, Load: load, Settle: settle, For: f.judged(load, f.find.Step-settle), Words: words}
}

// judged is how long requests are judged: longer where there would be few.
func (f *Finder) judged(load float64, usual time.Duration) time.Duration {
	if f.find.Users || load <= 0 {
		return usual
	}
	enough := time.Duration(min(fewest/load, longestStep*f.find.Step.Seconds()) * float64(time.Second))
	return max(usual, enough)
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

func (f *Finder) number(load float64) string { return shape.Number(load) }

// load is one for a person.
func (f *Finder) load(load float64) string { return loadString(load, f.find.Users) }
