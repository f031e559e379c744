package tui

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/grid"
	"benchtop/tui/panels"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

// Keys act on the chosen combination, which is the one in progress until another is chosen.
func TestSweepKeys(t *testing.T) {
	for _, c := range []struct {
		keys, did, shows string
	}{
		{"s n", "", "s skip"},
		{"s y", "skip 8", "skip 8"},
		{"j s", "skip 9", ""},
		{"g s", "", "combination 1 is over"},
		{"g r", "repeat 0", ""},
		{"r", "", "not over yet"},
		{"j j r", "", "left out by --link-vars"},
		{"g j j j r", "repeat 3", ""},
		{"q n", "", "q stop"},
		{"q y", "stop", "STOPPING"},
		{"ctrl+c ctrl+c", "stop", "STOPPING"},
		{"/ c o n c u r r e n c y = 4 enter g s", "", "combination 2 is over"},
		{"/ x x x enter s", "", "no combination is chosen"},
		{"/ x x x esc s y", "skip 8", ""},
		{"S g r", "repeat 5", "by tok/s"},
		{"l", "", "startup complete"},
		{"g enter", "", "combination 1"},
		{"g enter esc esc s y", "skip 8", ""},
		{"o", "", "no run has begun yet"},
		{"?", "", "log of the server"},
		{"? x", "", "combinations 9/11"},
	} {
		m, control := openSweep(tuitest.Sweep(), 120, 40)
		pressSweep(m, strings.Fields(c.keys)...)
		assert.Equal(t, strings.Join(control.did, " "), c.did, "%s", c.keys)
		if !strings.Contains(m.View(), c.shows) {
			t.Errorf("%s: no %q on\n%s", c.keys, c.shows, m.View())
		}
	}
}

// The keys and words of a series are those of its kind: repeats of one command, loads, and runs that belong together.
func TestSeriesKeys(t *testing.T) {
	whole := tuitest.Repeats()
	whole.Whole = true
	starts := tuitest.Control()
	starts.Part, starts.Over, starts.Server.State = "start", false, grid.ServerReady
	for _, c := range []struct {
		shot           grid.Snapshot
		keys           string
		shows, showsNo []string
	}{
		{tuitest.Repeats(), "?", []string{"s  skip what is left", "Enter  open"},
			[]string{"combination", "log of the server", "l log", "repeat"}},
		{tuitest.Repeats(), "s", []string{"begin no run after this one? It ends as planned"}, []string{"cut"}},
		{tuitest.Repeats(), "s y", []string{"skip 0"}, nil},
		{whole, "?", []string{"Enter  open"}, []string{"combination", "log of the server", "skip", "repeat"}},
		{tuitest.Control(), "?", []string{"workloads 2/2"}, []string{"combination", "log of the server"}},
		{tuitest.Control(), "/", []string{"Filter workloads"}, nil},
		{starts, "?", []string{"r  repeat", "starts 2/2", "log of the server", "l log"},
			[]string{"combination"}},
		{starts, "r", []string{"repeat 0"}, nil},
	} {
		m, _ := openSweep(c.shot, 120, 40)
		pressSweep(m, strings.Fields(c.keys)...)
		for _, want := range c.shows {
			if !strings.Contains(m.View(), want) {
				t.Errorf("%s of %s: no %q on\n%s", c.keys, c.shot.Part, want, m.View())
			}
		}
		for _, not := range c.showsNo {
			if strings.Contains(m.View(), not) {
				t.Errorf("%s of %s: %q on\n%s", c.keys, c.shot.Part, not, m.View())
			}
		}
	}
}

