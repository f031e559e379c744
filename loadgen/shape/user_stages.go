package shape

import "benchtop/metrics"

// UserStages are numbers of users without pause, one after the other. Limit is that of the first; the run sets it anew as a stage
// begins.
type UserStages struct {
	Users
	Stages []metrics.Stage
	most   int
}

// NewUserStages ends the load with its last stage, or with the duration if it is shorter.
func NewUserStages(b Bounds, stages []metrics.Stage) UserStages {
	most := 0
	for _, s := range stages {
		most = max(most, s.Users)
	}
	b.Limit = stages[0].Users
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
func (s UserStages) Describe(int) string { return describe(s.Stages, "users") }

func (s UserStages) enter(p *metrics.Plan, _ int) { p.Stages = s.Stages }
