package charts

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"benchtop/metrics"
)

const (
	statsWidth  = 14 * vg.Inch
	statsHeight = 10 * vg.Inch
	statsDPI    = 150
	// maxTokens bounds the tokens of a request; more are a sign of a damaged file.
	maxTokens = 1 << 40
)

// The colours have an opacity of 0.7, those of the grid 0.3.
var (
	steelBlue      = color.NRGBA{70, 130, 180, 179}
	coral          = color.NRGBA{255, 127, 80, 179}
	mediumSeaGreen = color.NRGBA{60, 179, 113, 179}
	barEdge        = color.NRGBA{0, 0, 0, 179}
	gridLine       = color.NRGBA{176, 176, 176, 77}
)

// lengths are the tokens of a request.
type lengths struct{ index, input, output int }

// DatasetStats draws the lengths of prompts and answers: a PNG of 2100 × 1500 pixels with histograms of input tokens, output
// tokens and their sum, and a bar for each request in data-set order. Requests may come in any order. A failed request has no
// output; a request that never started is skipped. Without requests the panels are empty. The error is that of the requests or
// of w.
func DatasetStats(w io.Writer, requests iter.Seq2[metrics.Request, error]) error {
	all, err := lengthsOf(requests)
	if err != nil {
		return err
	}
	return writePNG(w, panels(all), statsDPI)
}

// lengthsOf reads the lengths of all started requests, in data-set order.
func lengthsOf(requests iter.Seq2[metrics.Request, error]) ([]lengths, error) {
	var all []lengths
	for q, err := range requests {
		if err != nil {
			return nil, err
		}
		if startOf(&q) == metrics.Never {
			continue
		}
		l := lengths{index: q.Index, input: clampTokens(q.InputTokens)}
		if q.OK() {
			l.output = clampTokens(q.OutputTokens)
		}
		all = append(all, l)
	}
	slices.SortStableFunc(all, func(a, b lengths) int { return cmp.Compare(a.index, b.index) })
	return all, nil
}

func clampTokens(n int) int { return min(max(n, 0), maxTokens) }

// panels are the four panels, two by two.
func panels(all []lengths) [][]*plot.Plot {
	var input, output, total []int
	for _, l := range all {
		input, output, total = append(input, l.input), append(output, l.output), append(total, l.input+l.output)
	}
	return [][]*plot.Plot{
		{
			histogramPanel("Prompt Tokens Distribution", "Prompt Tokens", steelBlue, input),
			histogramPanel("Output Tokens Distribution", "Output Tokens", coral, output),
		},
		{
			histogramPanel("Total Tokens Distribution", "Total Tokens (Prompt + Output)", mediumSeaGreen, total),
			stackPanel("Tokens per Request (Stacked)", all),
		},
	}
}

func writePNG(w io.Writer, panels [][]*plot.Plot, dpi int) error {
	canvas := vgimg.NewWith(vgimg.UseWH(statsWidth, statsHeight), vgimg.UseDPI(dpi))
	tiles := draw.Tiles{
		Rows: len(panels), Cols: len(panels[0]), PadX: 24, PadY: 24,
		PadTop: 14, PadBottom: 14, PadLeft: 14, PadRight: 14,
	}
	for i, row := range plot.Align(panels, tiles, draw.New(canvas)) {
		for j, area := range row {
			panels[i][j].Draw(area)
		}
	}
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}

// newPanel returns an empty panel with axes for counts.
func newPanel(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = 8
	p.X.Tick.Marker, p.Y.Tick.Marker = wholeTicks{}, wholeTicks{}
	sans := func(f *font.Font, size vg.Length) { f.Variant, f.Size = "Sans", size }
	sans(&p.Title.TextStyle.Font, 14)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		sans(&axis.Label.TextStyle.Font, 12)
		sans(&axis.Tick.Label.Font, 10)
		axis.Padding, axis.Label.Padding = 0, 4
	}
	sans(&p.Legend.TextStyle.Font, 11)
	return p
}

// addGrid draws lines at the labelled ticks of the y axis and, if x is set, of the x axis.
func addGrid(p *plot.Plot, x bool) {
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = gridLine, gridLine
	grid.Horizontal.Width, grid.Vertical.Width = vg.Points(0.8), vg.Points(0.8)
	if !x {
		grid.Vertical.Color = nil
	}
	p.Add(grid)
}

// emptyPanel labels a panel without data.
func emptyPanel(p *plot.Plot) *plot.Plot {
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	// NewLabels fails only if points and labels differ in number.
	label, _ := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: 0.5, Y: 0.5}}, Labels: []string{"no requests"}})
	label.TextStyle[0].Font = p.X.Label.TextStyle.Font
	label.TextStyle[0].XAlign = draw.XCenter
	p.Add(label)
	return p
}

const bins = 30

