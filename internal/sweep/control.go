package sweep

import (
	"context"
	"fmt"
	"slices"
	"time"

	"benchtop/metrics/grid"
)

// Snapshots are the sweep as it goes, about twice a second, the latest one only. They end with the sweep.
func (s *Sweep) Snapshots() <-chan grid.Snapshot { return s.out }

func (s *Sweep) publishUntil(done <-chan struct{}) {
	const every = 500 * time.Millisecond
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		s.publish()
		select {
		case <-tick.C:
		case <-done:
			return
		}
	}
}

// publish replaces a snapshot that has not been taken. Only one goroutine calls it at a time.
func (s *Sweep) publish() {
	now := s.snapshot()
	for {
		select {
		case s.out <- now:
			return
		default:
		}
		select {
		case <-s.out:
		default:
		}
	}
}

func (s *Sweep) snapshot() grid.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	shot := grid.Snapshot{
		Title: s.o.Title, Dir: s.o.Dir, Word: s.o.Word, Part: s.o.Part, Whole: s.o.Whole,
		Current: s.current, CurrentRun: s.number, Server: s.state, Variable: s.o.Variable,
		Searches: slices.Clone(s.search), Elapsed: time.Since(s.started), Notice: s.notice, Over: s.over,
		Summary: s.summary, Table: s.shown,
	}
	shot.Server.Log = slices.Clone(s.state.Log[max(0, len(s.state.Log)-logShown):])
	shot.Server.Since = time.Since(s.since)
	for _, c := range s.cells {
		copied := c.Cell
		copied.Runs = slices.Clone(copied.Runs)
		shot.Cells = append(shot.Cells, copied)
	}
	shot.Left, shot.LeftKnown = s.left()
	return shot
}

// Skip leaves out what is missing of a combination, the run in progress too where others follow. It returns what
// happens, for a person.
func (s *Sweep) Skip(i int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case i < 0 || i >= len(s.cells) || s.over:
		return ""
	case i != s.current:
		s.cells[i].end(grid.Skipped)
		return "skipped; r repeats it"
	}
	s.cells[i].skip = true
	if len(s.cells) == 1 && s.o.Variable == "" {
		return "no run begins after this one"
	}
	if s.cut != nil {
		s.cut(errSkipped)
	}
	return "skipping it"
}

// Repeat has a combination that is over measured once more, at the end. It returns what happens, for a person.
func (s *Sweep) Repeat(i int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case i < 0 || i >= len(s.cells) || s.over:
		return ""
	case !slices.Contains(s.again, i):
		s.again = append(s.again, i)
	}
	return "it is repeated at the end"
}

// Stop ends the sweep: the run in progress is cut, and the server stopped. What was measured stays and can be resumed.
func (s *Sweep) Stop() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || s.stop == nil {
		return ""
	}
	s.stop(ErrStopped)
	return "stopping"
}

// searching shows what the search for a pair of parameters knows, beside those for other pairs.
func (s *Sweep) searching(of Combination, all []grid.Search) {
	s.mu.Lock()
	defer s.mu.Unlock()
	server, bench := of.Server.String(), of.Bench.String()
	s.search = slices.DeleteFunc(s.search, func(x grid.Search) bool { return x.Server == server && x.Bench == bench })
	for _, x := range all {
		x.Server, x.Bench = server, bench
		s.search = append(s.search, x)
	}
}

// nextRepeat is the next combination to be measured once more, nil for none.
func (s *Sweep) nextRepeat() *cell {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.again) == 0 {
		return nil
	}
	c := s.cells[s.again[0]]
	s.again, c.skip = s.again[1:], false
	return c
}

func (s *Sweep) skipped(c *cell) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.skip
}

// enter makes a combination the current one. It reports whether any of its first runs is left to do.
func (s *Sweep) enter(c *cell, runs int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.plan(runs)
	if !slices.ContainsFunc(c.Cell.Runs[:runs], func(r grid.Run) bool { return !r.State.Over() }) {
		return false
	}
	s.current = slices.Index(s.cells, c)
	c.Cell.State = grid.Running
	return true
}

// reset makes the runs of a combination ones to do: those without a record, or all.
func (s *Sweep) reset(c *cell, missing bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range c.Cell.Runs {
		if _, kept := c.records[n]; !missing || !kept {
			c.Cell.Runs[n] = grid.Run{Number: n, State: grid.Waiting}
		}
	}
}

// leave notes how a combination ended.
func (s *Sweep) leave(c *cell) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = -1
	for i, r := range c.Cell.Runs {
		if !r.State.Over() && (c.skip || s.o.DryRun) {
			c.Cell.Runs[i].State = grid.Skipped
		}
	}
	for _, state := range []grid.State{grid.Failed, grid.Waiting, grid.Skipped, grid.Done, grid.Found} {
		if slices.ContainsFunc(c.Cell.Runs, func(r grid.Run) bool { return r.State == state }) {
			c.Cell.State = state
			return
		}
	}
}

// running notes the run in progress, and how to cut it; nil when it is over.
func (s *Sweep) running(c *cell, number int, cut context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut, s.number = cut, number
	if cut != nil && number >= 0 {
		c.Cell.Runs[number] = grid.Run{Number: number, State: grid.Running}
	}
}

// mark notes how a run ended.
func (s *Sweep) mark(c *cell, number int, r grid.Run) {
	if number < 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Number = number
	c.Cell.Runs[number] = r
}

func (s *Sweep) note(format string, a ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notice = fmt.Sprintf(format, a...)
}
