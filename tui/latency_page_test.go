package tui

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muesli/termenv"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/screen"
)

// onPage opens a page by its name.
func onPage(s metrics.Snapshot, name string, w, h int, p termenv.Profile) *model {
	m := open(s, w, h, p)
	m.page = pageNamed(name)
	m.show()
	return m
}

func pageNamed(name string) int {
	for i, p := range pages {
		if p.name == name {
			return i
		}
	}
	return -1
}

// older is a run to compare with: the ramp on a server that is a third slower.
var older = sync.OnceValue(func() *Baseline {
	s := done()
	r := *s.Report
	r.Timeline = nil
	for _, w := range s.Windows {
		w.OutputTokens, w.InputTokens, w.Done = w.OutputTokens*2/3, w.InputTokens*2/3, w.Done*2/3
		w.Running, w.Waiting = w.Running*4/3, w.Waiting*4/3
		w.Histograms[metrics.TTFT], w.Histograms[metrics.ITL] = slower(&w.Histograms[metrics.TTFT]), slower(&w.Histograms[metrics.ITL])
		r.Timeline = append(r.Timeline, w)
	}
	r.Histograms[metrics.TTFT], r.Histograms[metrics.ITL], r.Histograms[metrics.TPOT], r.Histograms[metrics.E2EL] = slower(&s.Histograms[metrics.TTFT]), slower(&s.Histograms[metrics.ITL]), slower(&s.Histograms[metrics.TPOT]), slower(&s.Histograms[metrics.E2EL])
	r.Histograms[metrics.FirstAnswer], r.Histograms[metrics.SlotWait], r.Histograms[metrics.ScheduledLatency] = slower(&s.Histograms[metrics.FirstAnswer]), slower(&s.Histograms[metrics.SlotWait]), slower(&s.Histograms[metrics.ScheduledLatency])
	for _, stat := range []*metrics.Statistic{&r.Statistics[metrics.TTFT], &r.Statistics[metrics.TPOT], &r.Statistics[metrics.ITL], &r.Statistics[metrics.E2EL]} {
		more := *stat
		more.Mean, more.Median, more.Max = 1.5*stat.Mean, 1.5*stat.Median, 1.5*stat.Max
		more.Percentiles, more.Shown = nil, nil
		for _, p := range stat.Shown {
			more.Shown = append(more.Shown, metrics.Percentile{P: p.P, Value: 1.5 * p.Value})
		}
		*stat = more
	}
	return &Baseline{Name: "2026-11-20-0915.json", Report: &r}
})

func slower(h *metrics.Histogram) metrics.Histogram {
	var out metrics.Histogram
	for b := range h.Buckets() {
		for range b.Count {
			out.Add(b.From * 3 / 2)
		}
	}
	return out
}

var pageSizes = [][2]int{{40, 10}, {80, 24}, {120, 40}, {200, 50}}

func TestLatencyAndLoadScreens(t *testing.T) {
	for _, page := range []string{"Latency", "Load"} {
		for _, st := range []struct {
			name string
			open func(w, h int) *model
		}{
			{"full", func(w, h int) *model { return onPage(full(), page, w, h, termenv.Ascii) }},
			{"back", func(w, h int) *model {
				m := onPage(full(), page, w, h, termenv.Ascii)
				m.span, m.until, m.latency = 0, m.body.At.Truncate(time.Second)-20*time.Second, metrics.E2EL
				m.show()
				return m
			}},
			{"baseline", func(w, h int) *model {
				m := onPage(full(), page, w, h, termenv.Ascii)
				m.baseline = older()
				m.show()
				return m
			}},
			{"done", func(w, h int) *model { return onPage(fullDone(), page, w, h, termenv.Ascii) }},
			{"young", func(w, h int) *model { return onPage(judge(young()), page, w, h, termenv.Ascii) }},
		} {
			for _, size := range pageSizes {
				name := fmt.Sprintf("%s_%s_%dx%d.txt", strings.ToLower(page), st.name, size[0], size[1])
				t.Run(name, func(t *testing.T) {
					got := onlyPanels(st.open(size[0], size[1]))
					golden(t, "pages/"+name, got+"\n")
				})
			}
		}
		for name, p := range map[string]termenv.Profile{"true": termenv.TrueColor, "256": termenv.ANSI256, "16": termenv.ANSI} {
			m := onPage(full(), page, 80, 24, p)
			golden(t, fmt.Sprintf("pages/%s_%s_80x24.txt", strings.ToLower(page), name), strings.ReplaceAll(onlyPanels(m), "\x1b", "␛")+"\n")
		}
		m := onPage(full(), page, 120, 40, termenv.Ascii)
		m.ascii = true
		m.show()
		got := onlyPanels(m)
		if i := strings.IndexFunc(got, func(r rune) bool { return r > 0x7e }); i >= 0 {
			t.Errorf("%s in ASCII: %q", page, got[i:i+3])
		}
		golden(t, fmt.Sprintf("pages/%s_ascii_120x40.txt", strings.ToLower(page)), got+"\n")
	}
}

