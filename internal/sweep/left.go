package sweep

import (
	"time"

	"benchtop/metrics/grid"
)

// mean is the mean of some lengths of time.
type mean struct {
	sum time.Duration
	n   int
}

func (m *mean) add(d time.Duration) { m.sum, m.n = m.sum+d, m.n+1 }

// times is about how long so many more of them take.
func (m *mean) times(n int) time.Duration {
	if m.n == 0 {
		return 0
	}
	return m.sum / time.Duration(m.n) * time.Duration(n)
}

// left is about how long the rest takes: the runs, and the starts of the servers that they need. It is not known before
// a run was measured. Its caller holds the lock.
func (s *Sweep) left() (about time.Duration, known bool) {
	var runs mean
	waiting := 0
	servers := map[string]bool{} // to start
	for _, c := range s.cells {
		for _, r := range c.Cell.Runs {
			switch {
			case r.State == grid.Done:
				runs.add(r.Took)
			case !r.State.Over() && c.Cell.State != grid.Linked:
				waiting++
				servers[c.Cell.Server] = true
			}
		}
	}
	if s.current >= 0 && s.state.State == grid.ServerReady {
		delete(servers, s.cells[s.current].Cell.Server)
	}
	about = runs.times(waiting) + s.starts.times(len(servers))
	if s.state.State == grid.ServerStarting {
		about -= min(time.Since(s.since), s.starts.times(1))
	}
	return about, runs.n > 0
}