// The last key leaves: q once the sweep is over, and a second time while it is stopping.
func TestSweepLeaving(t *testing.T) {
	quits := func(cmd tea.Cmd) bool { return cmd != nil && cmd() == tea.QuitMsg{} }
	m, _ := openSweep(tuitest.Sweep(), 80, 24)
	if quits(pressSweep(m, "q")) || quits(pressSweep(m, "y")) || !quits(pressSweep(m, "q")) {
		t.Error("the key after the stop does not leave, or one before does")
	}
	if m, _ = openSweep(tuitest.SweepDone(), 80, 24); !quits(pressSweep(m, "q")) {
		t.Error("q does not leave a sweep that is over")
	}
	if m.ended = true; m.leaveAtEnd() != nil {
		t.Error("the screen leaves before it was read")
	}
	if m, _ = openSweep(tuitest.Sweep(), 80, 24); pressSweep(m, "q", "y") != nil {
		t.Error("the question left")
	}
	if _, cmd := m.Update(sweepEndMsg{}); !quits(cmd) {
		t.Error("a sweep that was stopped does not leave at its end")
	}
	m, _ = openSweep(tuitest.Sweep(), 80, 24)
	m.leave = true
	if m.leaveAtEnd() == nil || !strings.HasSuffix(m.place(), ", then closes") {
		t.Errorf("a screen that closes by itself says %q", m.place())
	}
	if pressSweep(m, "j"); m.leaveAtEnd() != nil || strings.Contains(m.place(), "closes") {
		t.Errorf("after a key it says %q", m.place())
	}
}

// Every key of the grid is in the help, and every one does something.
func TestEverySweepKeyIsShown(t *testing.T) {
	m, _ := openSweep(tuitest.Sweep(), 120, 60)
	pressSweep(m, "?")
	for _, b := range sweepKeymap {
		_, words, _ := strings.Cut(b.what, ": ")
		if shown := b.foot == nil || b.foot(m) != ""; words != "" && shown != strings.Contains(m.View(), words) {
			t.Errorf("%q is in the help: %v, want %v", words, !shown, shown)
		}
		if b.do == nil && b.ask == nil || b.show != "" && b.what == "" {
			t.Errorf("%v: no action or no words", b.keys)
		}
	}
}

// sweepShow is the screen of a sweep that runs.
type sweepShow struct {
	*show
	snapshots chan grid.Snapshot
	runs      chan *Preparation
	control   *sweepControl
}

func startSweep(t *testing.T) *sweepShow {
	in, keys := io.Pipe()
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &sweepShow{&show{t: t, keys: keys, out: &output{}, cancel: cancel, left: make(chan error, 1)},
		make(chan grid.Snapshot, 1), make(chan *Preparation, 1), &sweepControl{}}
	s.snapshots <- tuitest.Sweep()
	o := SweepOptions{Snapshots: s.snapshots, Runs: s.runs, Control: s.control, Screen: Options{
		Input: in, Output: s.out, Color: "none", Width: 120, Height: 40, HeaderEvery: 20 * time.Millisecond,
		ChartsEvery: 40 * time.Millisecond,
	}}
	go func() { s.left <- RunSweep(ctx, o) }()
	t.Cleanup(func() { cancel(nil); keys.Close() })
	s.shows("combinations 9/11")
	return s
}

// shows waits until the screen has a text. It is drawn as a whole again and again, since changes alone may leave out
// letters that stay.
func (s *sweepShow) shows(text string) {
	s.t.Helper()
	waits := 0
	s.until(text, func() bool {
		if waits++; waits%20 == 0 {
			s.out.mu.Lock()
			s.out.buf.Reset()
			s.out.mu.Unlock()
			s.press("\f")
		}
		return strings.Contains(s.out.String(), text)
	})
	s.out.mu.Lock()
	s.out.buf.Reset()
	s.out.mu.Unlock()
}

