package tui

import (
	"cmp"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"benchtop/tui/chart"
	"benchtop/tui/screen"
	"benchtop/tui/term"
)

// frame is what the dashboard and the screen of a sweep have in common: their looks, the pace at which they are drawn,
// a notice, a prompt and the help above them, and the screen as it was drawn last.
type frame struct {
	Options                       // changed later: a remote may get control, a run may bring its baseline
	tick     func() tea.Cmd       // a new wait for the drawing tick
	aside    func(string) tea.Cmd // sends something to the terminal between frames; nil without a terminal
	title    func(string)         // names the terminal; nil without one
	sent     func() int64         // bytes to the terminal so far; nil if they are not counted
	resized  func(w, h int)       // tells the recording the size; nil for no recording
	perFrame int                  // ticks between two frames
	palette  *screen.Palette

	w, h    int
	ticking bool // a tick is on its way
	ticks   int
	limiter term.Limiter // of the rate of frames

	prompt *prompt
	notice notice
	help   helpBox

	stale  bool // the screen has to be drawn again
	screen *screen.Surface
	raster chart.Raster // kept from frame to frame
	cached string
}

func newFrame(o Options, p *screen.Palette) frame {
	o.HeaderEvery = cmp.Or(max(o.HeaderEvery, 0), 500*time.Millisecond)
	o.ChartsEvery = cmp.Or(max(o.ChartsEvery, 0), time.Second)
	return frame{
		Options: o, palette: p, perFrame: max(1, int(o.ChartsEvery/o.HeaderEvery)),
		limiter: term.NewLimiter(o.Bandwidth, o.HeaderEvery), stale: true, ticking: true,
	}
}

func (f *frame) setSize(w, h int) {
	f.w, f.h = w, h
	if f.resized != nil {
		f.resized(w, h)
	}
	f.limiter.Resize(w, h)
}

// notify shows a notice, which may be foreign text, unless it has no words.
func (f *frame) notify(words string) {
	if words = screen.Sanitize(words); words != "" {
		f.notice, f.stale = notice{words, int((noticed + f.HeaderEvery - 1) / f.HeaderEvery)}, true
	}
}

// stays says why Ctrl-Z does nothing.
func (f *frame) stays() {
	f.notify("Ctrl-Z does not suspend benchtop: a stopped client would time its own pause")
}

func (f *frame) nextTheme() {
	if f.palette.Profile == termenv.Ascii { // all themes look alike
		f.notify("no colours on this terminal; see --color")
		return
	}
	f.palette = f.palette.Next()
	f.notify("theme: " + f.palette.Theme)
}

// onTick counts a tick. due says that a frame is to be drawn.
func (f *frame) onTick() (due bool) {
	f.ticks++
	limited := f.sent != nil && f.limiter.Tick(f.sent())
	f.stale = f.notice.age() || limited || f.stale
	return f.ticks%(f.perFrame*f.limiter.Factor()) == 0
}

// rest ends the ticks once a notice is gone: only keys change the screen from there on.
func (f *frame) rest() tea.Cmd {
	if f.ticking = f.notice.ticks > 0; !f.ticking {
		return nil
	}
	return f.tick()
}

// wake has ticks go on for a notice, after the command of an update.
func (f *frame) wake(cmd tea.Cmd) tea.Cmd {
	if f.notice.ticks == 0 || f.ticking {
		return cmd
	}
	f.ticking = true
	return tea.Batch(cmd, f.tick())
}

// render returns the screen. It draws only if something changed.
func (f *frame) render(draw func(c screen.Canvas)) string {
	if f.stale {
		if f.screen == nil || f.screen.W != f.w || f.screen.H != f.h {
			f.screen = screen.NewSurface(f.w, f.h)
		}
		f.screen.Terminal = f.palette.Terminal(f.ASCII)
		draw(f.screen.All())
		f.cached, f.stale = f.screen.Render(f.palette), false
	}
	return f.cached
}

// drawAbove draws what is above the panels; a prompt leaves the last lines free, such as the axis of time.
func (f *frame) drawAbove(c screen.Canvas, free int, help func() []section) {
	if f.prompt != nil {
		f.prompt.draw(c.Sub(0, 0, c.W, c.H-free))
	}
	if f.help.open {
		f.help.draw(c, help())
	}
}
