package charts

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// mostBars is how many bars the panel has pixels for; its data area is about 900 wide.
const mostBars = 800

// stackPanel draws a bar for each request, output on input. Where that would be more bars than pixels, neighbours share
// a bar of their mean, and the axis says so.
func stackPanel(title string, all []lengths) *plot.Plot {
	bars, each := stackBars(all)
	x := "Request ID"
	if each > 1 {
		x = fmt.Sprintf("Request ID (each bar is the mean of %d requests)", each)
	}
	p := newPanel(title, x, "Tokens")
	addGrid(p, false)
	if len(all) == 0 {
		return nothing(p)
	}
	s := stack{bars: bars, each: float64(each), n: float64(len(all))}
	p.Add(s)
	p.Y.Min, p.Y.Max = 0, max(1, p.Y.Max)*1.2 // room for the legend
	p.Legend.Top = true
	p.Legend.Padding, p.Legend.XOffs, p.Legend.YOffs = 3, -6, -6
	p.Legend.Add("Prompt Tokens", patch{steelBlue})
	p.Legend.Add("Output Tokens", patch{coral})
	return p
}

// stackBar is the mean of the requests that share a bar.
type stackBar struct {
	input, output float64
}

// stackBars returns the bars and how many requests each stands for; the last may stand for fewer.
func stackBars(all []lengths) (bars []stackBar, each int) {
	each = max(1, (len(all)+mostBars-1)/mostBars)
	for i := 0; i < len(all); i += each {
		group := all[i:min(i+each, len(all))]
		var b stackBar
		for _, l := range group {
			b.input += float64(l.input) / float64(len(group))
			b.output += float64(l.output) / float64(len(group))
		}
		bars = append(bars, b)
	}
	return bars, each
}

// stack draws bars side by side. Bar i covers the requests from i*each up to and without (i+1)*each, of n.
type stack struct {
	bars    []stackBar
	each, n float64
}

// Plot implements plot.Plotter.
func (s stack) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	gap := 0.1 * s.each // as long as there is room for one
	if x(s.each)-x(0) < 4*pixel {
		gap = 0
	}
	for i, b := range s.bars {
		from := float64(i) * s.each
		to := min(from+s.each, s.n)
		left, right := whole(x(from-0.5+gap)), whole(x(to-0.5-gap))
		right = max(right, left+pixel)
		rectangle(c, steelBlue, left, right, y(0), y(b.input))
		rectangle(c, coral, left, right, y(b.input), y(b.input+b.output))
	}
}

// DataRange implements plot.DataRanger. Request i stands in the middle of i-0.5 and i+0.5.
func (s stack) DataRange() (xmin, xmax, ymin, ymax float64) {
	for _, b := range s.bars {
		ymax = max(ymax, b.input+b.output)
	}
	return -0.5, s.n - 0.5, 0, ymax
}

const pixel = vg.Inch / statsDPI

// whole moves a length to the next edge between pixels, so that neighbouring bars leave no seam.
func whole(l vg.Length) vg.Length { return vg.Length(math.Round(float64(l/pixel))) * pixel }

func rectangle(c draw.Canvas, fill color.Color, left, right, bottom, top vg.Length) {
	if top > bottom {
		c.FillPolygon(fill, []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}})
	}
}

// patch is a colour in the legend.
type patch struct {
	fill color.Color
}

// Thumbnail implements plot.Thumbnailer.
func (p patch) Thumbnail(c *draw.Canvas) { rectangle(*c, p.fill, c.Min.X, c.Max.X, c.Min.Y, c.Max.Y) }
