package term

import (
	"bytes"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// drawing sends the frames of a model, beside Bubble Tea's loop: a terminal that takes its time delays no key, and
// misses the frames that came meanwhile. Bubble Tea itself sets the modes of the terminal and draws nothing.
type drawing struct {
	w *Writer

	mu    sync.Mutex // guards what follows, and is not held while a terminal takes its time
	view  string     // to be shown
	width int        // of the terminal, 0 for unknown
	high  int
	left  bool // the screen is the shell's again
	ready bool // the terminal is Bubble Tea's: its modes are set
	stale bool // it shows anything

	sending sync.Mutex // one frame at a time; guards what follows
	frames  [2]frame   // the one shown, and the next
	sent    string
	out     []byte
	titled  bool    // the terminal takes titles
	title   *string // that it has from us; nil for its own

	wake, done chan struct{}
}

// nothing stands for the frame that Bubble Tea draws. It comes when the whole screen is to be drawn: at the start,
// after a change of the size.
const nothing = "\ue000"

// What Bubble Tea begins and ends with. Nothing may be drawn outside, though its renderer may write once more behind
// its end.
const (
	enterScreen = "\x1b[?1049h"
	leaveScreen = "\x1b[?1049l"
)

func newDrawing(w *Writer) *drawing {
	d := &drawing{w: w, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go func() {
		for {
			select {
			case <-d.wake:
				d.sending.Lock()
				d.send()
				d.sending.Unlock()
			case <-d.done:
				return
			}
			select {
			case <-time.After(time.Second / FramesPerSecond):
			case <-d.done:
				return
			}
		}
	}()
	return d
}

func (d *drawing) stop() { close(d.done) }

// show takes a frame, in place of any that was not sent yet.
func (d *drawing) show(view string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if view != d.view {
		d.view = view
		d.wakeUp()
	}
}

func (d *drawing) wakeUp() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Write takes what Bubble Tea writes. The last frame is drawn before it leaves the screen.
func (d *drawing) Write(b []byte) (int, error) {
	n := len(b)
	if bytes.Contains(b, []byte(nothing)) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.ready, d.stale = !d.left, true
		d.wakeUp()
		return len(b), nil
	}
	if bytes.Contains(b, []byte(enterScreen)) {
		d.mu.Lock()
		d.left = false
		d.mu.Unlock()
	}
	if bytes.Contains(b, []byte(leaveScreen)) {
		d.sending.Lock()
		defer d.sending.Unlock()
		d.send()
		d.mu.Lock()
		d.ready, d.left = false, true
		d.mu.Unlock()
		if d.title != nil {
			d.title = nil
			b = append([]byte(popTitle), b...)
		}
	}
	if _, err := d.w.Write(b); err != nil {
		return 0, err
	}
	return n, nil
}

// send sends what changed since the last frame. The caller has sending.
func (d *drawing) send() {
	d.mu.Lock()
	view, w, h, ready, stale := d.view, d.width, d.high, d.ready, d.stale
	d.stale = d.stale && !ready
	d.mu.Unlock()
	if !ready || view == d.sent && !stale {
		return
	}
	shown, next := &d.frames[0], &d.frames[1]
	next.read(view, w, h)
	if stale {
		shown = nil
	}
	d.out = d.retitle(paint(d.out[:0], shown, next))
	d.frames[0], d.frames[1] = d.frames[1], d.frames[0]
	if d.sent = view; len(d.out) > 0 {
		_, _ = d.w.Write(d.out)
	}
}

// What keeps the title of a terminal, and brings it back.
const (
	pushTitle = "\x1b[22;0t"
	popTitle  = "\x1b[23;0t"
)

// retitle appends a title that is new.
func (d *drawing) retitle(b []byte) []byte {
	title := d.w.title.Load()
	if !d.titled || title == nil || d.title != nil && *d.title == *title {
		return b
	}
	if d.title == nil {
		b = append(b, pushTitle...)
	}
	d.title = title
	return append(append(append(b, "\x1b]2;"...), *title...), '\a')
}

// drawingModel is a model whose view goes to a drawing.
type drawingModel struct {
	tea.Model
	d *drawing
}

// Update passes a message on, and takes note of the size of the terminal, which is bounded for the model as well.
func (m drawingModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if size, ok := msg.(tea.WindowSizeMsg); ok {
		size.Width, size.Height = bounded(size.Width, size.Height)
		msg = size
		m.d.mu.Lock()
		m.d.width, m.d.high = size.Width, size.Height
		m.d.mu.Unlock()
	}
	next, cmd := m.Model.Update(msg)
	return drawingModel{next, m.d}, cmd
}

// View is the same for Bubble Tea always.
func (m drawingModel) View() string {
	m.d.show(m.Model.View())
	return nothing
}
