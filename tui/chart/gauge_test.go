package chart

import (
	"math"
	"testing"

	"benchtop/internal/assert"
	"benchtop/tui/screen"
)

func TestGauge(t *testing.T) {
	for _, c := range []struct {
		share, target float64
		want          string
	}{
		{0, -1, "··········"}, {1, -1, "━━━━━━━━━━"}, {0.5, -1, "━━━━━·····"},
		{0.55, -1, "━━━━━╸····"}, {0.9999, -1, "━━━━━━━━━╸"},
		{0.5, 0.9, "━━━━━····│"}, {1, 0.5, "━━━━━│━━━━"}, {0.5, 1, "━━━━━····│"}, {0.5, 0, "│━━━━·····"},
		{math.Inf(1), math.NaN(), "━━━━━━━━━━"}, {-1, 2, "··········"},
	} {
		sf := screen.NewSurface(10, 1)
		sf.Terminal.Mono = true
		Gauge(sf.All(), 0, c.share, c.target, screen.Running)
		assert.Equal(t, sf.Render(&screen.Palette{Mono: true}), c.want, "%g of %g", c.share, c.target)
	}
}
