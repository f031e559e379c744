package shape

import (
	"fmt"
	"math"
	"time"

	"benchtop/internal/hf/numpy"
	"benchtop/metrics"
)

// Search looks for the highest load within objectives. It sets the rate, or the number of users.
type Search struct {
	Bounds
	Find metrics.Find
	// Within are the objectives in words.
	Within string
}

// A step of a search takes at least ShortestStep.
const (
	ShortestStep = time.Second
	longestStep  = time.Hour
)

// NewSearch begins with the users of a search in users.
func NewSearch(b Bounds, f metrics.Find, within string) Search {
	if f.Unit == metrics.Users {
		b.Limit = int(f.From)
	}
	return Search{b, f, within}
}

// Endless is true: the search ends the run.
func (s Search) Endless() bool { return true }

// Validate reports every number that is out of its range.
func (s Search) Validate() (all []error) {
	bad := func(format string, a ...any) { all = append(all, fmt.Errorf(format, a...)) }
	for _, x := range []struct {
		name string
		v    float64
	}{{"find-from", s.Find.From}, {"find-most", s.Find.Most}} {
		switch {
		case !(x.v > 0) || x.v > HighestRate:
			bad("--%s %g: must be above 0 and at most %g", x.name, x.v, HighestRate)
		case s.Find.Unit == metrics.Users && x.v != math.Floor(x.v):
			bad("--%s %g: users are whole numbers", x.name, x.v)
		}
	}
	if s.Find.From > s.Find.Most {
		bad("--find-from %g: must not be more than --find-most %g", s.Find.From, s.Find.Most)
	}
	if s.Find.Step < ShortestStep || s.Find.Step > longestStep {
		bad("--find-step %s: must be from %s to %s", s.Find.Step, ShortestStep, longestStep)
	}
	if s.Find.Hold < ShortestStep || s.Find.Hold > LongestRun {
		bad("--find-hold %s: must be at least %s and at most a year", s.Find.Hold, ShortestStep)
	}
	return all
}

// Arrivals are none: the search makes them.
func (s Search) Arrivals(int, []time.Duration, *numpy.Legacy) Arrivals {
	if s.Find.Unit == metrics.Users {
		return s.closed(0)
	}
	return s.open(nil)
}

// Peak is the load that the search begins with.
func (s Search) Peak(int) Demand { return Users{s.Bounds}.Peak(0) }

// Describe is the range, the objectives and how long the result is held.
func (s Search) Describe(_ int, arriving metrics.Unit) string {
	if s.Find.Unit == metrics.Users {
		arriving = metrics.Users
	}
	most := arriving.Text(s.Find.Most)
	return fmt.Sprintf("search %s to %s for the highest load within %s, held for %s",
		metrics.LoadNumber(s.Find.From), most, s.Within, metrics.Duration(s.Find.Hold))
}

func (s Search) enter(p *metrics.Plan, _ int) {
	if p.Find = &s.Find; s.Find.Unit != metrics.Users {
		p.Rate = metrics.Rate(s.Find.From)
	}
}
