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

	"benchtop/metrics"
)

const (
	statsWidth, statsHeight = 14 * 72, 10 * 72 // points
	statsDPI                = 150
	// maxTokens bounds the tokens of a request; more are a sign of a damaged file.
	maxTokens = 1 << 40
)

// The colours have an opacity of 0.7.
var (
	steelBlue      = color.NRGBA{70, 130, 180, 179}
	coral          = color.NRGBA{255, 127, 80, 179}
	mediumSeaGreen = color.NRGBA{60, 179, 113, 179}
	barEdge        = color.NRGBA{0, 0, 0, 179}
)

// lengths are the tokens of a request.
type lengths struct{ index, input, output int }

// DatasetStats draws the lengths of prompts and answers: a PNG of 2100 × 1500 pixels with histograms of input tokens,
// output tokens and their sum, and a bar for each request in data-set order. Requests may come in any order. A failed
// request has no output; a request that never started is skipped. Without requests the panels are empty. The error is
// that of the requests or of w.
func DatasetStats(w io.Writer, requests iter.Seq2[metrics.Request, error]) error {
	all, err := lengthsOf(requests)
	if err != nil {
		return err
	}
	return lengthsDrawing(all).PNG(w, statsDPI)
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

// lengthsDrawing has four panels, two by two.
func lengthsDrawing(all []lengths) *Drawing {
	var input, output, total []int
	for _, l := range all {
		input, output, total = append(input, l.input), append(output, l.output), append(total, l.input+l.output)
	}
	d := &Drawing{Width: statsWidth, Height: statsHeight}
	histogramPanel(d.quarter(0, 0), "Prompt Tokens Distribution", "Prompt Tokens", steelBlue, input)
	histogramPanel(d.quarter(1, 0), "Output Tokens Distribution", "Output Tokens", coral, output)
	histogramPanel(d.quarter(0, 1), "Total Tokens Distribution", "Total Tokens (Prompt + Output)", mediumSeaGreen,
		total)
	stackPanel(d.quarter(1, 1), all)
	return d
}

// quarter is the frame of a panel in a quarter of the drawing.
func (d *Drawing) quarter(column, row float64) *frame {
	left, top := column*d.Width/2, row*d.Height/2
	return &frame{d: d, left: left + 70, top: top + 36, right: left + d.Width/2 - 16, bottom: top + d.Height/2 - 46}
}

// counts is an axis of whole numbers from low to high.
func counts(label string, low, high float64) axis {
	return axis{label, Linear, low, high, wholeTicks(low, high)}
}

// empty draws a panel without data.
func (f *frame) empty(title, x, y string) {
	f.x, f.y = counts(x, 0, 1), counts(y, 0, 1)
	f.axes(title, true)
	f.nothing("no requests")
}

const bins = 30

// bin is a bar of a histogram, from its low end up to its high one.
type bin struct {
	low, high float64
	count     int
}

func histogramPanel(f *frame, title, x string, fill color.NRGBA, values []int) {
	const y = "Frequency"
	if len(values) == 0 {
		f.empty(title, x, y)
		return
	}
	all := histogram(values)
	low, high, most := all[0].low, all[bins-1].high, 0
	for _, b := range all {
		most = max(most, b.count)
	}
	f.x, f.y = counts(x, low-(high-low)*0.04, high+(high-low)*0.04), counts(y, 0, float64(most)*1.05)
	f.axes(title, true)
	for _, b := range all {
		if b.count > 0 {
			f.bar(fill, f.across(b.low), f.across(b.high), 0, float64(b.count))
			left, right, top, bottom := f.across(b.low), f.across(b.high), f.down(float64(b.count)), f.bottom
			f.d.line(barEdge, 0.8, nil, spot{left, bottom}, spot{left, top}, spot{right, top}, spot{right, bottom})
		}
	}
}

// histogram counts values in bins of equal width from the smallest to the largest, as numpy does: a bin contains its
// lower edge, the last one both edges, and equal values are in the middle of a range of 1. There is at least one value.
func histogram(values []int) []bin {
	least, most := slices.Min(values), slices.Max(values)
	low, high := float64(least), float64(most)
	if least == most {
		low, high = low-0.5, high+0.5
	}
	out := make([]bin, bins)
	for i := range out {
		out[i].low, out[i].high = low+(high-low)*float64(i)/bins, low+(high-low)*float64(i+1)/bins
	}
	for _, v := range values {
		i := bins / 2
		if least != most {
			i = min((v-least)*bins/(most-least), bins-1) // integers put a value on an edge into the right bin
		}
		out[i].count++
	}
	return out
}

// maxBars is the number of bars for the width of the panel, about 900 pixels.
const maxBars = 800

// stackPanel draws a bar for each request, output on top of input. If there are more requests than maxBars, a bar is
// the mean of several, and the label of the axis gives their number.
func stackPanel(f *frame, all []lengths) {
	bars, each := stackBars(all)
	title, x, y := "Tokens per Request (Stacked)", "Request ID", "Tokens"
	if each > 1 {
		x = fmt.Sprintf("Request ID (each bar is the mean of %d requests)", each)
	}
	if len(all) == 0 {
		f.empty(title, x, y)
		return
	}
	most := 1.0
	for _, b := range bars {
		most = max(most, b.input+b.output)
	}
	n, wide := float64(len(all)), float64(each)
	f.x, f.y = counts(x, -0.5, n-0.5), counts(y, 0, most*1.2) // space for the legend
	f.axes(title, false)
	space := 0.1 * wide // if it is wide enough
	if f.across(wide)-f.across(0) < 4*pixel {
		space = 0
	}
	for i, b := range bars {
		from := float64(i) * wide
		left, right := snapToPixel(f.across(from-0.5+space)), snapToPixel(f.across(min(from+wide, n)-0.5-space))
		right = max(right, left+pixel)
		f.bar(steelBlue, left, right, 0, b.input)
		f.bar(coral, left, right, b.input, b.input+b.output)
	}
	for i, c := range []struct {
		name string
		fill color.NRGBA
	}{{"Prompt Tokens", steelBlue}, {"Output Tokens", coral}} {
		top := f.top + 8 + float64(i)*16
		f.d.box(c.fill, f.right-112, top, f.right-94, top+9)
		f.d.words(c.name, spot{f.right - 88, top + 8}, tickSize, 0, ink)
	}
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

const pixel = 72.0 / statsDPI

// snapToPixel rounds a length to whole pixels, so that there is no gap between neighbouring bars.
func snapToPixel(l float64) float64 { return math.Round(l/pixel) * pixel }

// bar draws a bar of the panel between two places across and two values.
func (f *frame) bar(fill color.NRGBA, left, right, from, to float64) {
	if to > from {
		f.d.box(fill, left, f.down(to), right, f.down(from))
	}
}

// maxTicks is the largest number of ticks on an axis.
const maxTicks = 8

// wholeTicks are ticks at whole numbers, written in full.
func wholeTicks(low, high float64) []tick {
	step := 1.0
	for i := 0; (high-low)/step > maxTicks; i++ {
		step *= []float64{2, 2.5, 2}[i%3] // 1, 2, 5, 10, 20, 50 …
	}
	var ticks []tick
	for v := math.Ceil(low/step)*step + 0; v <= high; v += step { // + 0 turns -0 into 0
		ticks = append(ticks, tick{v, strconv.FormatFloat(v, 'f', 0, 64)})
	}
	return ticks
}
