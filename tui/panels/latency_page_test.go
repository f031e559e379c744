package panels

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

func older() *Baseline { return &Baseline{Name: "2026-11-20-0915.json", Report: tuitest.Older()} }

// Every panel of the two pages at every small size, in every mode, with everything, nothing, and nonsense.
func TestNewPanelsAtEverySize(t *testing.T) {
	ci.SkipUnderRace(t)
	names := []string{
		"latency histogram", "latency band", "latency heat", "percentiles", "rate", "load", "lateness", "stages", "endpoints", "turns", "classes", "cache",
	}
	one := metrics.Snapshot{At: 1500 * time.Millisecond, State: metrics.Running, Windows: []metrics.Window{{}, {Start: time.Second}}}
	one.Windows[0].Histograms[metrics.TTFT].Add(time.Millisecond)
	one.Histograms[metrics.TTFT] = one.Windows[0].Histograms[metrics.TTFT]
	for what, s := range map[string]metrics.Snapshot{
		"full": tuitest.Full(), "conversations": tuitest.Talk(time.Minute, true), "conversations over": tuitest.TalkDone(false), "done": tuitest.FullDone(), "nothing": {}, "one": one, "monstrous": tuitest.MonstrousPages(),
	} {
		for k, mode := range tuitest.Modes {
			for _, name := range names {
				p, ok := Named(name)
				if !ok {
					t.Fatalf("no panel %q", name)
				}
				for i, size := range [][2]int{
					{0, 0}, {1, 1}, {3, 2}, {4, 2}, {5, 3}, {9, 4}, {14, 5}, {18, 3}, {18, 5}, {19, 6}, {26, 9}, {33, 7}, {40, 12},
					{52, 4}, {60, 14}, {97, 11}, {120, 40}, {198, 23},
				} {
					pal := screen.NewPalette(screen.ColorProfile(mode.Color, func(string) string { return "" }))
					v := &View{
						Snapshot: &s, Span: []time.Duration{time.Minute, 0, 30 * time.Second}[i%3], Whole: i%2 == 1, Linear: i%5 == 4,
						Terminal: pal.Terminal(mode.ASCII), Latency: latencies[(i+k)%len(latencies)],
					}
					if i%4 == 3 {
						v.Back, v.Baseline = time.Duration(i)*7*time.Second, &Baseline{Name: "\x1b[2J漢", Report: tuitest.Monstrous().Report}
					} else if i%4 == 1 {
						v.Baseline = older()
					}
					sf := screen.NewSurface(size[0], size[1])
					sf.Terminal = v.Terminal
					p.Draw(sf.All(), v, Box{Joins: i%3 == 1, Opens: i%5 < 2, Bare: i%7 == 6}, i%2 == 0)
					got := sf.Render(&screen.Palette{Mono: true})
					tuitest.Exact(t, got, size[0], size[1], name)
					if strings.Contains(got, "chart error") {
						t.Fatalf("%s of %s in %s at %v:\n%s", name, what, mode.Name, size, got)
					}
				}
			}
		}
	}
}

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

// The columns of a heat map show their own seconds.
func TestHeatColumns(t *testing.T) {
	s := metrics.Snapshot{At: time.Minute, State: metrics.Finished}
	for i := range 60 {
		w := metrics.Window{Start: time.Duration(i) * time.Second}
		at := time.Millisecond
		if i >= 30 {
			at = 100 * time.Millisecond
		}
		if i != 45 {
			w.Histograms[metrics.TTFT].Add(at)
			s.Histograms[metrics.TTFT].Add(at)
		}
		s.Windows = append(s.Windows, w)
	}
	v := &View{Snapshot: &s}
	for _, w := range []int{20, 60, 61, 97, 120} {
		at, ws, end := v.overTime()
		cells := v.heatCells(metrics.TTFT, v.latencyAxis(20, &s.Histograms[metrics.TTFT]), w, at, ws, end)
		empty := 0
		for x, column := range cells {
			if column == nil {
				empty++
				continue
			}
			low, high := 0.0, 0.0
			for y, n := range column {
				if y < 10 {
					low += n
				} else {
					high += n
				}
			}
			if early := x < w/2-w/40; early && high > 0 || x > w/2+w/40 && low > 0 {
				t.Errorf("%d columns: column %d holds %g low and %g high", w, x, low, high)
			}
		}
		if w >= 60 && (empty < 1 || empty > 3) || w < 60 && empty > 0 {
			t.Errorf("%d columns: %d are empty, those of one second ought to be", w, empty)
		}
	}
}

