package tui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muesli/termenv"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/tui/panels"
	"benchtop/tui/tuitest"
)

// output is a terminal that only listens.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	return o.buf.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

func (o *output) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = err
}

// show is a dashboard that runs.
type show struct {
	t         testing.TB
	keys      *io.PipeWriter
	out       *output
	control   *control
	snapshots chan metrics.Snapshot
	cancel    context.CancelCauseFunc
	left      chan error
}

func start(t testing.TB, exit bool, change ...func(*Options)) *show {
	t.Helper()
	s := begin(t, exit, change...)
	s.until("the first screen", func() bool { return strings.Contains(s.out.String(), "2348") })
	return s
}

// begin is start without waiting for the screen.
func begin(t testing.TB, exit bool, change ...func(*Options)) *show {
	t.Helper()
	in, keys := io.Pipe()
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &show{t, keys, &output{}, &control{}, make(chan metrics.Snapshot, 1), cancel, make(chan error, 1)}
	s.snapshots <- tuitest.Mid()
	o := Options{
		Snapshots: s.snapshots, Control: s.control, Input: in, Output: s.out, Exit: exit, Color: "none",
		HeaderEvery: 20 * time.Millisecond, ChartsEvery: 40 * time.Millisecond,
	}
	for _, c := range change {
		c(&o)
	}
	go func() { s.left <- Run(ctx, o) }()
	t.Cleanup(func() { cancel(nil); keys.Close() })
	return s
}

func (s *show) until(what string, ok func() bool) {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	s.t.Fatalf("waited a minute for %s", what)
}

func (s *show) press(keys string) {
	s.t.Helper()
	assert.Must(io.WriteString(s.keys, keys))(s.t)
}

func (s *show) asked() (drains, aborts int) {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	return s.control.drains, s.control.aborts
}

func (s *show) returned(want error) {
	s.t.Helper()
	select {
	case err := <-s.left:
		if !errors.Is(err, want) || want == nil && err != nil {
			s.t.Fatalf("Run returned %v, want %v", err, want)
		}
	case <-time.After(time.Minute):
		s.t.Fatal("Run did not return within a minute")
	}
	if s.out.err == nil && !strings.Contains(s.out.String(), "\x1b[?1049l") {
		s.t.Error("the terminal was left on the alternate screen")
	}
}

func TestStopping(t *testing.T) {
	s := start(t, false)
	s.press("q")
	s.until("a drain", func() bool { d, a := s.asked(); return d == 1 && a == 0 })
	s.until("the overlay", func() bool { return strings.Contains(s.out.String(), "Stopping") })
	s.press("\x03") // Ctrl-C is the same key
	s.until("an abort", func() bool { d, a := s.asked(); return d == 1 && a == 1 })
	s.press("q")
	s.returned(nil)
}

func TestLeavingWhenDone(t *testing.T) {
	s := start(t, false)
	s.snapshots <- tuitest.Done()
	close(s.snapshots)
	s.until("the end", func() bool { return strings.Contains(s.out.String(), "✓ DONE") })
	s.press("q")
	s.returned(nil)
	if d, a := s.asked(); d+a != 0 {
		t.Errorf("q after the end asked for %d drains and %d aborts", d, a)
	}
}

func TestExit(t *testing.T) {
	s := start(t, true)
	s.snapshots <- tuitest.Done()
	close(s.snapshots)
	s.returned(nil)
	if !strings.Contains(s.out.String(), "DONE") {
		t.Error("the last screen was not shown")
	}
}

// A run is recorded as it was shown, and its end rings the bell, which is in no recording.
func TestRecordAndBell(t *testing.T) {
	var record output
	s := start(t, false, func(o *Options) { o.Record, o.Mouse = &record, true })
	s.snapshots <- tuitest.Done()
	close(s.snapshots)
	s.until("the bell", func() bool { return strings.Contains(s.out.String(), "\a\x1b]9;benchtop: done") })
	s.until("the end", func() bool { return strings.Contains(s.out.String(), "✓ DONE") })
	s.press("q")
	s.returned(nil)
	lines := strings.Split(strings.TrimSpace(record.String()), "\n")
	if !strings.HasPrefix(lines[0], `{"version":2,"width":80,"height":24,`) {
		t.Errorf("header %q", lines[0])
	}
	var all strings.Builder
	for _, l := range lines[1:] {
		var event [3]any
		if err := json.Unmarshal([]byte(l), &event); err != nil {
			t.Fatalf("%v in %q", err, l)
		}
		all.WriteString(event[2].(string))
	}
	if want := strings.Replace(s.out.String(), "\a", "", 1); strings.Contains(all.String(), "\a") ||
		len(all.String()) > len(want) ||
		!strings.Contains(all.String(), "✓ DONE") || !strings.Contains(all.String(), "\x1b[?1049l") {
		t.Errorf("recorded %d bytes of %d", all.Len(), len(want))
	}
}

// BenchmarkFirstFrame is the time from the start of the dashboard to its first screen with figures on it.
func BenchmarkFirstFrame(b *testing.B) {
	for b.Loop() {
		s := start(b, false)
		s.cancel(nil)
		<-s.left
		s.keys.Close()
	}
}

// BenchmarkKeyToScreen is the time from a key to the screen that shows its effect.
func BenchmarkKeyToScreen(b *testing.B) {
	s := start(b, false)
	page := 0
	for b.Loop() {
		page = page%len(panels.Pages) + 1
		before := len(s.out.String())
		s.press(fmt.Sprint(page%len(panels.Pages) + 1))
		want := "[" + fmt.Sprint(page%len(panels.Pages)+1) + " "
		s.until(want, func() bool { return strings.Contains(s.out.String()[before:], want) })
	}
}

// rewritten is how many bytes the lines of a screen have that differ from those before.
func rewritten(before, now []string) (n int) {
	for i, line := range now {
		if line != before[i] {
			n += len(line) + 2
		}
	}
	return n
}

// TestBytes counts what a run sends over a slow line: Bubble Tea writes each line that has changed.
func TestBytes(t *testing.T) {
	ci.SkipUnderRace(t)
	const seconds = 4
	var snapshots []metrics.Snapshot
	for k := range 2*seconds + 1 {
		snapshots = append(snapshots,
			tuitest.Judge(tuitest.SnapshotAt(50*time.Second+time.Duration(k)*500*time.Millisecond, true)))
	}
	for _, c := range []struct{ w, h, most int }{{80, 24, 12_000}, {120, 40, 20_000}, {200, 50, 50_000}} {
		m := open(snapshots[0], c.w, c.h, termenv.TrueColor)
		before := strings.Split(m.View(), "\n")
		sent := 0
		for _, s := range snapshots[1:] { // the header twice a second, the panels once
			m.Update(snapshotMsg{s})
			m.Update(tickMsg{})
			now := strings.Split(m.View(), "\n")
			sent, before = sent+rewritten(before, now), now
		}
		if rate := sent / seconds; rate > c.most {
			t.Errorf("%dx%d: %d bytes a second, at most %d", c.w, c.h, rate, c.most)
		}
	}
}
