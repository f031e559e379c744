package tui

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"benchtop/metrics"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

// childEnv makes the test binary stand for any program that imports the dashboard, see the pty test.
const childEnv = "BENCHTOP_TUI_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "":
		os.Exit(m.Run())
	case "dashboard":
		snapshots := make(chan metrics.Snapshot, 1)
		snapshots <- tuitest.Mid()
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) // when it was seen
		defer stop()
		if err := Run(ctx, Options{Snapshots: snapshots, Control: &control{}}); ctx.Err() == nil || err == nil {
			panic(err)
		}
	case "over":
		snapshots := make(chan metrics.Snapshot)
		close(snapshots)
		if err := Run(context.Background(), Options{Snapshots: snapshots, Control: &control{}, Exit: true}); err !=
			nil {
			panic(err)
		}
	default:
		fmt.Println("ready")
	}
}

// control counts the commands of keys.
type control struct {
	NoControl
	most           float64 // larger loads are refused; 0 for none
	mu             sync.Mutex
	drains, aborts int
	orders         []metrics.Command
	objectives     []metrics.SLO
	looks          []metrics.Inspection
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

func (c *control) Inspect(l metrics.Inspection) { c.looks = append(c.looks, l) }

// open returns a model of a size that shows s.
func open(s metrics.Snapshot, w, h int, p termenv.Profile) *model {
	m := newModel(Options{Control: &control{}, HeaderEvery: 500 * time.Millisecond, ChartsEvery: time.Second},
		screen.NewPalette(p))
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
		tea.KeyCtrlC: "ctrl+c", tea.KeyCtrlZ: "ctrl+z", tea.KeyCtrlL: "ctrl+l", tea.KeyHome: "home", tea.KeyEnd: "end",
		tea.KeyBackspace: "backspace", tea.KeyCtrlU: "ctrl+u", tea.KeyDelete: "delete",
	} {
		if n == name {
			return tea.KeyMsg{Type: t}
		}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}
