package panels

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

// kinds are runs of every kind, with everything, nothing and nonsense in them.
func kinds() []metrics.Snapshot {
	limited := tuitest.Sampled(tuitest.Judge(tuitest.Bad()), tuitest.Late, tuitest.Together)
	limited.SaveError = "no space left on device"
	replayed := tuitest.FullDone()
	replayed.Replay = &metrics.Replay{Speed: 2, Length: 100 * time.Second}
	one := metrics.Snapshot{At: 1500 * time.Millisecond, State: metrics.Running,
		Windows: []*metrics.Window{{}, {Start: time.Second}}}
	one.Windows[0].Histograms[metrics.TTFT].Add(time.Millisecond)
	one.Histograms[metrics.TTFT] = one.Windows[0].Histograms[metrics.TTFT]
	return []metrics.Snapshot{
		{State: metrics.Running}, one, tuitest.Young(), tuitest.Judge(tuitest.Bad()),
		tuitest.Judge(tuitest.Listed(tuitest.Watched(tuitest.Full(), 3))),
		tuitest.Judge(tuitest.Listed(tuitest.Watched(tuitest.FullDone(), 3))),
		tuitest.Gone(tuitest.Watched(tuitest.Mid(), 3)), limited, replayed, tuitest.Crowded(tuitest.Mid()),
		tuitest.Pooled(true), tuitest.Talk(time.Minute, true), tuitest.TalkDone(false), tuitest.MonstrousPages(),
		tuitest.Crazy(),
	}
}

// crazyLists are states of the page of requests that keys hardly lead to.
var crazyLists = []List{
	{}, opening(4310), opening(math.MaxInt - 1), {Sort: 200, Filter: "漢\x1b"},
	{Picked: math.MinInt, Line: math.MaxInt, Opened: true},
	{Picked: 4311, Opened: true, Scroll: math.MaxInt}, {Picked: 4311, Line: -5, Scroll: -5, Opened: true},
	{Sort: tuitest.BySlowTTFT, Picked: 1},
}

// baselines are none, a run of before, and nonsense.
var baselines = sync.OnceValue(func() []*Baseline {
	return []*Baseline{nil, older(), {Name: "\x1b[2J漢", Report: tuitest.Monstrous().Report}}
})

// turned is a view of a run with other choices at each turn, and a surface for it, on another terminal.
func turned(s *metrics.Snapshot, turn, w, h int) (*View, *screen.Surface) {
	mode := tuitest.Modes[turn%len(tuitest.Modes)]
	sf := screen.NewSurface(w, h)
	sf.Terminal = screen.NewPalette(screen.ColorProfile(mode.Color, func(string) string { return "" })).Terminal(
		mode.ASCII)
	return &View{
		Snapshot: s, Terminal: sf.Terminal, Span: []time.Duration{0, 30 * time.Second, time.Minute}[turn%3],
		Whole: turn%4 == 0, Linear: turn%5 == 0,
		Baseline: baselines()[turn/2%3], List: crazyLists[turn%8], Back: time.Duration(turn%7) * 5 * time.Second,
		Latency: metrics.Latency(turn % int(metrics.NumInWindow)), Text: strings.Split(Summary(s), "\n"),
	}, sf
}

// whole fails unless a surface is full, with every panel drawn.
func whole(t *testing.T, sf *screen.Surface, what ...any) {
	t.Helper()
	got := sf.Render(&screen.Palette{Mono: true})
	tuitest.Exact(t, got, sf.W, sf.H, fmt.Sprint(what...))
	if strings.Contains(got, "chart error") {
		t.Fatalf("%v at %dx%d:\n%s", what, sf.W, sf.H, got)
	}
}

// Each panel of each kind of run is drawn alone, from nothing to a whole page with the charts it then has below: every
// other kind at the same sizes.
func TestPanelsAtEverySize(t *testing.T) {
	ci.SkipUnderRace(t)
	turn := 0
	for i, s := range kinds() {
		for _, p := range all {
			for n, size := range [][2]int{
				{0, 0}, {1, 1}, {2, 9}, {3, 2}, {4, 2}, {5, 3}, {9, 4}, {14, 5}, {17, 10}, {18, 3}, {18, 5}, {19, 6},
				{23, 11}, {26, 9}, {33, 7}, {40, 12},
				{52, 4}, {60, 14}, {70, 45}, {97, 11}, {120, 40}, {198, 23}, {200, 45},
			} {
				if n%3 != i%3 {
					continue
				}
				turn++
				v, sf := turned(&s, turn, size[0], size[1])
				p.Draw(sf.All(), v, Box{Joins: turn%3 == 1, Opens: turn%5 < 2, Bare: turn%7 == 6}, turn%2 == 0)
				whole(t, sf, p.name, " of run ", i)
			}
		}
	}
	if _, ok := Named("none"); ok {
		t.Error("a panel of no name")
	}
}

// Header, verdict and panels of each page of each kind of run are drawn over a grid of sizes that has the edges of all
// layouts: every other kind over the same half of it.
func TestPagesAtEverySize(t *testing.T) {
	ci.SkipUnderRace(t)
	states := []metrics.State{metrics.Running, metrics.Draining, metrics.Aborting, metrics.Counting, BrokenOff}
	turn := 0
	for i, s := range kinds() {
		for p, page := range append(Pages[:len(Pages):len(Pages)], ReportPage) {
			for col, w := range []int{20, 40, 80, 110, 180, 250} {
				for row, h := range []int{5, 10, 24, 34, 45, 60} {
					if (row+col)%3 != i%3 {
						continue
					}
					turn++
					v, sf := turned(&s, turn, w, h)
					head := Header{View: v, State: states[turn%5], Page: p,
						Behind: time.Duration(turn%3-1) * time.Second,
						Signs:  []screen.Span{screen.Caution.Span("CONTROL")}}
					for _, page := range Pages {
						head.Pages = append(head.Pages, page.Name)
					}
					if s.State == metrics.Finished {
						head.State = s.State
					}
					switch l := Layout(page, w, h, v); {
					case l.Tiny:
						head.DrawTiny(sf.All())
					default:
						head.Draw(l.Head.Of(sf.All()))
						head.DrawVerdict(l.Verdict.Of(sf.All()), l.Head.H == 1)
						for i, b := range l.Panels {
							panel, _ := Named(b.Name)
							panel.Draw(b.Rect.Of(sf.All()), v, b, i == turn%3)
						}
					}
					whole(t, sf, page.Name, " of run ", i)
				}
			}
		}
	}
}