// The dashboard of the run in progress is a key away: its preparation, its figures, those of the next run. q leads
// back, and ends no run.
func TestDashboardWithinASweep(t *testing.T) {
	s := startSweep(t)
	prepare := func(step string) (*Preparation, chan metrics.Snapshot) {
		p := NewPreparation(step)
		s.runs <- p
		s.shows(step)
		return p, make(chan metrics.Snapshot, 1)
	}
	first := NewPreparation("one step")
	s.runs <- first
	s.shows("o dashboard")
	s.press("o")
	s.shows("one step")
	control := &control{}
	first.Seal()
	snapshots := make(chan metrics.Snapshot, 1)
	snapshots <- tuitest.Mid()
	first.Show(snapshots, control, nil)
	s.shows("Overview")
	s.press("5")
	s.shows("requests")
	close(snapshots)
	next, more := prepare("two steps")
	next.Seal()
	more <- tuitest.Mid()
	next.Show(more, control, nil)
	s.shows("[5 Requests]") // the page that was open before
	s.press("q")
	s.shows("combinations 9/11")
	s.press("o")
	s.shows("Requests")
	s.press("\x1b")
	s.shows("combinations 9/11")
	if control.drains+control.aborts > 0 {
		t.Errorf("%d drains and %d aborts by the way back", control.drains, control.aborts)
	}
}

// A run that ends, and a screen that is left by a signal.
func TestSweepEnds(t *testing.T) {
	s := startSweep(t)
	s.press("\x03\x03")
	s.until("the stop", func() bool { return strings.Contains(s.out.String(), "STOPPING") })
	s.snapshots <- tuitest.SweepDone()
	s.returned(nil)
	assert.EqualAll(t, s.control.did, []string{"stop"}, "did")
}

// A terminal that is gone ends the screen, and says so.
func TestSweepWithoutATerminal(t *testing.T) {
	s := startSweep(t)
	s.out.fail(io.ErrClosedPipe)
	s.snapshots <- tuitest.SweepStarting()
	s.returned(ErrTerminal)
}

// drawnSweep makes a snapshot of any bytes.
func drawnSweep(seed uint64) grid.Snapshot {
	rnd := rand.New(rand.NewPCG(seed, 7))
	words := []string{"", "a=1", "a=2, b=3", "通义/e\u0301té🤖", "\x1b[31mred", strings.Repeat("long ", 60), "a=1, b", "=",
		"max_concurrency=16"}
	word := func() string { return words[rnd.IntN(len(words))] }
	values := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1e-300, 0.3, 7, 1234, 98765, 1e300}
	value := func() float64 { return values[rnd.IntN(len(values))] }
	s := grid.Snapshot{
		Title: word(), Dir: word(), Current: rnd.IntN(9) - 2, CurrentRun: rnd.IntN(4) - 1, Variable: word(),
		Elapsed: time.Duration(rnd.Int64() - 1<<62),
		Left:    time.Duration(rnd.Int64()), LeftKnown: rnd.IntN(2) == 0, Notice: word(), Over: rnd.IntN(3) == 0,
		Summary: word(),
		Server:  grid.Server{State: grid.ServerState(word()), Command: word(), Since: time.Duration(rnd.Int64())},
	}
	for range rnd.IntN(4) {
		s.Server.Log = append(s.Server.Log, word())
		s.Searches = append(s.Searches,
			grid.Search{Tier: word(), Passed: value(), Failed: value(), Confidence: value(), Over: rnd.IntN(2) == 0})
	}
	states := []grid.State{grid.Waiting, grid.Running, grid.Done, grid.Found, grid.Failed, grid.Skipped, grid.Linked,
		"\x1b"}
	for range rnd.IntN(12) {
		c := grid.Cell{Server: word(), Bench: word(), Load: word(), State: states[rnd.IntN(len(states))]}
		for range rnd.IntN(4) {
			f := grid.Figures{Completed: rnd.Int(), Failed: -rnd.Int(), RequestThroughput: value(),
				OutputThroughput: value(), P99TTFT: value(),
				MedianTTFT: value(), P99TPOT: value(), Goodput: value(), PerUser: value(), PerGPU: value()}
			c.Runs = append(c.Runs, grid.Run{Number: rnd.Int(), State: states[rnd.IntN(len(states))], Figures: f,
				Trouble: word(), Took: time.Duration(rnd.Int64())})
		}
		s.Cells = append(s.Cells, c)
	}
	return s
}

