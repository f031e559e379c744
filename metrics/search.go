package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// Find is the search for the highest load within the objectives: from From upwards to at most Most, in requests per
// second or users. The load that it finds is held for Hold.
type Find struct {
	From float64       `json:"from"`
	Most float64       `json:"most"`
	Step time.Duration `json:"step_ns"`
	Hold time.Duration `json:"hold_ns"`
	Unit Unit          `json:"-"` // RequestsPerSecond or Users
}

// The rule of a search.
const (
	// SearchPrecision is about the distance between the highest load that passed and the lowest that failed, relative
	// to the former, at which the search ends. A step in a narrower range is longer by up to LongestStep.
	SearchPrecision = 0.05
	LongestStep     = 5

	longestClimb  = 4  // the greatest factor from a load that passed to the next
	settlePart    = 5  // of a step
	fewestTested  = 20 // requests that a rate should bring before it is judged
	longestTested = 6  // steps that a low rate may take to bring them
)

// Trial is how long a load is tested: settle is left to the server to get used to it, then requests are judged, at a
// low rate for longer, until there are enough of them.
func (f *Find) Trial(load float64) (settle, judged time.Duration) {
	settle = f.Step / settlePart
	judged = f.Step - settle
	if f.Unit != Users && load > 0 {
		enough := min(fewestTested/load, longestTested*f.Step.Seconds())
		judged = max(judged, time.Duration(enough*float64(time.Second)))
	}
	return settle, judged
}

// SearchPhase is the state of a search.
type SearchPhase string

const (
	// SearchClimbing: each load that passes is followed by a higher one. SearchDraining: nothing is sent until the
	// queue that too much load left is gone. SearchNarrowing: between a load that passed and one that failed.
	// SearchHolding: the highest is held for long.
	SearchClimbing  SearchPhase = "climbing"
	SearchDraining  SearchPhase = "draining"
	SearchNarrowing SearchPhase = "narrowing"
	SearchHolding   SearchPhase = "holding"
	// SearchDone: nothing is left to test.
	SearchDone SearchPhase = "done"
)

// SearchStep is what a search tells with the event that begins a step or ends the search.
type SearchStep struct {
	Phase SearchPhase
	// Tested is the load of the step before that is over, 0 for a step that tested none.
	Tested float64
	// Tiers of the plan in order, one for a run without tiers.
	Tiers []SearchTier
}

// SearchTier is a tier in a search: its verdict on the load that was tested, and its border so far.
type SearchTier struct {
	// Requests of the tested load count, Good of them met the objectives. Within: that was enough, and the load was
	// completed.
	Requests, Good int
	Within         bool
	// Passed is the highest load that passed, Failed the lowest above it that did not; 0 for none.
	Passed, Failed float64
}

// Search is a search for the highest load so far. Loads are in requests per second, or in users.
type Search struct {
	Unit  Unit
	Phase SearchPhase
	// Load is tested or held now; 0 while draining and when done.
	Load float64
	// Passed is the highest load that passed, Failed the lowest that did not; 0 for none. Found: Passed was held to the
	// end.
	Passed, Failed float64
	Found          bool
	// Tiers are the borders of all tiers, the first with Passed and Failed; none before a load was tested.
	Tiers []SearchTier
	// Tested are the loads so far in order, without that of now.
	Tested []TestedLoad
	// Left is about how long the search still takes, at the moment of the snapshot. AtLeast: it takes longer if the
	// next load passes.
	Left    time.Duration
	AtLeast bool

	began   time.Duration // of the step
	held    bool          // the search came to hold a load
	drained time.Duration // the last break
}

// TestedLoad is a load of a search, and whether it passed. Held: for long, at the end. Others are the verdicts of the
// tiers after the first.
type TestedLoad struct {
	Load         float64
	Passed, Held bool
	Others       []bool
}

