package panels

import (
	"strings"
	"testing"
	"time"

	"benchtop/metrics"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

func older() *Baseline { return &Baseline{Name: "2026-11-20-0915.json", Report: tuitest.Older()} }

// axis is the axis of time, w cells wide.
func (v *View) axis(w int) string {
	sf := screen.NewSurface(w, 1)
	t, _, _ := v.overTime()
	t.Draw(sf.All(), nil)
	return sf.Render(&screen.Palette{Mono: true})
}

// Charts that are scrolled back end before now, and so do merged histograms.
func TestScrolledBack(t *testing.T) {
	s := metrics.Snapshot{At: 100*time.Second + 300*time.Millisecond, State: metrics.Running}
	for i := range 101 {
		w := metrics.Window{Start: time.Duration(i) * time.Second}
		w.Histograms[metrics.TTFT].Add(time.Duration(i+1) * time.Millisecond)
		s.Windows = append(s.Windows, w)
		s.Histograms[metrics.TTFT].Merge(&w.Histograms[metrics.TTFT])
	}
	for _, c := range []struct {
		span, back  time.Duration
		first, last int // of the closed windows
		n           uint64
		right       string // of the axis
		scope       string
	}{
		{30 * time.Second, 0, 70, 99, 31, "1:40", "last 30s"}, // with the open second
		{30 * time.Second, 20 * time.Second, 50, 79, 30, "1:20", "0:50 to 1:20"},
		{30 * time.Second, 20*time.Second + 900*time.Millisecond, 50, 79, 30, "1:20", "0:50 to 1:20"},
		{30 * time.Second, time.Hour, 0, 29, 30, "0:30", "0:00 to 0:30"},
		{30 * time.Second, -time.Second, 70, 99, 31, "1:40", "last 30s"},
		{5 * time.Minute, 20 * time.Second, 0, 99, 101, "2:00", "whole run"}, // longer than the run
		{0, 20 * time.Second, 0, 99, 101, "2:00", "whole run"},
	} {
		v := &View{Snapshot: &s, Span: c.span, Back: c.back}
		p := v.selected()
		first, last := p.closed[0].Start/time.Second, p.closed[len(p.closed)-1].Start/time.Second
		if int(first) != c.first || int(last) != c.last || p.histogram(metrics.TTFT).Count() != c.n {
			t.Errorf("%+v: windows %d to %d, %d samples", c, first, last, p.histogram(metrics.TTFT).Count())
		}
		if axis := v.axis(60); !strings.HasSuffix(axis, c.right) {
			t.Errorf("%+v: axis %q", c, axis)
		}
		if got := v.scope(); got != c.scope {
			t.Errorf("%+v: titles say %q", c, got)
		}
	}
	v := &View{Snapshot: &s, Span: time.Minute, Back: 30 * time.Second}
	if axis := v.axis(70); !strings.Contains(axis, "┴0:20─") || !strings.Contains(axis, "┴1:00─") {
		t.Errorf("axis %q, want labels at round moments of the run", axis)
	}
}

// Figures without names cannot be told apart: a table too low for a row of names has them in its title.
func TestLowTableNamesItsColumns(t *testing.T) {
	s := tuitest.Mid()
	for _, c := range []struct {
		w, h int
		want string
	}{
		{36, 4, "mean p50 p99"}, {36, 5, "mean p50 p99"}, {45, 4, "mean p50 p90 p95 p99"},
	} {
		if got := drawn("latency", &s, c.w, c.h); !strings.Contains(got, "latency whole run "+c.want) {
			t.Errorf("%dx%d: %q lacks %q", c.w, c.h, got, c.want)
		}
	}
	if high := drawn("latency", &s, 46, 8); strings.Count(high, "p99") != 1 {
		t.Errorf("the names of the columns are there more than once, or not:\n%s", high)
	}
}
