package run

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

func (p Phase) String() string {
	return [phases]string{"running", "draining", "hanging up", "terminating", "aborting", "finishing",
		"finishing, asked once", "finishing, asked twice", "saved"}[p]
}

func (c command) String() string {
	return [commands]string{"drain", "abort", "interrupt", "quit", "terminate", "hang up", "detach", "screen left",
		"steer", "judge", "save so far", "refused", "load over", "saved"}[c]
}

func (e effects) String() (all string) {
	for i, name := range []string{"close screen", "hasten", "go on", "drain", "drain briefly", "cut", "end load",
		"hurry", "leave", "allow"} {
		if e&(1<<i) != 0 {
			all += ", " + name
		}
	}
	if all == "" {
		return "nothing"
	}
	return all[2:]
}

// TestSteps holds the whole table of phases and commands to testdata/steps.txt, a line for each pair that does
// something.
func TestSteps(t *testing.T) {
	var lines []string
	for p := range phases {
		for c := range commands {
			if to, do, ok := p.next(c); ok {
				lines = append(lines, fmt.Sprintf("%-21s %-12s → %-21s %s", p, c, to, do))
			}
		}
	}
	assert.Equal(t, len(lines), len(steps), "pairs with a row that says something")
	want := assert.Must(os.ReadFile(filepath.Join("testdata", "steps.txt")))(t)
	assert.Equal(t, strings.Join(lines, "\n")+"\n", string(want), "the table")
}

// The first q after the load ends the counting of tokens, whoever ended the load: that is all it can still end.
func TestDrainOnceTheLoadIsOver(t *testing.T) {
	for _, before := range [][]command{{loadOver}, {refused, loadOver}, {drain, loadOver}, {refused, drain, loadOver}} {
		phase := Running
		for _, c := range before {
			phase, _, _ = phase.next(c)
		}
		if _, do, ok := phase.next(drain); !ok || do != hurry {
			t.Errorf("after %v: %s", before, do)
		}
	}
}

// Every order of commands leads to a saved result, unless the run was asked to stop three times.
func TestEveryWayOutSaves(t *testing.T) {
	outside := []command{drain, abort, interrupt, quit, terminate, hangUp, detach, screenLeft, steer, judge, saveSoFar}
	// requests that each stands for
	asks := map[command]int{drain: 1, interrupt: 1, screenLeft: 1, terminate: 1, hangUp: 1, abort: 2, quit: 2}
	type state struct {
		phase Phase
		asked int
	}
	seen := map[state]bool{}
	var walk func(s state)
	walk = func(s state) {
		if s.asked = min(s.asked, 3); seen[s] {
			return
		}
		seen[s] = true
		for _, c := range outside {
			to, do, ok := s.phase.next(c)
			if !ok {
				continue
			}
			if to < s.phase && (s.phase >= Aborting || to == Running) {
				t.Errorf("%s leads from %s back to %s", c, s.phase, to)
			}
			n := max(s.asked+min(asks[c], 1), asks[c])
			if do&leave != 0 && n < 3 {
				t.Errorf("%s in %s leaves after %d requests to stop", c, s.phase, n)
			}
			walk(state{to, n})
		}
		if s.phase == Saved {
			return
		}
		own := loadOver
		if s.phase >= Finishing {
			own = saved
		}
		to, _, ok := s.phase.next(own)
		if !ok || to <= s.phase {
			t.Errorf("%s in %s leads nowhere", own, s.phase)
		}
		walk(state{to, s.asked})
	}
	walk(state{})
	for p := range phases {
		if !slices.ContainsFunc([]int{0, 1, 2, 3}, func(n int) bool { return seen[state{p, n}] }) {
			t.Errorf("%s is never reached", p)
		}
	}
}
