package term

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"benchtop/internal/assert"
)

// program is a model that shows a word and quits when told so.
type program struct{ quits bool }

func (p program) Init() tea.Cmd {
	if p.quits {
		return tea.Quit
	}
	return nil
}
func (p program) Update(tea.Msg) (tea.Model, tea.Cmd) { return p, nil }
func (p program) View() string                        { return "shown" }

// screenBuffer is an output that fails once it was told to.
type screenBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
	err error
}

func (s *screenBuffer) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	return s.buf.Write(b)
}

func (s *screenBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

func TestRunEnds(t *testing.T) {
	left := errors.New("left")
	for name, c := range map[string]struct {
		quits, cancelled, lost bool
		want                   error
	}{"the model quits": {quits: true}, "ctx ends": {cancelled: true, want: left},
		"the terminal is lost": {lost: true, want: ErrLost}} {
		out := &screenBuffer{}
		if c.lost {
			out.err = errors.New("hung up")
		}
		w := NewWriter(out)
		if w.IsTerminal() {
			t.Fatal("a buffer is a terminal")
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		if c.cancelled {
			time.AfterFunc(50*time.Millisecond, func() { cancel(left) })
		}
		in, keys := io.Pipe()
		if err := w.Run(ctx, program{c.quits}, in); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		cancel(nil)
		keys.Close()
		if c.lost == (w.Sent() > 0) {
			t.Errorf("%s: %d bytes sent", name, w.Sent())
		}
	}
}

func TestRecord(t *testing.T) {
	var record bytes.Buffer
	w := NewWriter(io.Discard)
	w.Record(&record, 80, 24)
	assert.Must(w.Write([]byte("frame")))(t)
	w.Resized(100, 30)
	if got := record.String(); !strings.Contains(got, `"o","frame"`) || !strings.Contains(got, `"r","100x30"`) {
		t.Errorf("recorded\n%s", got)
	}
}

func TestColumns(t *testing.T) {
	assert.Equal(t, Columns(io.Discard), 0, "columns of no terminal")
}

func TestLimiterAnswersKeys(t *testing.T) {
	l := NewLimiter(0, time.Second)
	l.Resize(80, 24)
	l.Skip(1_000_000)
	for total := int64(1_000_000); total < 2_000_000; total += 100_000 {
		l.Key()
		if l.Tick(total) {
			t.Fatal("frames that answer keys count")
		}
	}
	if l.Factor() != 1 || l.Sign(false) != "" {
		t.Errorf("factor %d", l.Factor())
	}
}

// Bubble Tea's renderer may write once more after the screen is left: that frame would stand over the shell's lines.
func TestNothingIsDrawnOutsideTheScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &screenBuffer{}
		d := newDrawing(NewWriter(out))
		defer d.stop()
		write := func(modes string) {
			// As Bubble Tea writes to a terminal: by the file's WriteString, if ours were missing.
			assert.Must(io.WriteString(terminalFile{d: d}, modes))(t)
			time.Sleep(time.Second)
		}
		d.show("first")
		for _, modes := range []string{enterScreen, nothing, leaveScreen, nothing} {
			write(modes)
		}
		d.show("second")
		write(nothing)
		if got := out.String(); !strings.Contains(got, "first") || !strings.HasSuffix(got, leaveScreen) {
			t.Errorf("got %q", got)
		}
		write(enterScreen)
		write(nothing)
		assert.Has(t, out.String(), "second")
	})
}

// sizeModel is a model that keeps the size it hears of.
type sizeModel struct{ width, height int }

func (s *sizeModel) Init() tea.Cmd { return nil }
func (s *sizeModel) View() string  { return "" }
func (s *sizeModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if size, ok := msg.(tea.WindowSizeMsg); ok {
		s.width, s.height = size.Width, size.Height
	}
	return s, nil
}

// A terminal that claims to be huge gets a picture of a size that can be drawn.
func TestHugeTerminal(t *testing.T) {
	for _, c := range []struct{ w, h, width, height int }{
		{80, 24, 80, 24}, {1000, 400, 1000, 400}, {65535, 65535, 1000, 400}, {2000, 2000, 1000, 400},
		{65535, 80, 1000, 80}, {-1, 65535, 0, 400},
	} {
		m, d := &sizeModel{}, &drawing{}
		drawingModel{m, d}.Update(tea.WindowSizeMsg{Width: c.w, Height: c.h})
		if m.width != c.width || m.height != c.height || d.width != c.width || d.high != c.height {
			t.Errorf("%d×%d: the model has %d×%d, the drawing %d×%d; want %d×%d", c.w, c.h, m.width, m.height, d.width,
				d.high, c.width, c.height)
		}
	}
}

// An output that is no terminal has the size given, within the bounds of a screen.
func TestSizeWithoutTerminal(t *testing.T) {
	for _, c := range []struct{ w, h, width, height int }{{120, 40, 120, 40}, {0, 0, 80, 24}, {120, 0, 80, 24},
		{-1, 40, 80, 24}, {65535, 65535, 1000, 400}, {65535, 80, 1000, 80}} {
		if w, h := NewWriter(io.Discard).Size(c.w, c.h); w != c.width || h != c.height {
			t.Errorf("%dx%d: got %dx%d, want %dx%d", c.w, c.h, w, h, c.width, c.height)
		}
	}
}
