package panels

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
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

// Charts that are scrolled back show whole seconds, at most so far back that they begin with the run; figures are of
// the same seconds without the warm-up.
func TestScrolledBack(t *testing.T) {
	s := metrics.Snapshot{At: 100*time.Second + 300*time.Millisecond, State: metrics.Running,
		Plan: &metrics.Plan{Warmup: time.Second}}
	for i := range 101 {
		w := &metrics.Window{Start: time.Duration(i) * time.Second}
		w.Histograms[metrics.TTFT].Add(time.Millisecond)
		s.Windows = append(s.Windows, w)
		if i >= 1 {
			s.Histograms[metrics.TTFT].Merge(&w.Histograms[metrics.TTFT])
		}
	}
	for _, c := range []struct {
		span, back            time.Duration
		first, last, observed int
		scope                 string
	}{
		{30 * time.Second, 0, 70, 99, 31, "last 30s"}, // the open second has no rates, but figures
		{30 * time.Second, 20*time.Second + 900*time.Millisecond, 50, 79, 30, "0:50 to 1:20"},
		{30 * time.Second, time.Hour, 0, 29, 29, "0:00 to 0:30"},
		{5 * time.Minute, 20 * time.Second, 0, 99, 100, "whole run"}, // longer than the run
	} {
		v := &View{Snapshot: &s, Span: c.span, Back: c.back}
		p := v.selected()
		first, last := int(p.closed[0].Start/time.Second), int(p.closed[len(p.closed)-1].Start/time.Second)
		if n := int(p.histogram(metrics.TTFT).Count()); first != c.first || last != c.last || n != c.observed {
			t.Errorf("%v back %v: seconds %d to %d with %d values, want %d to %d with %d", c.span, c.back, first, last,
				n, c.first, c.last, c.observed)
		}
		assert.Equal(t, v.scope(), c.scope, "%v back %v: titles say", c.span, c.back)
	}
}

// The figures of titles are those of the second at the right edge of charts that are scrolled back, though the run is
// over; at its end they are its means.
func TestTitlesScrolledBack(t *testing.T) {
	s := metrics.Snapshot{At: 100 * time.Second, State: metrics.Finished, Report: &metrics.Report{}}
	for i := range 100 {
		running := 100.0
		if i >= 70 { // from there on another load
			running = 900
		}
		at := time.Duration(i) * time.Second
		s.Windows = append(s.Windows, &metrics.Window{Start: at})
		s.Server = append(s.Server, metrics.ServerSecond{At: at + time.Second, Took: time.Second, Running: running})
	}
	for back, want := range map[time.Duration]string{0: "340, max 900", 30 * time.Second: "100"} {
		v := &View{Snapshot: &s, Span: 30 * time.Second, Back: back}
		if got, _ := v.serverFigure(serverRunning, said); got != want {
			t.Errorf("back %v: %q, want %q", back, got, want)
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
