package chart

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/tui/screen"
)

// terminals are the ways to draw.
var terminals = []screen.Terminal{{}, {Mono: true}, {Filled: true}, {ASCII: true}, {Mono: true, ASCII: true},
	{Filled: true, ASCII: true}}

func TestSparkline(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{nil, "     "}, {[]float64{0, 0}, "     "}, {[]float64{4, 8}, "   ▄█"},
		{[]float64{9, 9, 1, 2, 4, 6, 8}, "▁▂▄▆█"},
		{[]float64{math.NaN(), math.Inf(-1), -5, 1}, "    █"},
	} {
		sf := screen.NewSurface(5, 1)
		Sparkline(sf.All(), nil, c.values, screen.Text)
		assert.Equal(t, sf.Render(&screen.Palette{Mono: true}), c.want, "%v", c.values)
	}
}

// FuzzCharts draws values of any bits at any size: no chart panics, hangs or writes beyond its canvas.
func FuzzCharts(f *testing.F) {
	bits := func(all ...float64) (out []byte) {
		for _, v := range all {
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
		}
		return out
	}
	f.Add(bits(1, 2, 3), uint8(40), uint8(12), uint8(0))
	f.Add(bits(math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1e300, 5e-324, math.MaxFloat64), uint8(200), uint8(60),
		uint8(2))
	f.Add(bits(math.Inf(1), 0), uint8(17), uint8(3), uint8(3))
	for how := range uint8(12) { // seconds in nanoseconds, which are moments too
		f.Add(bits(1e9, 2e9, 5e8, 3e9, 4e9, math.NaN(), 6e9), 60+how, 30+how, how)
	}
	f.Fuzz(func(t *testing.T, data []byte, w, h, how uint8) {
		h %= 64 // higher ones only take longer
		var values []float64
		for ; len(data) >= 8 && len(values) < 64; data = data[8:] {
			values = append(values, math.Float64frombits(binary.LittleEndian.Uint64(data)))
		}
		l := Line{Name: "x", Filled: how%3 > 0, Sparse: how&1 != 0, Color: screen.Output}
		at, taken := time.Duration(0), time.Duration(0)
		var moments []time.Duration
		for _, v := range values {
			if step := time.Duration(v); step > 0 {
				taken = step // a moment may be anywhere, but comes after the one before
			}
			at += min(taken, math.MaxInt64-at)
			l.Points = append(l.Points, Point{at, v})
			moments = append(moments, time.Duration(v))
		}
		axis := NewLatencyAxis(max(1, int(w)), LatencyRange{at / 3, at / 2, at, how&4 != 0})
		if how&2 != 0 {
			axis = NewLinearAxis(max(1, int(w)), LatencyRange{To: at})
		}
		sum := axis.Spread()
		for i := 1; i < len(l.Points); i++ {
			sum.Add(l.Points[i-1].At, l.Points[i].At, values[i])
		}
		now := TimeAxis{From: at / 3, Shown: at, Warm: at / 2}
		var limits []Limit
		var marks []Annotation
		for _, m := range moments {
			limits, marks = append(limits, Limit{"limit", m}),
				append(marks, Annotation{At: m, Name: "mark", Glyph: '┊', Prominent: true})
		}
		cells := make([][]float64, w)
		for x := range cells {
			cells[x] = values
		}
		var spots []Spot
		var pairs [][2]float64
		for i := 1; i < len(values); i++ {
			spots, pairs = append(spots, Spot{values[i-1], values[i], '●', screen.Strong}),
				append(pairs, [2]float64{values[i-1], values[i]})
		}
		l.Older = l.Points
		lines := []Line{l, {Name: "level", Points: []Point{{0, 1}, {at, 1}}}, l}
		bars := Bars{sum.Bins, uint64(len(values))}
		for _, draw := range []func(screen.Canvas, *Raster){
			Plot{Time: now, Lines: lines, Limits: limits, Annotations: marks,
				Underline: Underline{"underlined", screen.Output, moments}}.Draw,
			Plot{Time: now, Lines: lines, Log: true, Limits: limits}.Draw,
			Plot{Time: now, Lines: lines, Lanes: true, Named: true, Wordless: true}.Draw,
			Plot{Time: now, Lanes: true, Limits: limits}.Draw,
			Plot{Time: now, Lines: lines, Log: true, Band: true, Annotations: marks}.Draw,
			Scatter{Spots: spots, Line: pairs}.Draw,
			Heat{Time: now, Axis: axis, Cells: cells, Limits: limits}.Draw,
			Heat{Time: now, Names: []string{"a", "a long name", "≤1024"}, Cells: cells, Annotations: marks}.Draw,
			Heat{Time: now, Names: []string{"0  80"}, Cells: cells, Shares: true}.Draw,
			func(c screen.Canvas, _ *Raster) { now.Draw(c, moments) },
			Histogram{Axis: axis, Front: bars, Outline: Bars{values, 1}, Colors: []ColorFrom{{at / 2, screen.Output}},
				Annotations: []ValueAnnotation{
					{At: at, Name: []screen.Span{screen.Text.Span("here")}, Aside: true}, {At: at / 2, Extra: true},
				}}.Draw,
			func(c screen.Canvas, r *Raster) { Moments(c, r, values, screen.Output) },
			func(c screen.Canvas, r *Raster) { Sparkline(c, r, values, screen.Text) },
			func(c screen.Canvas, _ *Raster) {
				for y, v := range values {
					Gauge(c, y, v, v/2, screen.Output)
				}
			},
		} {
			sf := screen.NewSurface(int(w)+2, int(h)+2)
			sf.Terminal = terminals[int(how)%len(terminals)]
			draw(sf.All().Sub(1, 1, int(w), int(h)), nil)
			for x := range sf.W {
				for y := range sf.H {
					if edge := x == 0 || y == 0 || x == sf.W-1 || y == sf.H-1; edge && sf.All().At(x, y).Glyph != ' ' {
						t.Fatalf("%q at %d,%d, beyond a canvas of %dx%d", sf.All().At(x, y).Glyph, x, y, w, h)
					}
				}
			}
		}
	})
}
