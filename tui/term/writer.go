// Package term is the way to a terminal: it runs a Bubble Tea program on it and sends the cells that change, counts and
// records the bytes, keeps the rate of frames within a limit, and finds out whether the terminal needs ASCII and has a
// light background. It knows nothing of the dashboard.
//
//	model ──View──> drawing: latest frame ─ shown frame ──changes──> Writer ──┬──> the terminal
//	Bubble Tea ──modes of the terminal──────────────────────────────────────>─┤
//	bell ──Aside────────────────────────────────────────────────────────────>─┤
//	                                                                          └──> recording: asciicast, no asides
package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/term"

	_ "benchtop/tui/noquery" // first, so that Bubble Tea does not query the terminal
)

// FramesPerSecond is how often changes are sent at most: a key shows its effect within a twentieth of a second. The
// program decides how often there are changes, so this costs no bytes.
const FramesPerSecond = 20

// grace is how long a terminal that does not take our output may delay the way out.
const grace = time.Second

// ErrLost says that the terminal went away while a program was on it.
var ErrLost = errors.New("the terminal is gone")

// Writer counts the bytes that go to a terminal. Each frame is written in one call, so an aside comes between two
// frames.
type Writer struct {
	mu     sync.Mutex // guards to and record: one writer at a time
	to     io.Writer
	record *recording // nil for no recording

	// Ask lets Run ask the terminal for its background colour, if that is safe. The model gets a Background when there
	// is an answer.
	Ask bool

	lost  chan struct{} // gets a value when the terminal takes no more
	sent  atomic.Int64
	title atomic.Pointer[string] // of the terminal; nil for its own
}

// NewWriter returns a writer to a terminal, or to anything else.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to, lost: make(chan struct{}, 1)} }

// Record copies everything but asides to an asciicast of a screen of w by h.
func (w *Writer) Record(to io.Writer, width, height int) {
	began := time.Now()
	w.record = newRecording(to, width, height, began, func() time.Duration { return time.Since(began) })
}

// Write sends a frame, or modes of the terminal.
func (w *Writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.send(b)
	if err == nil {
		w.record.output(b)
	}
	return n, err
}

// Aside sends words that are no part of the picture, such as a bell. They are not recorded.
func (w *Writer) Aside(words string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = w.send([]byte(words))
}

// Title names the terminal from the next frame on, until the screen is left: then it has its own title again, where the
// terminal keeps one. Words are foreign text that was made safe.
func (w *Writer) Title(words string) { w.title.Store(&words) }

// titled reports whether a terminal takes a title for what it is: the console of Linux may write it on the screen.
func titled(getenv func(string) string) bool {
	kind := getenv("TERM")
	return kind != "" && kind != "linux" && kind != "dumb"
}

