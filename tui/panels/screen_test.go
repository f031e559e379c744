package panels

import (
	"testing"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/tui/screen"
)

// textOf is what spans say, title what a panel has above it.
func textOf(all []screen.Span) (out string) {
	for _, s := range all {
		out += s.Text
	}
	return out
}

func title(p Panel, v *View, w, h int) string {
	of := p.title
	if p.open != nil {
		of, _ = p.open(v)
	}
	return textOf(of(v, w, h))
}

// View draws a panel alone, border included, without colour.
func (p Panel) View(s *metrics.Snapshot, w, h int) string {
	return p.inView(&View{Snapshot: s, Terminal: screen.Terminal{Mono: true}}, w, h)
}

// inView draws a panel alone with the choices of a view.
func (p Panel) inView(v *View, w, h int) string {
	sf := screen.NewSurface(w, h)
	sf.Terminal = v.Terminal
	p.Draw(sf.All(), v, Box{}, false)
	return sf.Render(&screen.Palette{Mono: true})
}

func TestPanelThatPanics(t *testing.T) {
	p := Panel{name: "broken", title: func(*View, int, int) []screen.Span {
		return []screen.Span{screen.Strong.Span("broken")}
	}, draw: func(screen.Canvas, *View) { panic("no") }}
	assert.Has(t, p.View(&metrics.Snapshot{}, 30, 5), "chart error")
}