// Take follows the search by the events of a run. A load by hand ends it: then there is none. Searches of older
// versions do not tell their steps, and their loads tell the outcomes.
func (s *Search) Take(e *LogEntry) *Search {
	switch set := e.Set; {
	case e.Search != nil:
		if s == nil {
			if s = new(Search); set != nil {
				s.Unit = set.Unit
			}
		}
		s.step(e)
	case e.Mark == FoundMark, e.Mark == NotFoundMark:
		if s != nil && s.Phase != SearchDone {
			s.end(e.Mark == FoundMark)
		}
	case set == nil, set.By == ByConfirm: // which comes after the search
	case set.By != BySearch:
		return nil
	case set.Paused:
		if s != nil {
			s.outcome(false)
			s.Phase, s.Load, s.began = SearchDraining, 0, e.At
		}
	default:
		if s == nil {
			s = &Search{Unit: set.Unit}
		}
		s.test(set.LoadAt(0), e.At)
	}
	return s
}

// step goes on to the next step.
func (s *Search) step(e *LogEntry) {
	x := e.Search
	if s.Phase == SearchDraining {
		s.drained = max(0, e.At-s.began)
	}
	if x.Tested > 0 && len(x.Tiers) > 0 {
		t := TestedLoad{Load: x.Tested, Passed: x.Tiers[0].Within, Held: s.Phase == SearchHolding}
		for _, tier := range x.Tiers[1:] {
			t.Others = append(t.Others, tier.Within)
		}
		s.Tested, s.Tiers = append(s.Tested, t), x.Tiers
		s.Passed, s.Failed = x.Tiers[0].Passed, x.Tiers[0].Failed
	}
	s.Phase, s.Load, s.began, s.Found = x.Phase, 0, e.At, e.Mark == FoundMark
	s.held = s.held || x.Phase == SearchHolding
	if e.Set != nil && !e.Set.Paused {
		s.Load = e.Set.LoadAt(0)
	}
}

// test begins the test of a load, which tells the outcome of the one before.
func (s *Search) test(load float64, at time.Duration) {
	if s.Phase == SearchDraining {
		s.drained = max(0, at-s.began)
	} else {
		s.outcome(true)
	}
	switch {
	case s.held || s.Passed > 0 && load <= s.Passed:
		s.Phase, s.held = SearchHolding, true
	case s.Failed == 0:
		s.Phase = SearchClimbing
	default:
		s.Phase = SearchNarrowing
	}
	s.Load, s.began = load, at
}

// outcome files that of the load of now.
func (s *Search) outcome(passed bool) {
	if s.Load == 0 {
		return
	}
	s.Tested = append(s.Tested, TestedLoad{Load: s.Load, Passed: passed, Held: s.Phase == SearchHolding})
	switch {
	case passed:
		s.Passed = s.Load
	case s.Phase == SearchHolding: // what passed for a while may not last either
		s.Passed, s.Failed = 0, s.Load
	default:
		s.Failed = s.Load
	}
}

func (s *Search) end(found bool) {
	s.outcome(found)
	s.Phase, s.Load, s.Found = SearchDone, 0, found
}

// Stopped is the search at the end of the load, which may come before its own.
func (s *Search) Stopped() {
	if s != nil && s.Phase != SearchDone {
		s.Phase, s.Load = SearchDone, 0
	}
}

// At is the search for a snapshot, with the time left of a plan; nil for none.
func (s *Search) At(now time.Duration, p *Plan) *Search {
	if s == nil {
		return nil
	}
	out := *s
	out.Tested = slices.Clip(s.Tested)
	if p.Find == nil || s.Phase == SearchDone {
		return &out
	}
	out.AtLeast = s.Phase == SearchClimbing || !s.held && s.Passed == 0
	f := *p.Find
	f.Hold = min(max(0, f.Hold), LongestRun)
	out.Left = s.left(&f, now-s.began, out.AtLeast)
	if rest := p.Duration - now; p.Duration > 0 && out.Left >= rest {
		out.Left, out.AtLeast = max(0, rest), false
	}
	return &out
}

