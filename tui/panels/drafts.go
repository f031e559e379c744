package panels

import (
	"fmt"
	"math"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/screen"
)

// draftsPanel is a heat map of the acceptance of speculative decoding by the position in the draft.
var draftsPanel = Panel{name: "drafts", timed: true, title: draftsTitle, draw: drawDrafts}

// mostPositions of a draft have a row.
const mostPositions = 8

func draftsTitle(v *View, _, _ int) []screen.Span {
	sums := v.serverSums()
	length := sums.SpecDecode.Length()
	return []screen.Span{screen.Strong.Span("accepted % by position"),
		screen.Text.Span(between + "length " + orDash(length > 0, twoDigits, length)),
		screen.Text.Span(between + "rate " + saidShare(sums.Acceptance)), screen.Label.Span(" " + v.scope())}
}

// drawDrafts draws a row for each position, from 0 at the bottom as in the report, with its rate in the span.
func drawDrafts(c screen.Canvas, v *View) {
	out := chart.Heat{Nothing: nothingYet, Shares: true}
	sums := v.serverSums()
	if rates := sums.SpecDecode.PerPosition(); len(rates) > 0 {
		n := min(len(rates), mostPositions, chart.HeatRows(c))
		for k, rate := range rates[:n] {
			out.Names = append(out.Names, fmt.Sprintf("%d %3s", k, said(math.Round(100*rate))))
		}
		t, ws, end := v.overTime()
		sample := serverSample(v)
		out.Time, out.Annotations, out.Wordless = t, v.annotations(), v.joined
		out.Cells = v.heatCells(chart.Columns(c), t, ws, end, func(ws []*metrics.Window) []float64 {
			var all metrics.SpecDecode
			for i := range ws {
				if s := sample(ws[i]); s != nil {
					all.Add(s.SpecDecode)
				}
			}
			if all.Drafts <= 0 {
				return nil
			}
			return append(all.PerPosition(), make([]float64, n)...)[:n] // each second has its own positions
		})
	}
	out.Draw(c, v.Raster)
}