func histogramPanel(title, x string, fill color.Color, values []int) *plot.Plot {
	p := newPanel(title, x, "Frequency")
	addGrid(p, true)
	if len(values) == 0 {
		return emptyPanel(p)
	}
	h := &plotter.Histogram{Bins: histogram(values), FillColor: fill}
	h.LineStyle = plotter.DefaultLineStyle
	h.LineStyle.Color, h.LineStyle.Width = barEdge, vg.Points(0.8)
	p.Add(h)
	low, high := h.Bins[0].Min, h.Bins[bins-1].Max
	p.X.Min, p.X.Max = low-(high-low)*0.04, high+(high-low)*0.04
	p.Y.Min, p.Y.Max = 0, p.Y.Max*1.05
	return p
}

// histogram counts values in bins of equal width from the smallest to the largest, as numpy does: a bin contains its lower
// edge, the last one both edges, and equal values are in the middle of a range of 1. There is at least one value.
func histogram(values []int) []plotter.HistogramBin {
	least, most := slices.Min(values), slices.Max(values)
	low, high := float64(least), float64(most)
	if least == most {
		low, high = low-0.5, high+0.5
	}
	out := make([]plotter.HistogramBin, bins)
	for i := range out {
		out[i].Min, out[i].Max = low+(high-low)*float64(i)/bins, low+(high-low)*float64(i+1)/bins
	}
	for _, v := range values {
		i := bins / 2
		if least != most {
			i = min((v-least)*bins/(most-least), bins-1) // integers put a value on an edge into the right bin
		}
		out[i].Weight++
	}
	return out
}

// maxBars is the number of bars for the width of the panel, about 900 pixels.
const maxBars = 800

// stackPanel draws a bar for each request, output on top of input. If there are more requests than maxBars, a bar is the mean
// of several, and the label of the axis gives their number.
func stackPanel(title string, all []lengths) *plot.Plot {
	bars, each := stackBars(all)
	x := "Request ID"
	if each > 1 {
		x = fmt.Sprintf("Request ID (each bar is the mean of %d requests)", each)
	}
	p := newPanel(title, x, "Tokens")
	addGrid(p, false)
	if len(all) == 0 {
		return emptyPanel(p)
	}
	s := stack{bars: bars, each: float64(each), n: float64(len(all))}
	p.Add(s)
	p.Y.Min, p.Y.Max = 0, max(1, p.Y.Max)*1.2 // space for the legend
	p.Legend.Top = true
	p.Legend.Padding, p.Legend.XOffs, p.Legend.YOffs = 3, -6, -6
	p.Legend.Add("Prompt Tokens", swatch{steelBlue})
	p.Legend.Add("Output Tokens", swatch{coral})
	return p
}

// stackBar is the mean of the requests of a bar.
type stackBar struct{ input, output float64 }

// stackBars returns the bars and the number of requests of each; the last may have fewer.
func stackBars(all []lengths) (bars []stackBar, each int) {
	each = max(1, (len(all)+maxBars-1)/maxBars)
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

// stack draws bars side by side. Bar i has the requests from i*each up to (i+1)*each, exclusive, of n.
type stack struct {
	bars    []stackBar
	each, n float64
}

// Plot implements plot.Plotter.
func (s stack) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	gap := 0.1 * s.each // if it is wide enough
	if x(s.each)-x(0) < 4*pixel {
		gap = 0
	}
	for i, b := range s.bars {
		from := float64(i) * s.each
		to := min(from+s.each, s.n)
		left, right := snapToPixel(x(from-0.5+gap)), snapToPixel(x(to-0.5-gap))
		right = max(right, left+pixel)
		rectangle(c, steelBlue, left, right, y(0), y(b.input))
		rectangle(c, coral, left, right, y(b.input), y(b.input+b.output))
	}
}

// DataRange implements plot.DataRanger. Request i is in the middle of i-0.5 and i+0.5.
func (s stack) DataRange() (xmin, xmax, ymin, ymax float64) {
	for _, b := range s.bars {
		ymax = max(ymax, b.input+b.output)
	}
	return -0.5, s.n - 0.5, 0, ymax
}

const pixel = vg.Inch / statsDPI

// snapToPixel rounds a length to whole pixels, so that there is no gap between neighbouring bars.
func snapToPixel(l vg.Length) vg.Length { return vg.Length(math.Round(float64(l/pixel))) * pixel }

func rectangle(c draw.Canvas, fill color.Color, left, right, bottom, top vg.Length) {
	if top > bottom {
		c.FillPolygon(fill, []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}})
	}
}

// swatch is a colour in the legend.
type swatch struct{ fill color.Color }

// Thumbnail implements plot.Thumbnailer.
func (p swatch) Thumbnail(c *draw.Canvas) { rectangle(*c, p.fill, c.Min.X, c.Max.X, c.Min.Y, c.Max.Y) }

// wholeTicks are ticks at whole numbers, written in full.
type wholeTicks struct{}

// maxTicks is the largest number of ticks on an axis.
const maxTicks = 8

// Ticks implements plot.Ticker.
func (wholeTicks) Ticks(low, high float64) []plot.Tick {
	step := 1.0
	for i := 0; (high-low)/step > maxTicks; i++ {
		step *= []float64{2, 2.5, 2}[i%3] // 1, 2, 5, 10, 20, 50 …
	}
	var ticks []plot.Tick
	for v := math.Ceil(low/step)*step + 0; v <= high; v += step { // + 0 turns -0 into 0
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', 0, 64)})
	}
	return ticks
}
