package shape

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"benchtop/datasets/numpy"
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
	return Stages{b.until(stages), stages, burstiness}
}

// Validate reports stages of too many requests.
func (s Stages) Validate() []error {
	var expected float64
	for _, stage := range trim(s.Stages, s.Duration) {
		expected += stage.Rate * stage.Length.Seconds()
	}
	return tooMany(s.atMostAsked(expected))
}

// Times draws the arrivals of a process whose rate is that of the stage it is in, up to the end, at most MostArrivals. A stage
// without a rate is a pause, and so is the time between two stages.
func (s Stages) Times(draws *numpy.Legacy) []time.Duration {
	left, before := trim(s.Stages, s.Duration), 0.0 // the stages from the current one on, arrivals expected before it
	inverse := func(n float64) time.Duration {
		for ; len(left) > 0; left = left[1:] {
			stage := left[0]
			if stage.Rate > 0 {
				// An arrival on the edge belongs to what follows, and thus is not in a pause.
				if at := Nanoseconds((n - before) / stage.Rate); at < stage.Length {
					return stage.Start + max(at, 0)
				}
				before += stage.Rate * stage.Length.Seconds()
			}
		}
		return math.MaxInt64
	}
	return s.cut(mapArrivals(inverse, s.Duration, MostArrivals, s.Burstiness, draws))
}

// Peak is the highest rate.
func (s Stages) Peak(requests int) Demand {
	d := s.Bounds.Peak(requests)
	for _, stage := range trim(s.Stages, s.Duration) {
		d.RequestsPerSecond = max(d.RequestsPerSecond, stage.Rate)
	}
	return d
}

// Describe lists the rates.
func (s Stages) Describe(int) string {
	return describe(trim(s.Stages, s.Duration), "req/s") + s.atMost()
}

func (s Stages) enter(p *metrics.Plan, _ int) {
	p.Stages = trim(s.Stages, s.Duration)
	s.count(p)
}

// until are the bounds of a load of stages.
func (b Bounds) until(stages []metrics.Stage) Bounds {
	if end := stages[len(stages)-1].End(); b.Duration == 0 || end < b.Duration {
		b.Duration = end
	}
	return b
}

// trim are the stages up to the end of the run.
func trim(stages []metrics.Stage, end time.Duration) []metrics.Stage {
	stages = slices.Clone(stages)
	for i := range stages {
		left := end - stages[i].Start
		if left <= 0 {
			return stages[:i]
		}
		stages[i].Length = min(stages[i].Length, left)
	}
	return stages
}

// describe lists the loads of stages, or the first and the last of many.
func describe(stages []metrics.Stage, unit string) string {
	const most = 6
	if len(stages) > most {
		return fmt.Sprintf("%d stages from %s to %s", len(stages), stages[0], stages[len(stages)-1])
	}
	var loads []string
	for _, s := range stages {
		loads = append(loads, strings.TrimSuffix(s.String(), " "+unit))
	}
	return fmt.Sprintf("stages of %s %s", strings.Join(loads, ", "), unit)
}
