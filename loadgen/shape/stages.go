package shape

import (
	"fmt"
	"math"
	"strings"
	"time"

	"benchtop/internal/hf/numpy"
	"benchtop/metrics"
)

// Stages are rates one after the other.
type Stages struct {
	Bounds
	Stages     []metrics.Stage
	Burstiness float64 // as in Rate
}

// NewStages ends the load with its last stage, or with the duration if it is shorter.
func NewStages(b Bounds, stages []metrics.Stage, burstiness float64) Stages {
	b, stages = b.trim(stages)
	return Stages{b, stages, burstiness}
}

// Validate reports stages of too many requests.
func (s Stages) Validate() []error {
	var expected float64
	for _, stage := range s.Stages {
		expected += stage.Rate() * stage.Length.Seconds()
	}
	return s.tooMany(expected)
}

// Times draws the arrivals of a process whose rate is that of the stage it is in, up to the end, at most MostArrivals.
// A stage without a rate is a pause, and so is the time between two stages.
func (s Stages) Times(draws *numpy.Legacy) []time.Duration {
	left, before := s.Stages, 0.0 // the stages from the current one on, arrivals expected before it
	inverse := func(n float64) time.Duration {
		for ; len(left) > 0; left = left[1:] {
			stage := left[0]
			if stage.Rate() > 0 {
				// An arrival on the edge belongs to the next stage, and thus is not in a pause.
				if at := Nanoseconds((n - before) / stage.Rate()); at < stage.Length {
					return stage.Start + max(at, 0)
				}
				before += stage.Rate() * stage.Length.Seconds()
			}
		}
		return math.MaxInt64
	}
	return s.cut(mapArrivals(inverse, s.Duration, MostArrivals, s.Burstiness, draws))
}

// Peak is the highest rate.
func (s Stages) Peak(requests int) Demand {
	d := s.Bounds.Peak(requests)
	for _, stage := range s.Stages {
		d.RequestsPerSecond = max(d.RequestsPerSecond, stage.Rate())
	}
	return d
}

// Describe lists the rates.
func (s Stages) Describe(_ int, arriving metrics.Unit) string {
	return describe(s.Stages, arriving) + s.atMost(arriving)
}

func (s Stages) enter(p *metrics.Plan, _ int) {
	p.Stages = s.Stages
	s.count(p)
}

// trim are the stages up to the end of the run, and the bounds with that end: the duration, or the last stage if it is
// sooner.
func (b Bounds) trim(all []metrics.Stage) (Bounds, []metrics.Stage) {
	if end := all[len(all)-1].End(); b.Duration == 0 || end < b.Duration {
		b.Duration = end
	}
	var stages []metrics.Stage
	for _, s := range all {
		if left := b.Duration - s.Start; left > 0 {
			s.Length = min(s.Length, left)
			stages = append(stages, s)
		}
	}
	return b, stages
}

// describe lists the loads of stages, or the first and the last of many.
func describe(stages []metrics.Stage, unit metrics.Unit) string {
	const most = 6
	loads := metrics.Each(stages, func(s metrics.Stage) string { return fmt.Sprint(s.Value) })
	if n := len(loads); n > most {
		return fmt.Sprintf("%d stages from %s to %s", n, unit.Words(loads[0]), unit.Words(loads[n-1]))
	}
	return "stages of " + unit.Words(strings.Join(loads, ", "))
}

// UserStages are numbers of users without pause, one after the other. Limit is that of the first; the run sets it anew
// as a stage begins.
type UserStages struct {
	Users
	Stages []metrics.Stage
	most   int
}

// NewUserStages ends the load with its last stage, or with the duration if it is shorter.
func NewUserStages(b Bounds, stages []metrics.Stage) UserStages {
	most := 0
	for _, s := range stages {
		most = max(most, s.Users())
	}
	b.Limit = stages[0].Users()
	b, stages = b.trim(stages)
	return UserStages{Users{b}, stages, most}
}

// Peak is the largest number of users, those of the first stage from the start.
func (s UserStages) Peak(requests int) Demand {
	d := Bounds{Limit: s.most}.Peak(requests)
	d.Ahead = s.Limit
	return d
}

// Describe lists the numbers of users.
func (s UserStages) Describe(int, metrics.Unit) string { return describe(s.Stages, metrics.Users) }

func (s UserStages) enter(p *metrics.Plan, _ int) { p.Stages = s.Stages }
