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

// opened is the title of a panel that makes its title and its inside of the same.
func opened(p Panel) titleOf {
	return func(v *View, w, h int) []screen.Span {
		title, _ := p.open(v)
		return title(v, w, h)
	}
}
