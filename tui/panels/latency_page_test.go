package panels

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"benchtop/metrics"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

func older() *Baseline { return &Baseline{Name: "2026-11-20-0915.json", Report: tuitest.Older()} }

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

// BenchmarkPages draws all panels of a page, nothing merged before, of a run of a quarter of an hour beside another
// one.
func BenchmarkPages(b *testing.B) {
	s := long()
	for _, p := range Pages {
		if p.Name != "Latency" && p.Name != "Load" {
			continue
		}
		for _, baseline := range []*Baseline{nil, older()} {
			for _, size := range [][2]int{{120, 35}, {200, 55}} {
				b.Run(fmt.Sprintf("%s/%dx%d/baseline=%v", p.Name, size[0], size[1], baseline != nil),
					func(b *testing.B) {
						sf := screen.NewSurface(size[0], size[1])
						sf.Terminal.Filled = true
						b.ReportAllocs()
						for b.Loop() {
							v := &View{Snapshot: &s, Span: 15 * time.Minute, Terminal: screen.Terminal{Filled: true},
								Latency: metrics.ITL, Baseline: baseline}
							for _, bx := range p.panels(Rect{0, 0, size[0], size[1]}, v) {
								panel, _ := Named(bx.Name)
								panel.Draw(bx.Rect.Of(sf.All()), v, Box{}, false)
							}
						}
					})
			}
		}
	}
}

// long is a run of a quarter of an hour, the most that a chart of a span shows.
func long() metrics.Snapshot {
	s := tuitest.Full()
	var ws []*metrics.Window
	for i := range 900 {
		w := s.Windows[i%60].Clone()
		w.Start = time.Duration(i) * time.Second
		ws = append(ws, w)
	}
	s.Windows, s.At = ws, 900*time.Second
	return s
}
