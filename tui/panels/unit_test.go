package panels

import (
	"fmt"
	"testing"
	"time"

	"benchtop/metrics"
	"benchtop/tui/screen"
)

// objected is the view of a plan whose objectives and gates need n lines.
func objected(n int) *View {
	s := mid()
	plan := *s.Plan
	plan.Gates = make([]metrics.Gate, n)
	s.Plan = &plan
	return &View{Snapshot: &s}
}

// TestLayout draws the rectangles as boxes, without objectives and with five lines of them.
func TestLayout(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {60, 40}, {80, 24}, {110, 34}, {120, 40}, {180, 45}, {200, 60}} {
		for slo, suffix := range map[int]string{0: "", 5: "_slo"} {
			w, h := size[0], size[1]
			l := Layout(Pages[0], w, h, objected(slo))
			sf := screen.NewSurface(w, h)
			all := append([]Box{{"head", l.Head}, {"figures", l.Figures}, {"keys", l.Keys}}, l.Panels...)
			covered := 0
			for _, b := range all {
				covered += b.Rect.W * b.Rect.H
				c := b.Rect.Of(sf.All())
				if c.H > 2 {
					c.Border(false)
				}
				c.Print(2, 0, fmt.Sprintf(" %s %dx%d ", b.Name, b.Rect.W, b.Rect.H), screen.Text)
			}
			if covered != w*h {
				t.Errorf("%dx%d%s: %d of %d cells covered", w, h, suffix, covered, w*h)
			}
			golden(t, fmt.Sprintf("layout/%dx%d%s.txt", w, h, suffix), sf.Render(&screen.Palette{Mono: true})+"\n")
		}
	}
}

func TestLayoutNeverOverlaps(t *testing.T) {
	for _, p := range Pages {
		for w := 40; w <= 250; w += 7 {
			for h := 10; h <= 80; h++ {
				if leftOut(w+h, 5) {
					continue
				}
				l := Layout(p, w, h, objected((w+h)%14))
				seen := make([]bool, w*h)
				for _, b := range append([]Box{{"head", l.Head}, {"figures", l.Figures}, {"keys", l.Keys}}, l.Panels...) {
					for y := b.Rect.Y; y < b.Rect.Y+b.Rect.H; y++ {
						for x := b.Rect.X; x < b.Rect.X+b.Rect.W; x++ {
							if x < 0 || y < 0 || x >= w || y >= h || seen[y*w+x] {
								t.Fatalf("%s at %dx%d: %s overlaps at %d,%d", p.Name, w, h, b.Name, x, y)
							}
							seen[y*w+x] = true
						}
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
		{"", 1, 0, "tokens"}, {"tokens", 1, 0, "load"}, {"tokens", 0, 1, "ttft"}, {"tokens", -1, 0, ""}, {"load", 0, 1, "itl"},
		{"itl", 0, 1, "errors"}, {"errors", 0, 1, "log"}, {"log", 0, -1, "latency"}, {"latency", 0, -1, "ttft"}, {"gone", 1, 0, "tokens"},
	} {
		if got := Neighbour(panels, c.from, c.dx, c.dy); got != c.want {
			t.Errorf("from %q by %d,%d: %q, want %q", c.from, c.dx, c.dy, got, c.want)
		}
	}
}

// TestRatesUseClosedSeconds: the second that is still open would show as a drop.
func TestRatesUseClosedSeconds(t *testing.T) {
	s := metrics.Snapshot{At: 3400 * time.Millisecond, State: metrics.Running}
	for i := range 4 {
		w := metrics.Window{Start: time.Duration(i) * time.Second, OutputTokens: 100}
		if i == 3 {
			w.OutputTokens = 40
		}
		s.Windows = append(s.Windows, w)
	}
	if got := recent(&s, outputTokens); got != 100 {
		t.Errorf("running: %g tokens/s, want 100", got)
	}
	s.State, s.At = metrics.Finished, 3800*time.Millisecond
	s.Windows[3].OutputTokens = 80
	if got := recent(&s, outputTokens); got != 100 {
		t.Errorf("finished: %g tokens/s, want 100", got)
	}
}
