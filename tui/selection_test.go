package tui

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/metrics"
	"benchtop/tui/screen"
)

// The words at a mark stand once in a panel of two charts, its line in both.
func TestBendIsNamedOncePerPanel(t *testing.T) {
	s := watched(mid(), 1)
	s.Marks = nil
	s.Answer = &metrics.Answer{Bends: true, At: 38, BentAt: s.At / 2}
	v := &view{s: &s}
	for _, size := range [][2]int{{60, 12}, {100, 20}, {60, 7}, {60, 5}} {
		sf := screen.NewSurface(size[0], size[1])
		drawServerTokens(sf.All(), v)
		rows := strings.Split(sf.Render(&screen.Palette{Mono: true}), "\n")
		if all := strings.Join(rows, "\n"); strings.Count(all, "bend ~38 req/s") != 1 {
			t.Errorf("%v: the bend is named %d times:\n%s", size, strings.Count(all, "bend ~38 req/s"), all)
		}
		if size[1] < 12 {
			continue
		}
		for _, half := range [][]string{rows[:size[1]/2], rows[size[1]/2:]} {
			f, _ := v.overTime(sf.All(), true)
			at := f.ts.column(s.Answer.BentAt) + axisWidth
			if !slices.ContainsFunc(half, func(row string) bool { return []rune(row)[at] == '│' }) {
				t.Errorf("%v: no line of the bend in\n%s", size, strings.Join(half, "\n"))
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

// However seconds are asked for, in order or not, with gaps between the looks or not, each has the same look.
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
		looks := serverLooks{all: all}
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
			if got := looks.in(w); got != want {
				t.Fatalf("second %d: %v, want %v", second, got, want)
			}
			if got := serverIn(all, w); got != want {
				t.Fatalf("second %d asked for alone: %v, want %v", second, got, want)
			}
		}
	}
	// What makes no sense is no reason to fail.
	for _, at := range []time.Duration{0, -1 << 63, endless} {
		serverIn([]metrics.ServerSecond{{At: at}, {At: 1}, {At: at}}, &metrics.Window{Start: time.Second})
		serverIn([]metrics.ServerSecond{{At: at}, {At: at}}, &metrics.Window{Start: at})
	}
}