// The band lies between its lines, and ends where there are none.
func TestBand(t *testing.T) {
	s := metrics.Snapshot{At: 40 * time.Second, State: metrics.Finished, Plan: &metrics.Plan{Warmup: 5 * time.Second}}
	for i := range 40 {
		w := metrics.Window{Start: time.Duration(i) * time.Second}
		for k := range 100 {
			if i < 20 || i >= 30 {
				w.Histograms[metrics.TTFT].Add(time.Duration(k+1) * time.Millisecond)
			}
		}
		s.Windows = append(s.Windows, w)
	}
	v := &View{Snapshot: &s, Terminal: screen.Terminal{Filled: true}}
	sf := screen.NewSurface(80+axisWidth, 12)
	sf.Terminal = v.Terminal
	v.versus(bandPlot(v), bandPlot).draw(sf.All())
	area := sf.All().Sub(axisWidth, 0, 80, 12)
	seen := func(x int) map[screen.Color]bool {
		out := map[screen.Color]bool{}
		for y := range area.H {
			if c := area.At(x, y); c.Glyph == '▀' || c.Glyph == '▄' || c.Glyph == '█' {
				out[c.Style.Fg] = true
				if c.Style.Bg != screen.Plain {
					out[c.Style.Bg] = true
				}
			}
		}
		return out
	}
	for _, c := range []struct {
		x    int
		want []screen.Color
	}{
		{5, []screen.Color{screen.Dimmed}}, {30, []screen.Color{screen.P99, screen.P90, screen.P50, screen.Shade(screen.P90), screen.Shade(screen.P99)}}, {50, nil},
		{70, []screen.Color{screen.P99, screen.P90, screen.P50, screen.Shade(screen.P90), screen.Shade(screen.P99)}},
	} {
		got := seen(c.x)
		if len(got) != len(c.want) {
			t.Errorf("column %d: colours %v, want %v\n%s", c.x, got, c.want, sf.Render(&screen.Palette{Mono: true}))
		}
		for _, col := range c.want {
			if !got[col] {
				t.Errorf("column %d: no colour %d", c.x, col)
			}
		}
	}
	// Without colours there are three lines with their names.
	for _, mode := range []View{{Snapshot: &s, Terminal: screen.Terminal{Mono: true}}, {Snapshot: &s}, {Snapshot: &s, Terminal: screen.Terminal{Filled: true, ASCII: true}}} {
		sf := screen.NewSurface(80, 13)
		sf.Terminal = mode.Terminal
		mode.versus(bandPlot(&mode), bandPlot).draw(sf.All())
		got := sf.Render(&screen.Palette{Mono: true})
		for _, name := range []string{" p50", " p90", " p99"} {
			if !strings.Contains(got, name) {
				t.Errorf("no%s on\n%s", name, got)
			}
		}
		if strings.ContainsAny(got, "▀▄") {
			t.Errorf("half blocks on\n%s", got)
		}
	}
}

// long is a run of a quarter of an hour, the most that a chart of a span shows.
func long() metrics.Snapshot {
	s := tuitest.Full()
	var ws []metrics.Window
	for i := range 900 {
		w := s.Windows[i%60]
		w.Start = time.Duration(i) * time.Second
		ws = append(ws, w)
	}
	s.Windows, s.At = ws, 900*time.Second
	return s
}

func BenchmarkLatencyCharts(b *testing.B) {
	for name, s := range map[string]metrics.Snapshot{"1m": tuitest.Full(), "15m": long()} {
		for _, p := range []Panel{latencyBandPanel, latencyHeatPanel, latencyHistogramPanel, percentileTablePanel} {
			b.Run(p.name+"/"+name, func(b *testing.B) {
				sf := screen.NewSurface(120, 30)
				sf.Terminal.Filled = true
				v := &View{Snapshot: &s, Span: 15 * time.Minute, Terminal: sf.Terminal, Latency: metrics.ITL, Raster: new(chart.Raster)}
				for _, l := range latencies {
					v.selected().histogram(l)
				}
				b.ReportAllocs()
				for b.Loop() {
					p.Draw(sf.All(), v, Box{}, false)
				}
			})
		}
	}
}

// BenchmarkPages draws all panels of a page, nothing merged before, of a run of a quarter of an hour beside another one.
func BenchmarkPages(b *testing.B) {
	s := long()
	for _, p := range Pages {
		if p.Name != "Latency" && p.Name != "Load" {
			continue
		}
		for _, baseline := range []*Baseline{nil, older()} {
			for _, size := range [][2]int{{120, 35}, {200, 55}} {
				b.Run(fmt.Sprintf("%s/%dx%d/baseline=%v", p.Name, size[0], size[1], baseline != nil), func(b *testing.B) {
					sf := screen.NewSurface(size[0], size[1])
					sf.Terminal.Filled = true
					b.ReportAllocs()
					for b.Loop() {
						v := &View{Snapshot: &s, Span: 15 * time.Minute, Terminal: screen.Terminal{Filled: true}, Latency: metrics.ITL, Baseline: baseline}
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