// left is the time that a search takes from here, with passed of its step behind it: the least, or an estimate from
// above, in which every load of the bisection fails, so that a break follows it.
func (s *Search) left(f *Find, passed time.Duration, least bool) time.Duration {
	rest := func(whole time.Duration) time.Duration { return max(0, whole-passed) }
	narrow := func(low, high float64) time.Duration { return s.narrow(f, low, high, least) }
	now := rest(trial(f, s.Load))
	switch {
	case s.Phase == SearchHolding:
		return rest(f.Hold)
	case s.Phase == SearchDraining && s.held:
		return rest(s.drain(f)) + f.Hold
	case s.Phase == SearchDraining && s.Passed == 0:
		return trial(f, s.Failed/2) + narrow(s.Failed/2, s.Failed)
	case s.Phase == SearchDraining:
		return rest(s.drain(f)) + narrow(s.Passed, s.Failed)
	case s.Phase == SearchClimbing:
		low := cmp.Or(s.Passed, s.Load/2)
		return now + min(narrow(low, s.Load), s.climb(f))
	case s.Passed == 0:
		return now + narrow(s.Load, s.Failed)
	}
	return now + s.drain(f) + narrow(s.Passed, s.Load)
}

// climb is the time from a load that passes until the search is over if all higher ones pass.
func (s *Search) climb(f *Find) time.Duration {
	left, load := f.Hold, s.Load
	for range mostClimbs {
		if !(load < f.Most) {
			break
		}
		next := load * longestClimb
		if f.Unit == Users {
			next = max(math.Floor(next), load+1)
		}
		load = min(next, f.Most)
		left += trial(f, load)
	}
	return left
}

// narrow is the time from a load that passed and one that failed until the search is over.
func (s *Search) narrow(f *Find, low, high float64, least bool) time.Duration {
	left := f.Hold
	for high-low > max(SearchPrecision*low, wholeStep(f)) {
		next := math.Sqrt(low * high)
		if f.Unit == Users {
			next = min(max(math.Floor(next), low+1), high-1)
		}
		if next <= low || next >= high {
			break
		}
		if left += trial(f, next); !least {
			_, judged := f.Trial(next)
			longer := min(max(1, 1/math.Log(high/low)), LongestStep) - 1
			left += s.drain(f) + time.Duration(longer*float64(min(max(0, judged), LongestRun)))
		}
		low = next
	}
	return left
}

// wholeStep is the distance of two loads that have none between them.
func wholeStep(f *Find) float64 {
	if f.Unit == Users {
		return 1
	}
	return 0
}

// drain is about the length of a break: the last, since queues get shorter the nearer the search is to its end.
func (s *Search) drain(f *Find) time.Duration { return cmp.Or(s.drained, f.Step) }

// trial is the length of a test; a plan in a file may have any.
func trial(f *Find, load float64) time.Duration {
	settle, judged := f.Trial(load)
	return min(max(0, settle), LongestRun) + min(max(0, judged), LongestRun)
}

// mostClimbs bounds the loads that an estimate looks ahead.
const mostClimbs = 50

// String is the state of the search for a person, without the time left.
func (s *Search) String() string {
	load, number := s.Unit.Text, LoadNumber
	failed := s.Failed
	if n := len(s.Tested); n > 0 {
		failed = s.Tested[n-1].Load
	}
	switch {
	case s.Phase == SearchDone && s.Found:
		return load(s.Passed) + " held"
	case s.Phase == SearchDone:
		return "no load found"
	case s.Phase == SearchDraining:
		return load(failed) + " failed; waiting for the queue to drain"
	case s.Phase == SearchHolding:
		return "holding " + load(s.Load)
	case s.Passed == 0 && s.Failed == 0, len(s.Tiers) > 1: // several tiers have a border each
		return "testing " + load(s.Load)
	case s.Failed == 0:
		return load(s.Passed) + " passed; testing " + number(s.Load)
	case s.Passed == 0:
		return load(s.Failed) + " failed; testing " + number(s.Load)
	}
	return fmt.Sprintf("%s passed, %s failed; testing %s", load(s.Passed), number(s.Failed), number(s.Load))
}
