package shape

import "benchtop/metrics"

// UserStages are numbers of users without pause, one after the other. Limit is that of the first; the run sets it anew as a stage
// begins.
type UserStages struct {
	Users
	Stages []metrics.Stage
}

// NewUserStages ends the load with its last stage, or with the duration if it is shorter.
func NewUserStages(b Bounds, stages []metrics.Stage) UserStages {
	b.Limit = stages[0].Users
	return UserStages{Users{b.until(stages)}, stages}
}

// Peak is the largest number of users, those of the first stage from the start.
func (s UserStages) Peak(requests int) Demand {
	most := s.Bounds
	for _, stage := range s.Stages {
		most.Limit = max(most.Limit, stage.Users)
	}
	d := most.Peak(requests)
	d.Ahead = s.Limit
	return d
}

// Describe lists the numbers of users.
func (s UserStages) Describe(int) string { return describe(trim(s.Stages, s.Duration), "users") }

func (s UserStages) enter(p *metrics.Plan, _ int) { p.Stages = trim(s.Stages, s.Duration) }
