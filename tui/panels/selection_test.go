package panels

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
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

// A finder finds what a search finds, whether moments come in order or not.
func TestFinder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	all := make([]time.Duration, 100)
	for i := range all {
		all[i] = time.Duration(i+r.IntN(50)) * time.Second
	}
	slices.Sort(all)
	f := finder[time.Duration]{all: all,
		when: func(at *time.Duration) (time.Duration, time.Duration) { return *at, time.Second }}
	moment := time.Duration(0)
	for range 1000 {
		if moment += time.Second; r.IntN(10) == 0 {
			moment = time.Duration(r.IntN(160)-5) * time.Second
		}
		if got, want := f.from(moment), sort.Search(len(all), func(i int) bool { return all[i] >= moment }); got !=
			want {
			t.Fatalf("%s: sample %d, want %d", moment, got, want)
		}
	}
	for _, at := range []time.Duration{0, -1 << 63, endless} { // senseless times do not panic
		newServerFinder([]metrics.ServerSecond{{At: at}, {At: 1}, {At: at}}).in(&metrics.Window{Start: time.Second})
		newServerFinder([]metrics.ServerSecond{{At: at}, {At: at}}).in(&metrics.Window{Start: at})
	}
}
