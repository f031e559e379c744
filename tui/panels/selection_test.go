package panels

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/metrics"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

// The words at a mark stand once in a panel of two charts, its line in both.
func TestSaturationIsNamedOncePerPanel(t *testing.T) {
	s := tuitest.Watched(tuitest.Mid(), 1)
	s.Marks = nil
	s.Answer = &metrics.Answer{Saturates: true, Confirmed: true, From: 37, To: 39, SaturatedAt: s.At / 2}
	v := &View{Snapshot: &s}
	for _, size := range [][2]int{{60, 12}, {100, 20}, {60, 7}, {60, 5}} {
		sf := screen.NewSurface(size[0], size[1])
		_, draw := serverTokensPanel.open(v)
		draw(sf.All(), v)
		rows := strings.Split(sf.Render(&screen.Palette{Mono: true}), "\n")
		if all := strings.Join(rows, "\n"); strings.Count(all, "saturates 37–39 req/s") != 1 {
			t.Errorf("%v: saturation is named %d times:\n%s", size, strings.Count(all, "saturates 37–39 req/s"), all)
		}
		if size[1] < 12 {
			continue
		}
		for _, half := range [][]string{rows[:size[1]/2], rows[size[1]/2:]} {
			ax, _, _ := v.overTime()
			at := int(math.Round(ax.Part(s.Answer.SaturatedAt)*float64(2*(size[0]-axisWidth)-1)))/2 + axisWidth
			if !slices.ContainsFunc(half, func(row string) bool { return []rune(row)[at] == '│' }) {
				t.Errorf("%v: no line of saturation in\n%s", size, strings.Join(half, "\n"))
			}
		}
	}
}

func TestWithin(t *testing.T) {
	var ws []metrics.Window
	for i := range 10 {
		ws = append(ws, metrics.Window{Start: time.Duration(i) * time.Second})
	}
	for _, c := range []struct{ from, to, first, n time.Duration }{
		{0, endless, 0, 10},
		{-time.Second, 3 * time.Second, 0, 3},
		{2500 * time.Millisecond, 5 * time.Second, 3, 2},
		{2500 * time.Millisecond, 5*time.Second + 1, 3, 3},
		{9 * time.Second, endless, 9, 1},
		{10 * time.Second, endless, 0, 0},
		{5 * time.Second, 5 * time.Second, 0, 0},
		{8 * time.Second, 2 * time.Second, 0, 0},
	} {
		got := within(ws, c.from, c.to)
		if len(got) != int(c.n) || c.n > 0 && got[0].Start != c.first*time.Second {
			t.Errorf("[%v, %v): %d windows from %v, want %d from %ds", c.from, c.to, len(got), got, c.n, c.first)
		}
	}
	if within(nil, 0, endless) != nil {
		t.Error("windows out of nothing")
	}
}

// Each second has the same sample, whether seconds are asked for in order or not, with gaps between the samples or not.
func TestServerLooks(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		var all []metrics.ServerSecond
		for at := time.Duration(0); at < 100*time.Second; {
			at += time.Duration(700+r.IntN(600)) * time.Millisecond
			if r.IntN(20) == 0 {
				at += 15 * time.Second
			}
			all = append(all, metrics.ServerSecond{At: at, Took: time.Second})
		}
		looks := serverFinder{all: all}
		second := 0
		for range 300 {
			second++
			if r.IntN(10) == 0 {
				second = r.IntN(110)
			}
			w := &metrics.Window{Start: time.Duration(second) * time.Second}
			var want *metrics.ServerSecond
			mid := w.Start + time.Second/2
			for i := range all {
				if at := all[i].At; at >= mid {
					if at-time.Second <= mid {
						want = &all[i]
					}
					break
				}
				if mid-all[i].At < staleAfter {
					want = &all[i]
				}
			}
			// Of two samples in one second the later stands for both.
			same := func(got *metrics.ServerSecond) bool {
				if got == nil || want == nil || got.Took <= time.Second {
					return got == want
				}
				return want.At > w.Start && got.At >= want.At && got.At <= w.Start+time.Second
			}
			if got := looks.in(w); !same(got) {
				t.Fatalf("second %d: %v, want %v", second, got, want)
			}
			if got := serverIn(all, w); !same(got) {
				t.Fatalf("second %d asked for alone: %v, want %v", second, got, want)
			}
		}
	}
	// Senseless times do not panic.
	for _, at := range []time.Duration{0, -1 << 63, endless} {
		serverIn([]metrics.ServerSecond{{At: at}, {At: 1}, {At: at}}, &metrics.Window{Start: time.Second})
		serverIn([]metrics.ServerSecond{{At: at}, {At: at}}, &metrics.Window{Start: at})
	}
}

