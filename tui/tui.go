// Package tui is the dashboard: it turns a metrics.Snapshot, a size and the keys pressed into a screen.
//
// It leaves out everything else: it opens no socket, reads no file and never learns how load is made. Snapshots come in
// on a channel, two wishes (drain, abort) go out through Control. Nobody ever waits for the screen.
//
//	snapshots ──> model (Bubble Tea's loop alone writes it) ──> layout: named rectangles
//	keys, size ──>   │                                              │
//	                 └─ drawing tick ──> view: plain data ──> panels draw on one canvas ──> one string
package tui

import (
	"benchtop/metrics"
	"benchtop/tui/panels"
	"benchtop/tui/screen"
	"benchtop/tui/term"
	"cmp"
	"context"
	"io"
	"os"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// Options say what the dashboard shows and what it may do.
type Options struct {
	// Snapshots is a channel of capacity 1 on which the latest wins. It is closed after the last snapshot of the run,
	// which stays on the screen.
	Snapshots <-chan metrics.Snapshot
	// Control is what keys may do to the run.
	Control Control
	// Preparation is shown until the run begins, which then brings Snapshots, Control and Baseline; nil if the run is on.
	Preparation *Preparation
	// Input and Output; nil means the terminal.
	Input  io.Reader
	Output io.Writer
	// Width and Height are the size of an Output that is no terminal; 0 means 80 by 24.
	Width, Height int
	// Exit leaves by itself when the run is done.
	Exit bool
	// HeaderEvery and ChartsEvery are how often header and panels are drawn; 0 means 500 ms and 1 s.
	HeaderEvery, ChartsEvery time.Duration
	// ASCII sends no byte above 0x7e, for fonts without braille and blocks and for terminals that do not speak UTF-8.
	// Foreign text is spelled with question marks. term.Plain suggests when.
	ASCII bool
	// Baseline is drawn behind the run; nil for none.
	Baseline *Baseline
	// Player makes keys play a run of the past; nil for a run that is on.
	Player Player
	// ReadOnly refuses all keys that would change the run, until the Control, if it is a Guest, says otherwise. Attached says
	// that the run belongs to another process, so that one can leave without ending it.
	ReadOnly, Attached bool
	// Report turns the report of a finished run into text for its page, at most so many columns wide; nil for no such page.
	Report func(r *metrics.Report, width int) string
	// Bandwidth is how many bytes a second may go to the terminal, on average, before charts are drawn less often; 0 means
	// what the size of the screen suggests.
	Bandwidth int
	// Record gets everything that goes to the terminal, as an asciicast; nil for nobody.
	Record io.Writer
	// Theme is one of Themes; "" means the first.
	Theme string
	// Mouse lets the mouse choose panels and pages, which takes the terminal's own selection away.
	Mouse bool
	// Quiet rings no bell when the run is over.
	Quiet bool
	// Color is how many colours to use: "none", "16", "256" or "true"; "" or "auto" means what the terminal says, and none
	// if NO_COLOR is set.
	Color string
}

// Control is what the dashboard can do to a run. Its methods are called from the dashboard's loop and must not block.
type Control interface {
	// Command asks something of the run. It returns a few words for the screen: what was done, or why not; ok says that the command
	// is followed. Where the answer takes time the words are "", and the answer comes as Snapshot.Notice.
	Command(metrics.Command) (said string, ok bool)
	// Inspect says what of single requests the next snapshots are to hold.
	Inspect(metrics.Inspection)
}

// Guest is a Control that may be given the run while one looks at it.
type Guest interface {
	Controls() bool
}

// NoControl is a run that nobody can do anything to.
type NoControl struct{}

// Command refuses.
func (NoControl) Command(metrics.Command) (said string, ok bool) {
	return "this run cannot be changed from here", false
}

// Inspect does nothing.
func (NoControl) Inspect(metrics.Inspection) {}

// Player is what keys may do to a run of the past.
type Player interface {
	// Play goes on, Pause stands still.
	Play()
	Pause()
	// SetSpeed plays at a multiple of the run's own speed.
	SetSpeed(float64)
	// Seek goes to a moment of the run.
	Seek(time.Duration)
}

// Baseline is an older run to compare with.
type Baseline = panels.Baseline

// ErrTerminal says that the terminal went away while the dashboard was on it.
var ErrTerminal = term.ErrLost

// Run shows the dashboard until the user leaves (nil), ctx ends (its cause) or the terminal is lost (ErrTerminal). Whether the user
// left before the run began is what the preparation's Seal says. The
// terminal is restored before it returns, if it still takes output. Leaving does not end the run: after a third q it may
// well go on.
func Run(ctx context.Context, o Options) error {
	if o.HeaderEvery <= 0 {
		o.HeaderEvery = 500 * time.Millisecond
	}
	if o.ChartsEvery <= 0 {
		o.ChartsEvery = time.Second
	}
	if o.Output == nil {
		o.Output = os.Stdout
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()

	w := term.NewWriter(o.Output)
	width, height := w.Size(o.Width, o.Height)
	if o.Record != nil {
		w.Record(o.Record, width, height)
	}
	m := newModel(o, screen.ThemePalette(cmp.Or(o.Theme, screen.Themes()[0]), screen.ColorProfile(o.Color, os.Getenv)))
	m.sent, m.resized = w.Sent, w.Resized
	m.aside = func(words string) tea.Cmd {
		return func() tea.Msg {
			w.Aside(words)
			return nil
		}
	}
	m.next = nextOf(inner, o.Snapshots)
	if o.Preparation != nil {
		m.prep = &preparing{of: o.Preparation, shown: o.Preparation.view(time.Now())}
		m.prep.wait = func() tea.Msg {
			select {
			case r := <-o.Preparation.run:
				return runMsg{r, nextOf(inner, r.snapshots)}
			case <-inner.Done():
				return nil
			}
		}
	}
	m.tick = func() tea.Cmd { return tea.Tick(o.HeaderEvery, func(time.Time) tea.Msg { return tickMsg{} }) }
	if !w.IsTerminal() {
		m.resize(width, height)
	}
	var more []tea.ProgramOption
	if o.Mouse {
		more = append(more, tea.WithMouseCellMotion())
	}
	return w.Run(ctx, m, o.Input, more...)
}

// nextOf waits for the next snapshot, the end of all snapshots, or the end of ctx.
func nextOf(ctx context.Context, snapshots <-chan metrics.Snapshot) tea.Cmd {
	return func() tea.Msg {
		select {
		case s, ok := <-snapshots:
			if !ok {
				return endMsg{}
			}
			return snapshotMsg{s}
		case <-ctx.Done():
			return nil
		}
	}
}