// onlyPanels is the screen without the lines above and below the panels, which other tests look at.
func onlyPanels(m *model) string {
	lines := strings.Split(m.View(), "\n")
	l := m.layout()
	if len(l.panels) == 0 {
		return "no panels"
	}
	return strings.Join(lines[l.panels[0].rect.y:l.keys.y], "\n")
}

// Every panel of the two pages at every small size, in every mode, with everything, nothing, and nonsense.
func TestNewPanelsAtEverySize(t *testing.T) {
	names := []string{
		"latency histogram", "latency band", "latency heat", "percentiles", "rate", "load", "lateness", "stages", "endpoints",
	}
	one := metrics.Snapshot{At: 1500 * time.Millisecond, State: metrics.Running, Windows: []metrics.Window{{}, {Start: time.Second}}}
	one.Windows[0].Histograms[metrics.TTFT].Add(time.Millisecond)
	one.Histograms[metrics.TTFT] = one.Windows[0].Histograms[metrics.TTFT]
	for what, s := range map[string]metrics.Snapshot{
		"full": full(), "done": fullDone(), "nothing": {}, "one": one, "monstrous": monstrousPages(),
	} {
		for k, mode := range modes {
			for _, name := range names {
				p, ok := panelNamed(name)
				if !ok {
					t.Fatalf("no panel %q", name)
				}
				for i, size := range [][2]int{
					{0, 0}, {1, 1}, {3, 2}, {4, 2}, {5, 3}, {9, 4}, {14, 5}, {18, 3}, {18, 5}, {19, 6}, {26, 9}, {33, 7}, {40, 12},
					{52, 4}, {60, 14}, {97, 11}, {120, 40}, {198, 23},
				} {
					if leftOut(i+k, 5) {
						continue
					}
					pal := screen.NewPalette(screen.ColorProfile(mode.color, func(string) string { return "" }))
					v := &view{
						s: &s, span: []time.Duration{time.Minute, 0, 30 * time.Second}[i%3], whole: i%2 == 1, linear: i%5 == 4,
						Terminal: pal.Terminal(mode.ascii), latency: latencies[(i+k)%len(latencies)],
					}
					if i%4 == 3 {
						v.back, v.baseline = time.Duration(i)*7*time.Second, &Baseline{Name: "\x1b[2J漢", Report: monstrous().Report}
					} else if i%4 == 1 {
						v.baseline = older()
					}
					sf := screen.NewSurface(size[0], size[1])
					sf.Terminal = v.Terminal
					p.frame(sf.All(), v, i%2 == 0)
					got := sf.Render(&screen.Palette{Mono: true})
					exact(t, got, size[0], size[1], name)
					if strings.Contains(got, "chart error") {
						t.Fatalf("%s of %s in %s at %v:\n%s", name, what, mode.name, size, got)
					}
				}
			}
		}
	}
}

// monstrousPages adds to the monstrous run what the pages show.
func monstrousPages() metrics.Snapshot {
	s := monstrous()
	s.Report = nil
	var h metrics.Histogram
	h.Add(0)
	h.Add(math.MaxInt64)
	s.Histograms[metrics.FirstAnswer], s.Histograms[metrics.ScheduledLatency], s.Histograms[metrics.SlotWait] = h, h, h
	s.Answer = &metrics.Answer{
		Saturates: true, From: math.Inf(1), To: math.NaN(), Before: -7, After: math.MaxInt, Within: true, Highest: math.NaN(), Sure: math.NaN(),
		SaturatedAt: 40 * time.Second, Why: "\x1b[2J",
	}
	for i := range 50 {
		v := []float64{math.NaN(), math.Inf(1), 1e300, -1, 0, 7}[i%6]
		s.Levels = append(s.Levels, metrics.LoadLevel{
			From: time.Duration(i) * time.Second, To: time.Duration(i-i%3+1) * time.Second, Offered: v, Sent: v, Done: v, TTFTp99: v,
			Requests: math.MaxInt, Good: math.MinInt, Users: i%2 == 0,
		})
		s.Client = append(s.Client, metrics.ClientSecond{
			At: time.Duration(i) * time.Second, Took: time.Second, CPU: v, Cores: []float64{0, 1, math.NaN()}[i%3], Sent: i % 4,
			LateP99: time.Duration(math.MaxInt64), LateMax: -1,
		})
		s.Endpoints = append(s.Endpoints, metrics.Endpoint{Model: strings.Repeat("漢\x07", i), Sent: math.MinInt, OutputTokens: math.MaxInt, FirstWait: h})
		s.Marks = append(s.Marks, metrics.LogEntry{At: time.Duration(i) * time.Second, Set: &metrics.LoadSetting{
			Rate: v, RampTo: v, RampOver: -time.Second, Users: -1, Paused: i%7 == 0,
		}})
	}
	return s
}