// send reports failures: Bubble Tea ignores them, and would go on for ever without a terminal.
func (w *Writer) send(b []byte) (int, error) {
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

// Sent is the number of bytes so far.
func (w *Writer) Sent() int64 { return w.sent.Load() }

// Resized tells the recording about a new size of the screen.
func (w *Writer) Resized(width, height int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.record.resize(width, height)
}

// The most cells of a screen. Larger terminals exist only by mistake or malice, and each cell costs memory; the rest
// stays empty.
const (
	mostColumns = 1000
	mostRows    = 400
)

// bounded is a size within the bounds of a screen.
func bounded(width, height int) (int, int) {
	return min(max(0, width), mostColumns), min(max(0, height), mostRows)
}

// Size is the size of a terminal that says so, else the one given, else 80 by 24, within the bounds of a screen.
func (w *Writer) Size(width, height int) (int, int) {
	if f, ok := w.to.(*os.File); ok {
		if width, height, err := term.GetSize(f.Fd()); err == nil && width > 0 && height > 0 {
			return bounded(width, height)
		}
	}
	if width > 0 && height > 0 {
		return bounded(width, height)
	}
	return 80, 24
}

// IsTerminal reports whether Bubble Tea learns the size of the screen by itself.
func (w *Writer) IsTerminal() bool {
	f, ok := w.to.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// terminalFile is an output that Bubble Tea knows as a terminal, to ask it for its size.
type terminalFile struct {
	*os.File
	d *drawing
}

// Write does not go to the file.
func (t terminalFile) Write(b []byte) (int, error) { return t.d.Write(b) }

// WriteString does not either: Bubble Tea leaves the screen by it.
func (t terminalFile) WriteString(s string) (int, error) { return t.d.Write([]byte(s)) }

// Run has the terminal until the model quits (nil), ctx ends (its cause) or the terminal is lost (ErrLost). Keys come
// from in; nil means standard input.
func (w *Writer) Run(ctx context.Context, m tea.Model, in io.Reader, more ...tea.ProgramOption) error {
	d := newDrawing(w)
	d.titled = w.IsTerminal() && titled(os.Getenv)
	defer d.stop()
	var out io.Writer = d
	if w.IsTerminal() {
		out = terminalFile{w.to.(*os.File), d}
	}
	options := append([]tea.ProgramOption{
		tea.WithoutSignalHandler(), tea.WithAltScreen(), tea.WithFPS(FramesPerSecond), tea.WithOutput(out),
	}, more...)
	var a *backgroundQuery
	if in != nil {
		options = append(options, tea.WithInput(in))
	} else {
		takeTerminal(os.Stdin)
		if w.asks(os.Getenv) {
			a = &backgroundQuery{w: w, since: time.Now(), answered: make(chan struct{})}
			options = append(options, a.options()...)
		}
	}
	p := tea.NewProgram(drawingModel{m, d}, options...)
	if a != nil {
		a.program = p
	}
	done := make(chan error, 1)
	go func() {
		_, err := p.Run()
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("dashboard: %w", err)
		}
		return nil
	case <-ctx.Done():
		if a != nil {
			a.wait()
		}
		return leave(p, done, context.Cause(ctx))
	case <-w.lost:
		return leave(p, done, ErrLost)
	}
}

// leave ends the program. It waits for a while only: a terminal that takes no output, such as a stalled SSH connection,
// must not keep the run from being saved.
func leave(p *tea.Program, done <-chan error, why error) error {
	if inBackground(os.Stdin) {
		if modes, err := term.GetState(os.Stdin.Fd()); err == nil {
			defer func() { _ = term.Restore(os.Stdin.Fd(), modes) }() // those of the shell, which has the terminal now
		}
	}
	go p.Quit() // killed, the program would close its input under its reader
	for range 2 {
		select {
		case <-done:
			return why
		case <-time.After(grace / 2):
			p.Kill()
		}
	}
	return why
}

// Plain reports whether a terminal needs ASCII, by its environment: the locale is not UTF-8, or the terminal is the
// console of Linux, whose font has neither braille nor most blocks. Without any locale, as in most containers, the
// terminal is taken for one with UTF-8.
func Plain(getenv func(string) string) bool {
	if getenv("TERM") == "linux" {
		return true
	}
	// The first that is set decides, as in setlocale.
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := getenv(name); locale != "" {
			return !isUTF8(locale)
		}
	}
	return false
}

// isUTF8 reads the character set of a locale such as de_DE.UTF-8@euro; some systems set it alone: UTF-8.
func isUTF8(locale string) bool {
	locale, _, _ = strings.Cut(locale, "@")
	_, set, found := strings.Cut(locale, ".")
	if !found {
		set = locale
	}
	return strings.EqualFold(strings.ReplaceAll(set, "-", ""), "utf8")
}

// Columns is the width of the terminal that w writes to, within the bounds of a screen; 0 if it is none.
func Columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(f.Fd()); err == nil {
			width, _ = bounded(width, 0)
			return width
		}
	}
	return 0
}