// FuzzSweep types anything at any sweep in any size: the screen is always whole, and leaves only as the user wants.
func FuzzSweep(f *testing.F) {
	f.Add(uint64(1), []byte("jjkS/a\x02gGl\x03zs"), uint8(120), uint8(40), uint8(0))
	f.Add(uint64(2), []byte("qn?jxSSSSrt"), uint8(80), uint8(24), uint8(1))
	f.Add(uint64(3), []byte("\x02o\x08\x09lkkG"), uint8(200), uint8(50), uint8(4))
	f.Add(uint64(4), []byte("\xf0j\xf9k\xd0l\xdd"), uint8(60), uint8(15), uint8(2))
	names := []string{"tab", "", "enter", "esc", "up", "down", "left", "right", "pgup", "pgdown", "ctrl+l", "ctrl+l",
		"home", "end", "backspace", "ctrl+u"}
	f.Fuzz(func(t *testing.T, seed uint64, typed []byte, w, h, how uint8) {
		h %= 64
		m, _ := openSweep(drawnSweep(seed), int(w), int(h))
		mode := tuitest.Modes[int(how)%len(tuitest.Modes)]
		m.palette = screen.NewPalette(screen.ColorProfile(mode.Color, func(string) string { return "" }))
		m.ASCII = mode.ASCII
		m.show()
		for i, b := range typed[:min(len(typed), 32)] {
			switch {
			case b >= 0xf0:
				m.Update(tea.WindowSizeMsg{Width: int(b) * int(w) % 251, Height: i * int(h) % 81})
			case b >= 0xd0:
				s := drawnSweep(seed + uint64(b))
				m.Update(sweepMsg{&s})
				m.Update(tickMsg{})
			case b < 16:
				pressSweep(m, names[b])
			default:
				pressSweep(m, string(rune(b)))
			}
		}
		got := m.View()
		tuitest.Exact(t, got, m.w, m.h, fmt.Sprint(mode.Name, seed))
		if strings.Contains(got, "display error") {
			t.Fatalf("panic behind\n%s", got)
		}
		for i := 0; i < len(got); i++ {
			if b := got[i]; b >= 0x80 && mode.ASCII || b < 0x20 && b != '\n' && b != '\x1b' ||
				b == '\x1b' && m.palette.Profile == termenv.Ascii {
				t.Fatalf("byte %#x in\n%s", b, got)
			}
		}
	})
}

// A click on a row chooses it, where it stands, one more opens it; beside the rows nothing happens.
func TestSweepClicks(t *testing.T) {
	s := tuitest.Sweep()
	for len(s.Cells) < 60 { // more than fit
		c := s.Cells[len(s.Cells)%8]
		c.Load = fmt.Sprintf("n=%d", len(s.Cells))
		s.Cells = append(s.Cells, c)
	}
	m, _ := openSweep(s, 120, 40)
	click := func(x, y int) {
		m.Update(tea.MouseMsg{X: x, Y: y, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
		m.Update(tea.MouseMsg{X: x, Y: y, Action: tea.MouseActionRelease, Button: tea.MouseButtonLeft})
	}
	row := func(y int) string { return strings.Trim(strings.Split(m.View(), "\n")[y], "│→ ") }
	for _, y := range []int{14, 7, 18, 5} {
		before := row(y)
		click(30, y)
		if got := strings.Split(m.View(), "\n")[y]; !strings.Contains(got, "→") || row(y) != before {
			t.Errorf("line %d: clicked on %q, now %q", y, before, got)
		}
	}
	before := m.View()
	for _, y := range []int{-1, 0, 2, 3, 4, 30, 39, 80} {
		click(30, y)
	}
	assert.Equal(t, m.View(), before, "beside the rows")
	pressSweep(m, "?")
	click(30, 14)
	if m.help.open {
		t.Error("a click leaves the help open")
	}
	click(30, 5)
	if m.page != panels.SweepDetail {
		t.Errorf("a second click does not open the row:\n%s", m.View())
	}
}
