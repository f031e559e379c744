// Package term is the way to a terminal: it counts and records the bytes that go there, keeps the rate of frames within a limit, runs a
// Bubble Tea program on it, and finds out from the environment whether the terminal needs ASCII. It knows nothing of the dashboard.
//
//	Bubble Tea ──frames──> Writer ──┬──> the terminal
//	                bell ──Aside──>─┤
//	                                └──> recording: an asciicast, without asides
package term

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/term"

	_ "benchtop/tui/noquery" // first, so that Bubble Tea does not query the terminal
)

// FramesPerSecond is how often Bubble Tea looks for changes to write: a key shows its effect within a twentieth of a second. The
// program decides how often there are changes, so this costs no bytes.
const FramesPerSecond = 20

// grace is how long a terminal that does not take our output may delay the way out.
const grace = time.Second

// ErrLost says that the terminal went away while a program was on it.
var ErrLost = errors.New("the terminal is gone")

// Writer counts the bytes that go to a terminal. Bubble Tea hands over each frame in one call, so an aside comes between two frames.
type Writer struct {
	mu     sync.Mutex // guards to and record: one writer at a time
	to     io.Writer
	record *recording // nil for no recording

	// Ask lets Run ask the terminal for its background colour, if that is safe. The model gets a Background when there is an answer.
	Ask bool

	lost chan struct{} // gets a value when the terminal takes no more
	sent atomic.Int64
}

// NewWriter returns a writer to a terminal, or to anything else.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to, lost: make(chan struct{}, 1)} }

// Record copies everything but asides to an asciicast of a screen of w by h.
func (w *Writer) Record(to io.Writer, width, height int) {
	began := time.Now()
	w.record = newRecording(to, width, height, began, func() time.Duration { return time.Since(began) })
}

// Write sends a frame.
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

// Size is the size of a terminal that says so, else the one given, else 80 by 24.
func (w *Writer) Size(width, height int) (int, int) {
	if f, ok := w.to.(*os.File); ok {
		if width, height, err := term.GetSize(f.Fd()); err == nil && width > 0 && height > 0 {
			return width, height
		}
	}
	if width > 0 && height > 0 {
		return width, height
	}
	return 80, 24
}

// IsTerminal reports whether Bubble Tea learns the size of the screen by itself.
func (w *Writer) IsTerminal() bool {
	f, ok := w.to.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// terminalWriter is a writer that Bubble Tea knows as a terminal, to ask it for its size.
type terminalWriter struct {
	*os.File
	w *Writer
}

// Write goes through the writer, not to the file.
func (t terminalWriter) Write(b []byte) (int, error) { return t.w.Write(b) }

// Run has the terminal until the model quits (nil), ctx ends (its cause) or the terminal is lost (ErrLost). Keys come from in; nil means
// standard input.
func (w *Writer) Run(ctx context.Context, m tea.Model, in io.Reader, more ...tea.ProgramOption) error {
	var out io.Writer = w
	if w.IsTerminal() {
		out = terminalWriter{w.to.(*os.File), w}
	}
	options := append([]tea.ProgramOption{
		tea.WithoutSignalHandler(), tea.WithAltScreen(), tea.WithFPS(FramesPerSecond), tea.WithOutput(out),
	}, more...)
	var a *asking
	if in != nil {
		options = append(options, tea.WithInput(in))
	} else {
		takeTerminal(os.Stdin)
		if w.asks(os.Getenv) {
			a = &asking{w: w, since: time.Now(), answered: make(chan struct{})}
			options = append(options, a.options()...)
		}
	}
	p := tea.NewProgram(m, options...)
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

// leave ends the program. It waits for a while only: a terminal that takes no output, such as a stalled SSH connection, must not keep the
// run from being saved.
func leave(p *tea.Program, done <-chan error, why error) error {
	if inBackground(os.Stdin) {
		if modes, err := term.GetState(os.Stdin.Fd()); err == nil {
			defer func() { _ = term.Restore(os.Stdin.Fd(), modes) }() // those of the shell, which has the terminal now
		}
	}
	p.Kill()
	select {
	case <-done:
	case <-time.After(grace):
	}
	return why
}

// recording writes everything that goes to the terminal as an asciicast, version 2, which asciinema and others play: a line with the size,
// then one for each piece.
//
//	{"version":2,"width":120,"height":40,"timestamp":1795264380}
//	[0,"o","\u001b[H\u001b[2J"]
//	[7.220015,"r","80x24"]
//
// A recording ends when its writer fails; the screen does not. A nil recording does nothing.
type recording struct {
	to      io.Writer
	since   func() time.Duration // since the beginning
	w, h    int
	split   []byte // the beginning of a letter without its end
	stopped bool
}

func newRecording(to io.Writer, w, h int, began time.Time, since func() time.Duration) *recording {
	r := &recording{to: to, since: since, w: w, h: h}
	r.line(struct {
		Version   int   `json:"version"`
		Width     int   `json:"width"`
		Height    int   `json:"height"`
		Timestamp int64 `json:"timestamp"`
	}{2, w, h, began.Unix()})
	if !r.stopped {
		// Bubble Tea switches to an empty alternate screen; a player has to clear its screen.
		r.line([]any{0, "o", "\x1b[H\x1b[2J"})
	}
	return r
}

// output records a piece. A letter cut in two goes with the second half.
func (r *recording) output(b []byte) {
	if r == nil || r.stopped {
		return
	}
	b = append(r.split, b...)
	n := len(b) - cutLetter(b)
	r.split = bytes.Clone(b[n:])
	if n > 0 {
		r.event("o", string(b[:n]))
	}
}

// cutLetter is how many bytes at the end of b begin a letter without ending it.
func cutLetter(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

func (r *recording) resize(w, h int) {
	if r == nil || r.stopped || w == r.w && h == r.h || w <= 0 || h <= 0 {
		return
	}
	r.w, r.h = w, h
	r.event("r", strconv.Itoa(w)+"x"+strconv.Itoa(h))
}

func (r *recording) event(kind, data string) {
	at := strconv.FormatFloat(r.since().Seconds(), 'f', 6, 64)
	r.line([]any{json.RawMessage(at), kind, data})
}

func (r *recording) line(v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if err == nil {
		_, err = r.to.Write(b.Bytes())
	}
	r.stopped = err != nil
}

// Plain reports whether a terminal needs ASCII, by its environment: the locale is not UTF-8, or the terminal is the console of Linux, whose font has
// neither braille nor most blocks. Without any locale, as in most containers, the terminal is taken for one with UTF-8.
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

// Columns is the width of the terminal that w writes to; 0 if it is none.
func Columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(f.Fd()); err == nil {
			return width
		}
	}
	return 0
}
