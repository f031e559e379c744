package tui

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"

	"benchtop/internal/race"
	"benchtop/metrics"
	liveview "benchtop/metrics/live"
	"benchtop/metrics/report"
	"benchtop/tui/screen"
)

var update = flag.Bool("update", false, "write golden files")

// childEnv makes the test binary stand for any program that imports the dashboard, see the pty test.
const childEnv = "BENCHTOP_TUI_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "":
		os.Exit(m.Run())
	case "dashboard":
		snapshots := make(chan metrics.Snapshot, 1)
		snapshots <- mid()
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) // when it was seen
		defer stop()
		if err := Run(ctx, Options{Snapshots: snapshots, Control: &control{}}); ctx.Err() == nil || err == nil {
			panic(err)
		}
	default:
		fmt.Println("ready")
	}
}

// golden compares got with a file, or writes it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; write it with -update", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-want +got), look and run with -update:\n%s", file, diff)
	}
}

// snapshotAt is the ramp at a moment, exactly.
func snapshotAt(at time.Duration, failures bool) metrics.Snapshot {
	rec := liveview.NewView(time.Now().Add(-at), rampPlan())
	rec.SetSaving(metrics.Saving{Path: "benchtop-results/2026-11-21-1230.json"})
	rec.Log(metrics.LogEntry{Level: metrics.Info, Text: "GET /v1/models ok: Qwen/Qwen3-32B, max_model_len 32768"})
	if at > 20*time.Second {
		rec.Log(metrics.LogEntry{At: 20 * time.Second, Level: metrics.Warn, Text: "held grew 5 s in a row (12): past saturation?"})
	}
	play(rec, rampRequests(at, failures), at)
	return sampled(exactly(rec.Snapshot(), at), nil, nil)
}

// exactly takes back the moments that passed while a snapshot was made.
func exactly(s metrics.Snapshot, at time.Duration) metrics.Snapshot {
	s.At = at
	s.Windows = slices.Clip(s.Windows[:min(len(s.Windows), int(at/time.Second)+1)])
	return s
}

var (
	young = sync.OnceValue(func() metrics.Snapshot { return snapshotAt(7200*time.Millisecond, false) })
	mid   = sync.OnceValue(func() metrics.Snapshot { return snapshotAt(62400*time.Millisecond, false) })
	bad   = sync.OnceValue(func() metrics.Snapshot { return snapshotAt(62400*time.Millisecond, true) })
	done  = sync.OnceValue(func() metrics.Snapshot {
		const end = 71700 * time.Millisecond
		all := rampRequests(60*time.Second, true)
		rec := liveview.NewView(time.Now().Add(-end), rampPlan())
		rec.SetSaving(metrics.Saving{Path: "benchtop-results/2026-11-21-1230.json"})
		play(rec, all, end)
		var seq iter.Seq2[metrics.Request, error] = func(yield func(metrics.Request, error) bool) {
			for _, q := range all {
				if !yield(*q, nil) {
					return
				}
			}
		}
		report, err := report.Summarize(seq, metrics.Run{Plan: *rampPlan(), Ended: end})
		if err != nil {
			panic(err)
		}
		rec.Finish(&report)
		return sampled(exactly(rec.Snapshot(), end), nil, nil)
	})
)

// control counts what the keys asked for.
type control struct {
	NoControl
	most           float64 // what is refused is more than this; 0 for nothing
	mu             sync.Mutex
	drains, aborts int
	orders         []metrics.Command
	objectives     []metrics.SLO
	looks          []metrics.Look
	saves          int
}

func (c *control) Command(o metrics.Command) (said string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch o.Do {
	case metrics.Drain:
		c.drains++
		return "", true
	case metrics.Abort:
		c.aborts++
		return "", true
	case metrics.Save:
		c.saves++
		return "saved so far", true
	case metrics.SetObjectives:
		c.objectives = append(c.objectives, o.Objectives)
		return "objectives set", true
	}
	c.orders = append(c.orders, o)
	if c.most > 0 && o.Value > c.most {
		return "too much", false
	}
	return "ordered", true
}
func (c *control) Look(l metrics.Look) { c.looks = append(c.looks, l) }

// open returns a model of a size that shows s.
func open(s metrics.Snapshot, w, h int, p termenv.Profile) *model {
	m := newModel(Options{Control: &control{}, HeaderEvery: 500 * time.Millisecond, ChartsEvery: time.Second}, screen.NewPalette(p))
	m.next = func() tea.Msg { return nil }
	m.tick = func() tea.Cmd { return nil }
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	m.Update(snapshotMsg{s})
	return m
}

// press types keys by their names.
func press(m *model, keys ...string) tea.Cmd {
	var cmd tea.Cmd
	for _, k := range keys {
		_, cmd = m.Update(key(k))
	}
	return cmd
}

func key(name string) tea.KeyMsg {
	for t, n := range map[tea.KeyType]string{
		tea.KeyTab: "tab", tea.KeyShiftTab: "shift+tab", tea.KeyEnter: "enter", tea.KeyEsc: "esc", tea.KeyUp: "up",
		tea.KeyDown: "down", tea.KeyLeft: "left", tea.KeyRight: "right", tea.KeyPgUp: "pgup", tea.KeyPgDown: "pgdown",
		tea.KeyCtrlC: "ctrl+c", tea.KeyCtrlL: "ctrl+l", tea.KeyHome: "home", tea.KeyEnd: "end",
		tea.KeyBackspace: "backspace", tea.KeyCtrlU: "ctrl+u", tea.KeyDelete: "delete",
	} {
		if n == name {
			return tea.KeyMsg{Type: t}
		}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// leftOut reports whether a long loop leaves a turn out: under the race detector all but one in so many. One goroutine draws there, by
// itself, so that there is nothing to find.
func leftOut(turn, every int) bool { return race.Enabled && turn%every != 0 }

// axisWidth is what the vertical axis of a chart takes.
const axisWidth = 6

// exact fails unless the screen is w columns by h lines.
func exact(t *testing.T, shown string, w, h int, what string) {
	t.Helper()
	if w == 0 || h == 0 {
		return
	}
	lines := strings.Split(shown, "\n")
	if len(lines) != h {
		t.Fatalf("%s at %dx%d: %d lines", what, w, h, len(lines))
	}
	for i, l := range lines {
		if got := ansi.StringWidth(l); got != w {
			t.Fatalf("%s at %dx%d: line %d is %d columns wide: %q", what, w, h, i+1, got, l)
		}
	}
}
