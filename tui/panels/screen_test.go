package panels

import (
	"strings"
	"testing"

	"benchtop/metrics"
	"benchtop/tui/screen"
)

// View draws a panel alone, border included, without colour.
func (p Panel) View(s *metrics.Snapshot, w, h int) string {
	sf := screen.NewSurface(w, h)
	sf.Terminal.Mono = true
	p.Draw(sf.All(), &View{Snapshot: s, Terminal: sf.Terminal}, Box{}, false)
	return sf.Render(&screen.Palette{Mono: true})
}

func TestPanelThatPanics(t *testing.T) {
	p := Panel{name: "broken", title: func(*View, int, int) []screen.Span { return []screen.Span{screen.Strong.Span("broken")} }, draw: func(screen.Canvas, *View) { panic("no") }}
	if got := p.View(&metrics.Snapshot{}, 30, 5); !strings.Contains(got, "chart error") {
		t.Errorf("got:\n%s", got)
	}
}
