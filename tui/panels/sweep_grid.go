package panels

import (
	"fmt"
	"math"
	"slices"

	"benchtop/metrics/grid"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// The widths of the first columns of the grid: the sign of the chosen row, that of its state, that of the front.
const (
	gridSigns = 6
	gridRuns  = 6
	nameLeast = 24
)

func (v *SweepView) gridTitle() []screen.Span {
	over, failed, all := v.counts()
	out := heading{screen.Strong.Span(v.Part + "s"), screen.Text.Span(fmt.Sprintf(" %d/%d", over, all))}
	out.when(failed > 0, screen.Warning, fmt.Sprintf(" ✗ %d failed", failed))
	if v.List.order > 0 {
		out = append(out, screen.Label.Span(" · by "+sweepFigures[v.List.order-1].name))
	}
	out.when(v.List.Filter != "", screen.Label, " · /", screen.Shorten(screen.Sanitize(v.List.Filter), 30))
	return out
}

// drawGrid lists the combinations: names, runs and figures, a star at the best of each column, a dot at those on the
// Pareto front.
func (v *SweepView) drawGrid(c screen.Canvas) {
	rows := v.rows()
	switch {
	case len(v.cells) == 0:
		c.Center("no "+v.Part+"s yet", screen.Label)
		return
	case len(rows) == 0:
		c.Center("no match; Esc clears the filter", screen.Label)
		return
	}
	names := v.nameColumns()
	var least, more [3]int
	room, all := 0, 0
	for i, n := range names {
		least[i], more[i] = n.least, n.most-n.least
		room, all = room+n.least, all+n.most
	}
	figures := v.gridColumns().fit(c.W - gridSigns - gridRuns - min(all, max(room, c.W/3), max(nameLeast, c.W/2)))
	room = max(0, c.W-gridSigns-gridRuns-figures.width())
	widths := shrink(least, room)
	for i, w := range shrink(more, max(0, room-widths[0]-widths[1]-widths[2])) {
		widths[i] += w
	}
	t := table[gridRow]{before: []field[gridRow]{{"", gridSigns, v.drawSigns}}, figures: figures}
	for i, w := range widths {
		n := &names[i]
		name := func(c screen.Canvas, r gridRow, plain screen.Style) {
			drawName(c.Sub(0, 0, max(0, w-2), 1), n.names, r, plain)
		}
		t.before = append(t.before, field[gridRow]{n.title(max(0, w-2)), w, name})
	}
	t.before = append(t.before, field[gridRow]{" runs", gridRuns, func(c screen.Canvas, r gridRow, plain screen.Style) {
		if r.State != grid.Running {
			plain = screen.Label
		}
		if done, all := runsDone(r.Runs); all > 0 {
			c.Right(gridRuns-1, 0, fmt.Sprintf("%d/%d", done, all), plain)
		}
	}})
	t.head(c)
	at, high := v.place(rows), c.H-1
	top := v.top(rows, high)
	t.rows(c.Sub(0, 1, c.W, high), len(rows)-top, func(i int) gridRow {
		r := gridRow{sweepCell: rows[top+i]}
		if i > 0 && v.List.order == 0 {
			r.above = rows[top+i-1]
		}
		return r
	}, func(r gridRow) screen.Style {
		if r.sweepCell == rows[at] {
			return screen.Strong
		}
		return screen.Text
	})
}

// gridRow is a combination below another one, nil for none.
type gridRow struct {
	*sweepCell
	above *sweepCell
}

// drawSigns draws the signs of a combination.
func (v *SweepView) drawSigns(c screen.Canvas, r gridRow, plain screen.Style) {
	if plain == screen.Strong {
		c.Print(0, 0, "→", screen.Strong)
	}
	c.Spans(2, 0, []screen.Span{v.sign(r.sweepCell)})
	if r.front {
		c.Print(4, 0, "●", screen.Style{Fg: screen.Output})
	}
}

// drawName writes a name; it is dim where it is the same in the row above.
func drawName(c screen.Canvas, names []string, r gridRow, st screen.Style) {
	if r.at >= len(names) || c.W == 0 {
		return
	}
	switch {
	case st == screen.Strong:
	case r.State == grid.Linked:
		st = screen.Dim
	case r.above != nil && names[r.above.at] == names[r.at]:
		st = screen.Label
	}
	c.Print(0, 0, screen.ShortenMiddle(names[r.at], c.W), st)
}

// rareFigures are those of some series only, which have no column before the first figure.
var rareFigures = []string{"good/s", "tok/s/GPU", "ready", "1st token"}

// gridColumns are the figures that any combination has; the last column of each is for the star.
func (v *SweepView) gridColumns() columns[gridRow] {
	var out columns[gridRow]
	for i := range sweepFigures[:gridFigures] {
		g := &sweepFigures[i]
		best, value := v.best(g)
		if best == nil && (v.measured() > 0 || slices.Contains(rareFigures, g.name)) {
			continue
		}
		rivals := v.measured() > 1
		out = append(out, column[gridRow]{g.name + " ", max(len(g.name)+2, 9), func(r gridRow) screen.Span {
			switch own := g.of(&r.figures); {
			case !r.measured || math.IsNaN(own):
				return screen.Label.Span(dash + " ")
			case own == value && rivals:
				return screen.Success.Span(g.write(own) + "★")
			default:
				return screen.Text.Span(g.write(own) + " ")
			}
		}, g.spare})
	}
	return out
}

func (v *SweepView) detailTitle() []screen.Span {
	c := v.chosen()
	if c == nil {
		return []screen.Span{screen.Strong.Span(v.Part)}
	}
	title := fmt.Sprintf("%s %d", v.Part, c.at+1)
	if len(v.cells) == 1 {
		title = "runs"
	}
	out := heading{screen.Strong.Span(title), screen.Text.Span(" "), v.sign(c),
		screen.Text.Span(" " + stateWord(c.State))}
	out.when(c.front, screen.Style{Fg: screen.Output}, " ● on the front")
	return out
}

// drawDetail shows the chosen combination: its names, its runs with the trouble they had, and its figures.
func (v *SweepView) drawDetail(c screen.Canvas) {
	r := v.chosen()
	if r == nil {
		c.Center("no "+v.Part+" chosen", screen.Label)
		return
	}
	y := 0
	for i, name := range r.names() {
		if name == "" {
			continue
		}
		x := max(8, c.Print(0, y, [...]string{"server", "bench", v.load()}[i], screen.Label)+2)
		for _, l := range screen.Wrap(name, c.W-x, 3) {
			c.Print(x, y, l, screen.Text)
			y++
		}
	}
	y = v.drawRuns(c, y, r)
	if v.Run != nil && r == v.current() && y < c.H {
		v.drawProgress(c.Sub(0, y, c.W, 1))
		y++
	}
	if r.measured {
		y += drawTypical(c.Sub(0, y, c.W, c.H-y), r)
		v.drawByRun(c.Sub(0, y, c.W, c.H-y), r)
	}
}

// drawByRun draws the first figure that the runs have where there is room for it below the others.
func (v *SweepView) drawByRun(c screen.Canvas, r *sweepCell) {
	at := slices.IndexFunc(sweepFigures, func(g sweepFigure) bool { return !math.IsNaN(g.of(&r.figures)) })
	if done, _ := runsDone(r.Runs); done < 2 || at < 0 || c.H < chartRows {
		return
	}
	var s chart.Scatter
	for i := range r.Runs {
		n := &r.Runs[i]
		y := sweepFigures[at].of(&n.Figures)
		if (n.State == grid.Done || n.State == grid.Found) && !math.IsNaN(y) {
			s.Spots = append(s.Spots, chart.Spot{X: float64(v.numberOf(n)), Y: y, Sign: '●',
				Style: screen.Style{Fg: screen.Output}})
		}
	}
	c.Print(0, 1, sweepFigures[at].name+" by run", screen.Label)
	s.Draw(c.Sub(0, 2, c.W, c.H-2), v.Raster)
}

// numberOf is the number of a run: as the files count where there are any, else as the dashboard and the lines of
// progress do.
func (v *SweepView) numberOf(n *grid.Run) int {
	if v.Dir == "" {
		return n.Number + 1
	}
	return n.Number
}

// drawRuns lists the runs, and returns the line below.
func (v *SweepView) drawRuns(c screen.Canvas, y int, r *sweepCell) int {
	if len(r.Runs) == 0 || c.H-y < 2 {
		return y
	}
	var figures columns[*grid.Run]
	for i := range sweepFigures[:gridFigures] {
		g := &sweepFigures[i]
		if best, _ := v.best(g); best != nil || v.measured() == 0 && !slices.Contains(rareFigures, g.name) {
			figures = append(figures, column[*grid.Run]{g.name, max(8, len(g.name)+2),
				func(n *grid.Run) screen.Span { return runFigure(n, g.of(&n.Figures), g.write) }, g.spare})
		}
	}
	figures = append(figures, column[*grid.Run]{"took", 8,
		func(n *grid.Run) screen.Span { return cell(orDash(n.Took > 0, number.Coarse, n.Took)) }, 2})
	first := func(c screen.Canvas, n *grid.Run, _ screen.Style) {
		c.Right(3, 0, fmt.Sprint(v.numberOf(n)), screen.Label)
		c.Spans(5, 0, []screen.Span{sweepSign(n.State, v.Pulse)})
	}
	t := table[*grid.Run]{figures: figures.fit(c.W - 7), before: []field[*grid.Run]{{"run", 7, first}}}
	t.head(c.Sub(0, y, c.W, 1))
	y++
	for i := range r.Runs {
		n := &r.Runs[i]
		if c.H-y < 2 && i < len(r.Runs)-1 {
			c.Print(0, y, fmt.Sprintf("and %d more runs; Enter shows all", len(r.Runs)-i), screen.Label)
			return y + 1
		}
		t.row(c.Sub(0, y, c.W, 1), n, screen.Text)
		y++
		for _, l := range screen.Wrap(screen.Sanitize(n.Trouble), c.W-7, 3) {
			c.Print(7, y, l, screen.Warning)
			y++
		}
	}
	return y
}

// drawProgress shows how far the run in progress is.
func (v *SweepView) drawProgress(c screen.Canvas) {
	x := c.Print(0, 0, "now", screen.Label) + 4
	if part, ok := portion(v.Run); ok && c.W >= 40 {
		chart.Bar(c.Sub(x, 0, 16, 1), part)
		x += 17
	}
	c.Spans(x, 0, progress(v.Run, v.Run.State))
}

func runFigure(n *grid.Run, v float64, write func(float64) string) screen.Span {
	known := (n.State == grid.Done || n.State == grid.Found) && !math.IsNaN(v)
	return cell(orDash(known, write, v))
}

// drawTypical writes all figures of a combination, in as many columns as there is room for, and returns its lines.
func drawTypical(c screen.Canvas, r *sweepCell) (lines int) {
	f := &r.figures
	name := "figures"
	if done, _ := runsDone(r.Runs); done > 1 {
		name = "median of the runs"
	}
	failed := figure{name: "failed", value: number.Count(f.Failed)}
	var all []figure // the most important first
	for _, g := range sweepFigures {
		if v := g.of(f); !math.IsNaN(v) {
			all = append(all, figure{name: g.name, value: g.write(v)})
		}
	}
	completed := figure{name: "completed", value: number.Count(f.Completed)}
	switch {
	case f.Failed > 0:
		failed.style = screen.Warning
		all = append(slices.Insert(all, 0, failed), completed)
	case f.Completed > 0: // else it sends no requests, as the start of a server
		all = append(all, completed, failed)
	}
	const wide = 24
	columns := max(1, c.W/wide)
	if c.H < 2 {
		return 0
	}
	all = all[:min(len(all), columns*(c.H-1))]
	high := (len(all) + columns - 1) / columns
	c.Print(0, 0, name, screen.Label)
	drawFacts(c.Sub(0, 1, c.W, c.H-1), all, high, wide-2, 2)
	return 1 + high
}
