package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"benchtop/metrics/grid"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

// sweepControl notes the commands of keys.
type sweepControl struct{ did []string }

func (c *sweepControl) note(words string) string { c.did = append(c.did, words); return words }
func (c *sweepControl) Skip(cell int) string     { return c.note(fmt.Sprint("skip ", cell)) }
func (c *sweepControl) Repeat(cell int) string   { return c.note(fmt.Sprint("repeat ", cell)) }
func (c *sweepControl) Stop() string             { return c.note("stop") }

// openSweep returns a model of a size that shows s.
func openSweep(s grid.Snapshot, w, h int) (*sweepModel, *sweepControl) {
	control := &sweepControl{}
	m := newSweepModel(SweepOptions{Control: control}, screen.NewPalette(termenv.Ascii))
	m.next = func() tea.Msg { return nil }
	m.nextRun = m.next
	m.tick = func() tea.Cmd { return nil }
	m.dashboard = func(o Options) *model {
		run := newModel(o, m.palette)
		run.prep = &preparationScreen{of: o.Preparation, now: time.Now(), wait: func() tea.Msg { return nil }}
		run.next, run.tick = m.next, m.tick
		return run
	}
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	m.Update(sweepMsg{&s})
	return m, control
}

func pressSweep(m *sweepModel, keys ...string) (cmd tea.Cmd) {
	for _, k := range keys {
		_, cmd = m.Update(key(k))
	}
	return cmd
}

var sweepStates = []struct {
	name string
	of   func() grid.Snapshot
	keys []string
}{
	{"grid", tuitest.Sweep, nil}, {"search", tuitest.SweepSearch, nil}, {"starting", tuitest.SweepStarting, nil},
	{"done", tuitest.SweepDone, nil},
	{"detail", tuitest.Sweep, []string{"g", "j", "j", "j", "enter"}}, {"log", tuitest.Sweep, []string{"l"}},
	{"help", tuitest.Sweep, []string{"?"}},
	{"repeats", tuitest.Repeats, nil}, {"control", tuitest.Control, nil},
	{"repeated", tuitest.Repeated, nil}, {"foreign", tuitest.Foreign, nil},
	{"stop", tuitest.Sweep, []string{"q"}},
	{"sorted", tuitest.Sweep, []string{"S", "/", "f", "r", "o", "n", "t", "enter"}},
}

// The screen of a sweep, in every state at three sizes and at small ones.
func TestSweepScreens(t *testing.T) {
	for _, st := range sweepStates {
		for i, size := range [][2]int{{80, 24}, {120, 40}, {200, 50}, {60, 15}, {30, 5}} {
			m, _ := openSweep(st.of(), size[0], size[1])
			pressSweep(m, st.keys...)
			got := m.View()
			tuitest.Exact(t, got, size[0], size[1], st.name)
			all := slices.Contains([]string{"grid", "search", "done"}, st.name)
			if all || i == 1 || i == 2 && st.name == "foreign" {
				tuitest.Golden(t, fmt.Sprintf("sweep/%s_%dx%d.txt", st.name, size[0], size[1]), got+"\n")
			}
		}
	}
}

// The screen of a sweep keeps within the bytes of the dashboard, while the log of the server scrolls.
func TestSweepBytes(t *testing.T) {
	const seconds = 5
	for _, c := range []struct{ w, h, most int }{{80, 24, 4_000}, {120, 40, 8_000}, {200, 50, 16_000}} {
		s := tuitest.Sweep()
		m, _ := openSweep(s, c.w, c.h)
		m.palette = screen.NewPalette(termenv.TrueColor)
		m.show()
		before, sent := strings.Split(m.View(), "\n"), 0
		for k := range 2 * seconds {
			s.Elapsed += 500 * time.Millisecond
			s.Server.Log = append(s.Server.Log[1:],
				fmt.Sprintf("INFO Engine 000: Avg prompt throughput: %d tokens/s", 3000+k))
			now := s
			m.Update(sweepMsg{&now})
			m.Update(tickMsg{})
			lines := strings.Split(m.View(), "\n")
			sent, before = sent+rewritten(before, lines), lines
		}
		if rate := sent / seconds; rate > c.most {
			t.Errorf("%dx%d: %d bytes a second, at most %d", c.w, c.h, rate, c.most)
		}
	}
}
