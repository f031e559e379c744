package panels

import (
	"fmt"
	"math"
	"slices"

	"benchtop/internal/findings"
	"benchtop/metrics/grid"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

func (v *SweepView) frontTitle() []screen.Span {
	return []screen.Span{
		screen.Strong.Span(v.throughput() + " over tok/s/user"), screen.Style{Fg: screen.Output}.Span(" ● front"),
		screen.Strong.Span(" ◆ chosen"),
		screen.Dim.Span(" ○ dominated"),
	}
}

// throughput names that of the front: of each GPU, or of all where the number of GPUs is one or not known.
func (v *SweepView) throughput() string {
	if v.gpus {
		return "tok/s/GPU"
	}
	return "tok/s"
}

// drawFront draws the combinations that have figures, and the Pareto front as a line.
func (v *SweepView) drawFront(c screen.Canvas) {
	s := chart.Scatter{Color: screen.Output, Nothing: "no figures yet"}
	if v.measured() > 0 {
		s.Nothing = "these runs have no such figures"
	}
	chosen := v.chosen()
	var above []chart.Spot
	for i := range v.cells {
		r := &v.cells[i]
		spot := chart.Spot{X: r.point.PerUser, Y: r.point.PerGPU, Sign: '○', Style: screen.Dim}
		if !r.measured || math.IsNaN(spot.X) || math.IsNaN(spot.Y) {
			continue
		}
		if r.front {
			spot.Sign, spot.Style = '●', screen.Style{Fg: screen.Output}
		}
		if r.State == grid.Running {
			spot.Style = screen.Style{Fg: screen.Running, Bold: v.Pulse}
		}
		switch {
		case r == chosen:
			spot.Sign, spot.Style = '◆', screen.Strong
			above = append(above, spot)
		case r.front:
			above = append([]chart.Spot{spot}, above...)
		default:
			s.Spots = append(s.Spots, spot)
		}
	}
	s.Spots = append(s.Spots, above...)
	for _, i := range v.front {
		at := &v.cells[i].point
		s.Line = append(s.Line, [2]float64{at.PerUser, at.PerGPU})
	}
	s.Draw(c, v.Raster)
}

func (v *SweepView) searchTitle() []screen.Span {
	out := heading{screen.Strong.Span("search")}
	out.when(v.Variable != "", screen.Text, " "+screen.Sanitize(v.Variable))
	return append(out, screen.Success.Span(" ✓ within"), screen.Warning.Span(" ✗ missed"))
}

// shownSearches are those for the parameters that are searched now, at the end all, their tiers after the parameters
// that differ. Foreign text in them is made safe.
func (v *SweepView) shownSearches() []grid.Search {
	all := slices.Clone(v.Searches)
	if n := len(all); n > 0 && !v.Over {
		now := all[n-1]
		all = all[slices.IndexFunc(all,
			func(s grid.Search) bool { return s.Server == now.Server && s.Bench == now.Bench }):]
	}
	pairs := make([]string, len(all))
	for _, name := range [...]func(*grid.Search) string{func(s *grid.Search) string { return s.Server },
		func(s *grid.Search) string { return s.Bench }} {
		names := make([]string, len(all))
		for i := range all {
			names[i] = screen.Sanitize(name(&all[i]))
		}
		if len(slices.Compact(slices.Sorted(slices.Values(names)))) < 2 {
			continue
		}
		if _, values, ok := differing(names); ok {
			names = values
		}
		for i := range all {
			pairs[i] += names[i] + " "
		}
	}
	for i := range all {
		all[i].Tier = pairs[i] + screen.Sanitize(all[i].Tier)
	}
	return all
}

// drawSearches draws the bracket of each tier on one axis of load: what passed, what is not known yet, what failed.
//
//	gold    ━━━━━━━━━━✓┄┄┄┄✗────── 32 – 40   97% confidence
func (v *SweepView) drawSearches(c screen.Canvas) {
	top, names, words := 0.0, 4, 0
	for _, s := range v.searches {
		words = max(words, screen.Width(searchWords(s).Text))
		top = max(top, 1.25*number.Sane(s.Passed), 1.1*number.Sane(s.Failed))
		names = max(names, min(24, screen.Width(s.Tier)))
	}
	bar := c.W - names - 3 - words
	for y, s := range v.searches {
		c.Print(0, y, screen.ShortenMiddle(s.Tier, names), screen.Text)
		x := names + 2
		if bar >= 10 {
			drawBracket(c.Sub(x, y, bar, 1), s, top)
			x += bar + 1
		}
		c.Spans(x, y, []screen.Span{searchWords(s)})
	}
}

func drawBracket(c screen.Canvas, s grid.Search, top float64) {
	at := func(load float64) int {
		if load = number.Sane(load); load == 0 || top == 0 {
			return -1
		}
		return min(int(load/top*float64(c.W)), c.W-1)
	}
	passed, failed := at(s.Passed), at(s.Failed)
	if failed >= 0 && failed <= passed { // closer than a column
		passed, failed = failed-1, max(failed, 1)
	}
	for x := range c.W {
		switch {
		case x < passed:
			c.Set(x, 0, '━', screen.Style{Fg: screen.Good})
		case failed >= 0 && x > failed:
			c.Set(x, 0, '─', screen.Style{Fg: screen.Bad})
		default:
			c.Set(x, 0, '┄', screen.Line)
		}
	}
	if failed >= 0 {
		c.Set(failed, 0, '✗', screen.Warning)
	}
	if passed >= 0 {
		c.Set(passed, 0, '✓', screen.Success)
	}
}

// searchWords say what a search knows.
func searchWords(s grid.Search) screen.Span {
	passed, failed := loadFigure(s.Passed), loadFigure(s.Failed)
	switch {
	case s.Over && s.Passed <= 0:
		return screen.Warning.Span("no load within " + failed)
	case s.Passed <= 0 && s.Failed > 0:
		return screen.Caution.Span("below " + failed)
	case s.Passed <= 0:
		return screen.Label.Span("not tested yet")
	}
	words, st := passed, screen.Text
	switch {
	case s.Failed > 0:
		words += " – " + failed
	default:
		words = "at least " + passed
	}
	if sure := findings.Confidence(s.Confidence); sure != "" {
		words += "  " + sure + " confidence"
	}
	if s.Over {
		st = screen.Success
	}
	return st.Span(words)
}

func loadFigure(v float64) string {
	if v = number.Sane(v); v == math.Trunc(v) && v < 1e6 {
		return fmt.Sprintf("%.0f", v)
	}
	return number.Short(v)
}
