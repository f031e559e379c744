package tui

import (
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/charmbracelet/x/term"
)

// wire is the way to the terminal. Bubble Tea hands over each frame in one call, so what else is to be said to the terminal
// is said between two of them.
type wire struct {
	mu   sync.Mutex // guards to and cast: one writer at a time
	to   io.Writer
	cast *cast // nil if nobody records

	lost chan<- struct{} // gets a word when the terminal takes no more
	sent atomic.Int64    // bytes so far
}

// Write sends a frame.
func (w *wire) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.send(b)
	if err == nil {
		w.cast.output(b)
	}
	return n, err
}

// aside sends what is no part of the picture, such as a bell: a recording does without.
func (w *wire) aside(words string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = w.send([]byte(words))
}

// send reports failures: Bubble Tea ignores them, and would go on for ever without a terminal.
func (w *wire) send(b []byte) (int, error) {
	n, err := w.to.Write(b)
	w.sent.Add(int64(n))
	if err != nil {
		select {
		case w.lost <- struct{}{}:
		default:
		}
	}
	return n, err
}

// resized tells the recording about a new size of the screen.
func (w *wire) resized(width, height int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cast.resize(width, height)
}

// terminalWire is a wire that Bubble Tea knows as a terminal: it asks it for its size.
type terminalWire struct {
	*os.File
	*wire
}

// Write goes over the wire, not to the file.
func (t terminalWire) Write(b []byte) (int, error) { return t.wire.Write(b) }

// terminalSize is the size of w if that is a terminal that says so, else what is given, else 80 by 24.
func terminalSize(w io.Writer, width, height int) (int, int) {
	if f, ok := w.(*os.File); ok {
		if width, height, err := term.GetSize(f.Fd()); err == nil && width > 0 && height > 0 {
			return width, height
		}
	}
	if width > 0 && height > 0 {
		return width, height
	}
	return 80, 24
}

// tea is the wire as Bubble Tea needs it, which has to know a terminal as one.
func (w *wire) tea() (to io.Writer, isTerminal bool) {
	if f, ok := w.to.(*os.File); ok && term.IsTerminal(f.Fd()) {
		return terminalWire{f, w}, true
	}
	return w, false
}
