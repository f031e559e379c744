package panels

import (
	"fmt"
	"slices"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

// objected is the view of a plan whose objectives and gates need n lines.
func objected(n int) *View {
	s := tuitest.Mid()
	plan := *s.Plan
	plan.Gates = make([]metrics.Gate, n)
	s.Plan = &plan
	return &View{Snapshot: &s}
}

// layouts are views with much and with little to show.
func layouts() map[string]*View {
	s := tuitest.Judge(tuitest.Listed(tuitest.Watched(tuitest.Full(), 3)))
	s.Failures = tuitest.Bad().Failures
	return map[string]*View{"": objected(0), "_full": {Snapshot: &s, Latency: metrics.TTFT}}
}

// boxes are the rectangles of a layout, with those above and below the panels.
func (l Areas) boxes() []Box {
	return append([]Box{{Name: "head", Rect: l.Head}, {Name: "verdict", Rect: l.Verdict}, {Name: "keys", Rect: l.Keys}},
		l.Panels...)
}

// TestLayout draws the rectangles as boxes.
func TestLayout(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {60, 15}, {60, 40}, {80, 24}, {120, 40}, {200, 50}} {
		for suffix, v := range layouts() {
			w, h := size[0], size[1]
			got := ""
			for _, p := range Pages[:4] {
				sf := screen.NewSurface(w, h)
				for _, b := range Layout(p, w, h, v).boxes() {
					c := b.Rect.Of(sf.All())
					if c.H > 2 {
						c.Border(false, b.Joins, b.Opens)
					}
					c.Print(2, 0, fmt.Sprintf(" %s %dx%d ", b.Name, b.Rect.W, b.Rect.H), screen.Text)
				}
				got += sf.Render(&screen.Palette{Mono: true}) + "\n"
			}
			tuitest.Golden(t, fmt.Sprintf("layout/%dx%d%s.txt", w, h, suffix), got)
		}
	}
}

// Every cell belongs to one rectangle, or is on the border that two panels of a frame share.
func TestLayoutCoversTheScreen(t *testing.T) {
	ci.SkipUnderRace(t)
	for _, p := range Pages {
		for suffix, v := range layouts() {
			for w := 40; w <= 250; w += 13 {
				for h := 10; h <= 80; h++ {
					seen := make([]bool, w*h)
					for _, b := range Layout(p, w, h, v).boxes() {
						for y := b.Rect.Y; y < b.Rect.Y+b.Rect.H; y++ {
							for x := b.Rect.X; x < b.Rect.X+b.Rect.W; x++ {
								if x < 0 || y < 0 || x >= w || y >= h || seen[y*w+x] && !(b.Joins && y == b.Rect.Y) {
									t.Fatalf("%s%s at %dx%d: %s overlaps at %d,%d", p.Name, suffix, w, h, b.Name, x, y)
								}
								seen[y*w+x] = true
							}
						}
					}
					if i := slices.Index(seen, false); i >= 0 {
						t.Fatalf("%s%s at %dx%d: nothing at %d,%d", p.Name, suffix, w, h, i%w, i/w)
					}
				}
			}
		}
	}
}

func TestFocus(t *testing.T) {
	panels := Layout(Pages[0], 120, 40, objected(0)).Panels
	for _, c := range []struct {
		from   string
		dx, dy int
		want   string
	}{
		{"", 1, 0, "tokens"}, {"tokens", 1, 0, "ttft"}, {"tokens", 0, 1, "load"}, {"tokens", -1, 0, ""},
		{"load", 0, 1, "ttft over time"},
		{"itl", 0, 1, "latency"}, {"latency", 0, 1, "log"}, {"log", 0, -1, "itl over time"}, {"latency", 0, -1, "itl"},
		{"gone", 1, 0, "tokens"},
	} {
		assert.Equal(t, Neighbour(panels, c.from, c.dx, c.dy), c.want, "from %q by %d,%d", c.from, c.dx, c.dy)
	}
}
