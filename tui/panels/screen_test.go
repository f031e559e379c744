package panels

import (
	"strings"
	"testing"

	"benchtop/metrics"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

// View draws a panel alone, border included, without colour.
func (p Panel) View(s *metrics.Snapshot, w, h int) string {
	sf := screen.NewSurface(w, h)
	sf.Terminal.Mono = true
	p.Draw(sf.All(), &View{Snapshot: s, Terminal: sf.Terminal}, Box{}, false)
	return sf.Render(&screen.Palette{Mono: true})
}

// TestPanelsAtEverySize draws each panel alone, small sizes one by one.
func TestPanelsAtEverySize(t *testing.T) {
	s := tuitest.Judge(tuitest.Done())
	for _, name := range []string{"tokens", "load", "ttft over time", "ttft", "itl", "latency", "slo", "errors", "log", "events"} {
		p, ok := Named(name)
		if !ok {
			t.Fatalf("no panel %q", name)
		}
		for w := range 30 {
			for h := range 12 {
				got := p.View(&s, w, h)
				tuitest.Exact(t, got, w, h, name)
				if strings.Contains(got, "chart error") {
					t.Fatalf("%s at %dx%d:\n%s", name, w, h, got)
				}
			}
		}
	}
}

func TestPanelThatPanics(t *testing.T) {
	p := Panel{name: "broken", title: func(*View, int, int) []screen.Span { return []screen.Span{screen.Strong.Span("broken")} }, draw: func(screen.Canvas, *View) { panic("no") }}
	if got := p.View(&metrics.Snapshot{}, 30, 5); !strings.Contains(got, "chart error") {
		t.Errorf("got:\n%s", got)
	}
}
