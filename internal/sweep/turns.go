package sweep

import (
	"context"

	"benchtop/metrics/grid"
)

// Turns measures all pairs in turn: their runs with the first number, those with the second, and so on.
type Turns struct {
	// Order is that of the pairs for a number, by their places among the pairs.
	Order func(number int) []int
	// Enough is told that all runs with a number are over, and says whether these are enough.
	Enough func(number int) bool
	// Together: the measurement of the first pair performs the run of each.
	Together bool
	begun    bool
}

// Planned is the pair as it is.
func (*Turns) Planned(pair Combination) []Combination { return []Combination{pair} }

// Drive measures all pairs at the first call.
func (t *Turns) Drive(ctx context.Context, s *Sweep, pair Combination) ([]Combination, error) {
	if t.begun {
		return []Combination{pair}, nil
	}
	t.begun = true
	for n := range s.o.Runs {
		for k, i := range t.Order(n) {
			if t.Together && k == 0 {
				for _, other := range s.o.Pairs {
					s.begun(s.cell(other), n)
				}
			}
			if _, err := s.measure(ctx, s.o.Pairs[i], n+1); err != nil {
				return nil, err
			}
		}
		if t.Enough(n) {
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.cells {
		c.end(grid.Skipped)
	}
	return []Combination{pair}, nil
}

// begun notes a run that another one performs.
func (s *Sweep) begun(c *cell, number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Cell.State = grid.Running
	c.Cell.Runs[number] = grid.Run{Number: number, State: grid.Running}
}

// Show shows a table beside the runs from here on.
func (s *Sweep) Show(t grid.Table) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = &t
}
