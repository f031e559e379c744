// Package tui is the dashboard: it turns a metrics.Snapshot, a size and the keys pressed into a screen.
//
// It opens no socket, reads no file and does not know how load is made. Snapshots come in on a channel, commands go out
// through Control. No other part of the program waits for the screen.
//
//	snapshots ──> model (Bubble Tea's loop alone writes it) ──> layout: named rectangles
//	keys, size ──>   │                                              │
//	                 └─ drawing tick ──> view: plain data ──> panels draw on one canvas ──> one string
package tui

import (
	"context"
	"io"
	"os"
	"time"

	"benchtop/metrics"
	"benchtop/tui/panels"
	"benchtop/tui/screen"
	"benchtop/tui/term"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"
)

// Options configure the dashboard.
type Options struct {
	// Snapshots is a channel of capacity 1 on which the latest wins. It is closed after the last snapshot of the run,
	// which stays on the screen.
	Snapshots <-chan metrics.Snapshot
	// Control takes the commands that keys give to the run.
	Control Control
	// Preparation is shown until the run begins, which then brings Snapshots, Control and Baseline; nil if the run is
	// on.
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
	// Player makes keys play a run of the past; nil for a live run.
	Player Player
	// ReadOnly refuses all keys that would change the run, until the Control, if it is a Remote, may change it.
	// Attached says that the run belongs to another process, so that the user can leave without ending it.
	ReadOnly, Attached bool
	// Within names the sweep that the run belongs to, and the place of the run in it: q and Esc then lead back to its
	// screen, and the run goes on. "" for a run of its own.
	Within string
	// Series is what the runs are together where there is a Within: sweep or series.
	Series string
	// Report turns the report of a finished run into text for its page, at most so many columns wide; nil for no such
	// page.
	Report func(r *metrics.Report, width int) string
	// Bandwidth is how many bytes a second may go to the terminal, on average, before charts are drawn less often; 0
	// means a limit that suits the size of the screen.
	Bandwidth int
	// Record gets everything that goes to the terminal, as an asciicast; nil for no recording.
	Record io.Writer
	// Theme is one of Themes; "" means the first.
	Theme string
	// Mouse lets the mouse choose panels and pages, which takes the terminal's own selection away.
	Mouse bool
	// Quiet rings no bell when the run is over.
	Quiet bool
	// Color is how many colours to use: "none", "16", "256" or "true"; "" or "auto" means as many as the terminal has,
	// and none if NO_COLOR is set.
	Color string
}

// Control takes commands for a run. Its methods are called from the dashboard's loop and must not block.
type Control interface {
	// Command gives a command. It returns a short result or refusal for the screen; ok says that the command is
	// followed. Where the result takes time the text is "", and the result comes as Snapshot.Notice.
	Command(metrics.Command) (said string, ok bool)
	// Inspect chooses the single requests that the next snapshots hold.
	Inspect(metrics.Inspection)
}

// Remote is a Control of another process, which may get the run while it is on the screen.
type Remote interface {
	Controls() bool
}

// NoControl is the Control of a run that takes no commands.
type NoControl struct{}

// Command refuses.
func (NoControl) Command(metrics.Command) (said string, ok bool) {
	return "no control of this run from here", false
}

// Inspect does nothing.
func (NoControl) Inspect(metrics.Inspection) {}

// Player plays a run of the past.
type Player interface {
	// Play continues, Pause stops.
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

// Run shows the dashboard until the user leaves (nil), ctx ends (its cause) or the terminal is lost (ErrTerminal).
// Preparation.Seal reports whether the user left before the run began. The terminal is restored before Run returns, if
// it still takes output. Leaving does not end the run: after a third q it may still be on.
func Run(ctx context.Context, o Options) error {
	return onStage(ctx, o, func(ctx context.Context, s *stage) tea.Model { return s.model(ctx, o) })
}

// stage is a terminal with all that the models on it share.
type stage struct {
	w       *term.Writer
	palette *screen.Palette
	aside   func(words string) tea.Cmd // sends something to the terminal between frames
	// width and height are the size of an output that is no terminal; 0 where Bubble Tea learns the size by itself.
	width, height int
}

// onStage has the terminal, as the options say, until the model quits. The context of the model ends with it.
func onStage(ctx context.Context, o Options, build func(context.Context, *stage) tea.Model) error {
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
	s := &stage{w: w,
		palette: screen.ThemePalette(o.Theme, screen.ColorProfile(o.Color, os.Getenv), term.LightBackground(os.Getenv))}
	w.Ask = s.palette.Profile != termenv.Ascii
	s.aside = func(words string) tea.Cmd {
		return func() tea.Msg {
			w.Aside(words)
			return nil
		}
	}
	if !w.IsTerminal() {
		s.width, s.height = width, height
	}
	var more []tea.ProgramOption
	if o.Mouse {
		more = append(more, tea.WithMouseCellMotion())
	}
	return w.Run(ctx, build(inner, s), o.Input, more...)
}

// every is a drawing tick.
func every(d time.Duration) func() tea.Cmd {
	return func() tea.Cmd { return tea.Tick(d, func(time.Time) tea.Msg { return tickMsg{} }) }
}

// model is the dashboard of a run on the stage. The end of ctx ends its waits.
func (s *stage) model(ctx context.Context, o Options) *model {
	m := newModel(o, s.palette)
	m.sent, m.resized, m.aside, m.title = s.w.Sent, s.w.Resized, s.aside, s.w.Title
	m.next = nextOf(ctx, o.Snapshots)
	if p := o.Preparation; p != nil {
		m.prep = &preparationScreen{of: p, now: time.Now()}
		m.prep.wait = func() tea.Msg {
			select {
			case r := <-p.run:
				return runMsg{r, nextOf(ctx, r.snapshots)}
			case <-ctx.Done():
				return nil
			}
		}
	}
	m.tick = every(m.HeaderEvery)
	if s.width > 0 {
		m.resize(s.width, s.height)
	}
	return m
}

// nextOf waits for the next snapshot, the end of all snapshots, or the end of ctx.
func nextOf(ctx context.Context, snapshots <-chan metrics.Snapshot) tea.Cmd {
	return await(ctx, snapshots, func(s metrics.Snapshot) tea.Msg { return snapshotMsg{s} }, endMsg{})
}

// await waits for what a channel brings next, and gives end once it is closed.
func await[T any](ctx context.Context, from <-chan T, msg func(T) tea.Msg, end tea.Msg) tea.Cmd {
	return func() tea.Msg {
		select {
		case v, ok := <-from:
			if !ok {
				return end
			}
			return msg(v)
		case <-ctx.Done():
			return nil
		}
	}
}
