package charts

import (
	"cmp"
	"image/color"
	"io"
	"iter"
	"slices"

	"benchtop/metrics"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

const (
	statsWidth  = 14 * vg.Inch
	statsHeight = 10 * vg.Inch
	statsDPI    = 150
	// mostTokens of a request that are drawn; more can only come from a damaged file.
	mostTokens = 1 << 40
)

// The colours have an opacity of 0.7, the grid one of 0.3.
var (
	steelBlue      = color.NRGBA{70, 130, 180, 179}
	coral          = color.NRGBA{255, 127, 80, 179}
	mediumSeaGreen = color.NRGBA{60, 179, 113, 179}
	barEdge        = color.NRGBA{0, 0, 0, 179}
	gridLine       = color.NRGBA{176, 176, 176, 77}
)

// lengths are the tokens of a request.
type lengths struct {
	index, input, output int
}

// DatasetStats draws how long the prompts and answers of a run were: a PNG of 2100 × 1500 pixels with a histogram each of
// input tokens, output tokens and their sum, and a bar for each request in data-set order. Requests may come in any order.
// One that did not succeed counts with no output, one that was never begun not at all. Without requests the panels are
// empty. The error is that of the requests or of w.
func DatasetStats(w io.Writer, requests iter.Seq2[metrics.Request, error]) error {
	all, err := measured(requests)
	if err != nil {
		return err
	}
	return writePNG(w, panels(all), statsDPI)
}

// measured reads the lengths of all requests that were begun, into data-set order.
func measured(requests iter.Seq2[metrics.Request, error]) ([]lengths, error) {
	var all []lengths
	for q, err := range requests {
		if err != nil {
			return nil, err
		}
		if began(&q) == metrics.Never {
			continue
		}
		l := lengths{index: q.Index, input: tokens(q.InputTokens)}
		if q.OK() {
			l.output = tokens(q.OutputTokens)
		}
		all = append(all, l)
	}
	slices.SortStableFunc(all, func(a, b lengths) int { return cmp.Compare(a.index, b.index) })
	return all, nil
}

func tokens(n int) int { return min(max(n, 0), mostTokens) }

// panels returns the four, two by two.
func panels(all []lengths) [][]*plot.Plot {
	of := func(f func(lengths) int) []int {
		out := make([]int, len(all))
		for i, l := range all {
			out[i] = f(l)
		}
		return out
	}
	return [][]*plot.Plot{
		{
			histogramPanel("Prompt Tokens Distribution", "Prompt Tokens", steelBlue, of(func(l lengths) int { return l.input })),
			histogramPanel("Output Tokens Distribution", "Output Tokens", coral, of(func(l lengths) int { return l.output })),
		},
		{
			histogramPanel("Total Tokens Distribution", "Total Tokens (Prompt + Output)", mediumSeaGreen,
				of(func(l lengths) int { return l.input + l.output })),
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

// newPanel returns an empty panel whose axes count whole things from 0 up.
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

// addGrid draws lines at the labelled ticks: those of the y axis always, those of the x axis on request.
func addGrid(p *plot.Plot, x bool) {
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = gridLine, gridLine
	grid.Horizontal.Width, grid.Vertical.Width = vg.Points(0.8), vg.Points(0.8)
	if !x {
		grid.Vertical.Color = nil
	}
	p.Add(grid)
}

// nothing says in the middle of a panel that there is nothing to show.
func nothing(p *plot.Plot) *plot.Plot {
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	label, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: 0.5, Y: 0.5}}, Labels: []string{"no requests"}})
	if err != nil {
		panic(err) // one point, one label
	}
	label.TextStyle[0].Font = p.X.Label.TextStyle.Font
	label.TextStyle[0].XAlign = draw.XCenter
	p.Add(label)
	return p
}