// Charts end before now when they are scrolled back, and so does what is merged.
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
		{30 * time.Second, 0, 70, 99, 31, "now", "last 30s"}, // with the open second
		{30 * time.Second, 20 * time.Second, 50, 79, 30, "-20s", "30s until -20s"},
		{30 * time.Second, 20*time.Second + 900*time.Millisecond, 50, 79, 30, "-20s", "30s until -20s"},
		{30 * time.Second, time.Hour, 0, 29, 30, "-70s", "30s until -70s"},
		{30 * time.Second, -time.Second, 70, 99, 31, "now", "last 30s"},
		{5 * time.Minute, 20 * time.Second, 0, 99, 101, "now", "last 5m"}, // longer than the run
		{0, 20 * time.Second, 0, 99, 101, "now", "whole run"},
	} {
		v := &view{s: &s, span: c.span, back: c.back}
		p := v.selected()
		first, last := p.closed[0].Start/time.Second, p.closed[len(p.closed)-1].Start/time.Second
		if int(first) != c.first || int(last) != c.last || p.histogram(metrics.TTFT).Count() != c.n {
			t.Errorf("%+v: windows %d to %d, %d samples", c, first, last, p.histogram(metrics.TTFT).Count())
		}
		lines := draw(loadPlot(v), 60, 8)
		if axis := lines[len(lines)-1]; !strings.HasSuffix(axis, c.right) {
			t.Errorf("%+v: axis %q", c, axis)
		}
		if got := v.scope(); got != c.scope {
			t.Errorf("%+v: titles say %q", c, got)
		}
	}
	v := &view{s: &s, span: time.Minute, back: 30 * time.Second}
	lines := draw(loadPlot(v), 70, 8)
	if axis := lines[len(lines)-1]; !strings.Contains(axis, "┴-75s") || !strings.Contains(axis, "┴-45s") {
		t.Errorf("axis %q, want labels at round times before now", axis)
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
	v := &view{s: &s}
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
	v := &view{s: &s, Terminal: screen.Terminal{Filled: true}}
	sf := screen.NewSurface(80+axisWidth, 13)
	sf.Terminal = v.Terminal
	drawBand(sf.All(), v)
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
		{5, []screen.Color{screen.Dimmed}}, {30, []screen.Color{screen.Vermilion, screen.Yellow, screen.Blue, screen.BandLow, screen.BandHigh}}, {50, nil},
		{70, []screen.Color{screen.Vermilion, screen.Yellow, screen.Blue, screen.BandLow, screen.BandHigh}},
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
	for _, mode := range []view{{s: &s, Terminal: screen.Terminal{Mono: true}}, {s: &s}, {s: &s, Terminal: screen.Terminal{Filled: true, ASCII: true}}} {
		sf := screen.NewSurface(80, 13)
		sf.Terminal = mode.Terminal
		drawBand(sf.All(), &mode)
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
	s := full()
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
	for name, s := range map[string]metrics.Snapshot{"1m": full(), "15m": long()} {
		for _, p := range []panel{latencyBandPanel, latencyHeatPanel, latencyHistogramPanel, percentileTablePanel} {
			b.Run(p.name+"/"+name, func(b *testing.B) {
				sf := screen.NewSurface(120, 30)
				sf.Terminal.Filled = true
				v := &view{s: &s, span: 15 * time.Minute, Terminal: sf.Terminal, latency: metrics.ITL, raster: new(chart.Raster)}
				for _, l := range latencies {
					v.selected().histogram(l)
				}
				b.ReportAllocs()
				for b.Loop() {
					p.frame(sf.All(), v, false)
				}
			})
		}
	}
}

// BenchmarkPages draws all panels of a page, nothing merged before, of a run of a quarter of an hour beside another one.
func BenchmarkPages(b *testing.B) {
	s := long()
	for _, p := range pages {
		if p.name != "Latency" && p.name != "Load" {
			continue
		}
		for _, baseline := range []*Baseline{nil, older()} {
			for _, size := range [][2]int{{120, 35}, {200, 55}} {
				b.Run(fmt.Sprintf("%s/%dx%d/baseline=%v", p.name, size[0], size[1], baseline != nil), func(b *testing.B) {
					sf := screen.NewSurface(size[0], size[1])
					sf.Terminal.Filled = true
					b.ReportAllocs()
					for b.Loop() {
						v := &view{s: &s, span: 15 * time.Minute, Terminal: screen.Terminal{Filled: true}, latency: metrics.ITL, baseline: baseline}
						for _, bx := range p.panels(rect{0, 0, size[0], size[1]}, v) {
							panel, _ := panelNamed(bx.name)
							panel.frame(bx.rect.of(sf.All()), v, false)
						}
					}
				})
			}
		}
	}
}