// Titles of charts that are scrolled back have the values at their right edge, not those of now.
func TestTitlesScrolledBack(t *testing.T) {
	s := metrics.Snapshot{At: 100 * time.Second, State: metrics.Running, OutputExact: true, Telemetry: metrics.Telemetry{ServerKind: "vLLM"},
		Plan: &metrics.Plan{}, Held: 903, Waiting: 902, Running: 901}
	s.Plan.Ramp = &metrics.Ramp{Strategy: "linear", From: 1, To: 101, Over: 100 * time.Second}
	for i := range 100 {
		x, at := 100, time.Duration(i)*time.Second
		if i >= 70 { // from there on another load
			x = 900
		}
		w := metrics.Window{Start: at, Counts: metrics.Counts{Sent: x + 1, Completed: x + 2}, TokensIn: x + 3, TokensOut: x + 4, Running: x + 5, Waiting: x + 6, Held: x + 7}
		w.Histograms[metrics.TTFT].Add(time.Duration(x) * time.Millisecond)
		s.Windows = append(s.Windows, w)
		f := float64(x)
		s.Server = append(s.Server, metrics.ServerSecond{At: at + time.Second, Took: time.Second, Running: f + 8, Waiting: f + 9, KVUsage: f / 1000,
			OutputTokens: f + 10, PromptTokens: f + 11, TTFT: metrics.ServerLatency{N: 1, Mean: time.Duration(x-10) * time.Millisecond},
			First: metrics.TTFTParts{N: 1, TTFT: time.Duration(x) * time.Millisecond}})
		s.Client = append(s.Client, metrics.ClientSecond{At: at + time.Second, Took: time.Second, CPU: f / 1000, Cores: 1, Sent: 1,
			LateP99: time.Duration(x+12) * time.Millisecond, LateMax: time.Duration(x+13) * time.Millisecond})
	}
	over := s
	over.State = metrics.Finished
	over.Report = &metrics.Report{OutputThroughput: 905, TotalThroughput: 1811, SentRate: 906, RequestThroughput: 907}
	for _, c := range []struct {
		title func(*View, int, int) []screen.Span
		want  string // at the right edge; those of now begin with a 9
	}{
		{opened(timePanel("", tokensPlot)), "tokens/s ━ out 104 ━ in 103 · 5s to 1:10"},
		{opened(timePanel("", loadPlot)), "requests ━ running 105 ━ waiting 106 ━ queued here 107"},
		{opened(timePanel("", ratePlot)), "req/s ━ target 71 ━ sent 101 ━ done 102"},
		{latenessTitle, "lateness ━ p99 112ms ━ max 113ms ━ CPU 10%"},
		{opened(serverQueuePanel), "vLLM queue ━ running 108 ━ waiting 109 ━ waiting (client) 106"},
		{opened(serverTokensPanel), "server tok/s ━ out 110 ━ out (client) 104 ━ prompt 111"},
		{opened(timePanel("", serverTTFTPlot)), "mean TTFT ━ client 100ms ━ server 90.0ms"},
		{kvTitle, "KV cache % ━ used 10% ━ preempted 0"},
	} {
		words := func(s *metrics.Snapshot, back time.Duration) string {
			var out strings.Builder
			for _, part := range c.title(&View{Snapshot: s, Span: 30 * time.Second, Back: back}, 100, 10) {
				out.WriteString(part.Text)
			}
			return out.String()
		}
		for _, s := range []*metrics.Snapshot{&s, &over} {
			if got := words(s, 30*time.Second); got != c.want {
				t.Errorf("%s, scrolled back: %q, want %q", s.State, got, c.want)
			}
			if got := words(s, 0); got == c.want || !strings.Contains(got, "9") {
				t.Errorf("%s, now: %q", s.State, got)
			}
		}
	}
}

// opened is the title of a panel that makes its title and its inside of the same.
func opened(p Panel) titleOf {
	return func(v *View, w, h int) []screen.Span {
		title, _ := p.open(v)
		return title(v, w, h)
	}
}
