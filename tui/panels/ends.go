package panels

import (
	"math"
	"slices"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// Heat maps of the requests that ended, by their lengths and by the reasons for which they ended.
var (
	promptLengthsPanel = endsPanel("prompt lengths", metrics.ByPromptLength)
	answerLengthsPanel = endsPanel("answer lengths", metrics.ByAnswerLength)
	finishPanel        = endsPanel("finish reasons", metrics.ByFinish)
)

// endsPanel has in its title the counts of the time shown.
func endsPanel(name string, by metrics.EndsBy) Panel {
	title := func(v *View, _, _ int) []screen.Span {
		_, ws, _ := v.overTime()
		names, out := endsNames(by), []screen.Span{screen.Strong.Span(name)}
		for k, n := range v.endsOf(by, ws) {
			if n > 0 {
				out = append(out, screen.Text.Span(between+names[k]+" "+number.Count(int(n))))
			}
		}
		return out
	}
	return Panel{name: name, timed: true, title: title, draw: func(c screen.Canvas, v *View) { v.drawEnds(c, by) }}
}

// endsNames are the names of all places.
func endsNames(by metrics.EndsBy) (names []string) {
	if by == metrics.ByFinish {
		return metrics.FinishReasons[:]
	}
	for k := range metrics.EndsPlaces {
		// 4096 is 4k
		names = append(names, "≤"+number.Short(math.Exp2(float64(k))*math.Pow(1000.0/1024, float64(k/10))))
	}
	return names
}

// shortReasons are metrics.FinishReasons in the columns of an axis.
var shortReasons = [len(metrics.FinishReasons)]string{"none", "fail", "stop", "len.", "tools", "other"}

// endsOf are the requests that ended in some windows, by place.
func (v *View) endsOf(by metrics.EndsBy, ws []*metrics.Window) []float64 {
	out := make([]float64, metrics.EndsPlaces)
	for _, part := range v.Minutes.In(ws) {
		for i := range part {
			if e := part[i].Ends; e != nil {
				for k, n := range e[by] {
					out[k] += float64(n)
				}
			}
		}
	}
	return out
}

// oneLength reports whether the requests of the time shown are at one place of a panel of lengths at most.
func (v *View) oneLength(panel string) bool {
	by := metrics.ByPromptLength
	if panel == answerLengthsPanel.name {
		by = metrics.ByAnswerLength
	}
	_, ws, _ := v.overTime()
	places := 0
	for _, n := range v.endsOf(by, ws) {
		if n > 0 {
			places++
		}
	}
	return places <= 1
}

// drawEnds draws a row for each place from before the first to after the last with requests, or for several where
// there is little room.
func (v *View) drawEnds(c screen.Canvas, by metrics.EndsBy) {
	out := chart.Heat{Nothing: nothingYet}
	t, ws, end := v.overTime()
	sum := v.endsOf(by, ws)
	if first := slices.IndexFunc(sum, func(n float64) bool { return n > 0 }); first >= 0 {
		last := len(sum) - 1
		for sum[last] == 0 {
			last--
		}
		names := endsNames(by)
		if by == metrics.ByFinish {
			names = shortReasons[:]
		}
		if c.H > lengthLines { // so that one place does not fill the panel
			first, last = max(first-1, 0), min(last+1, len(names)-1)
		}
		each := 1 + (last-first)/max(chart.HeatRows(c), 1)
		for k := first; k <= last; k += each {
			out.Names = append(out.Names, names[min(k+each-1, last)])
		}
		out.Time, out.Annotations, out.Wordless = t, v.annotations(), v.joined
		out.Cells = v.heatCells(chart.Columns(c), t, ws, end, func(ws []*metrics.Window) []float64 {
			column := make([]float64, len(out.Names))
			for k, n := range v.endsOf(by, ws)[first : last+1] {
				column[k/each] += n
			}
			return ratesOf(column, ws)
		})
	}
	out.Draw(c, v.Raster)
}
