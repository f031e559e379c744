package panels

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"benchtop/metrics"
	"benchtop/metrics/grid"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// SweepView is a sweep, and the choices of the user, for the panels of its screen.
type SweepView struct {
	*grid.Snapshot
	List SweepList
	// Stopping says that the user stopped the sweep, Pulse turns with every other frame, Slower says how much less
	// often panels are drawn.
	Stopping, Pulse bool
	Slower          string
	// Run is the run in progress; nil before its first request.
	Run *metrics.Snapshot
	// Scroll is how many lines of the server's log are below the panel.
	Scroll int
	Raster *chart.Raster

	cells    []sweepCell // of the snapshot
	front    []int       // of cells, by rising throughput per user
	gpus     bool        // the throughput of a GPU is not that of all
	searches []grid.Search
}

// sweepCell is a combination with the figures that stand for it.
type sweepCell struct {
	*grid.Cell
	at       int
	pair     [2]string    // its parameters without the load
	load     float64      // 0 for none
	figures  grid.Figures // without a throughput of each GPU if that of all is the same in every combination
	point    grid.Point
	measured bool
	front    bool // no other combination is better on both axes
}

// NewSweepView prepares a snapshot for the panels. Names and words of the snapshot are foreign text, which is made safe
// here, once.
func NewSweepView(s *grid.Snapshot, list SweepList) *SweepView {
	v := &SweepView{Snapshot: s, List: list, cells: make([]sweepCell, len(s.Cells))}
	points := make([]grid.Point, len(s.Cells))
	for i := range s.Cells {
		cell := s.Cells[i]
		cell.Server, cell.Bench, cell.Load = screen.Sanitize(cell.Server), screen.Sanitize(cell.Bench),
			screen.Sanitize(cell.Load)
		c := sweepCell{Cell: &cell, at: i}
		_, load, _ := strings.Cut(cell.Load, "=")
		c.load, _ = strconv.ParseFloat(load, 64)
		bench := strings.Split(cell.Bench, ", ")
		if at := slices.Index(bench, cell.Load); at >= 0 { // a load that is among the parameters is said once
			bench, cell.Load = slices.Delete(bench, at, at+1), ""
		}
		c.pair = [2]string{cell.Server, strings.Join(bench, ", ")}
		c.figures, c.measured = cell.Typical()
		points[i] = grid.Point{PerUser: math.NaN(), PerGPU: math.NaN()}
		if f := &c.figures; c.measured {
			points[i] = grid.Point{PerUser: f.PerUser, PerGPU: f.PerGPU}
			v.gpus = v.gpus || !math.IsNaN(f.PerGPU) && f.PerGPU != f.OutputThroughput
		}
		c.point = points[i]
		v.cells[i] = c
	}
	for i := range v.cells {
		if !v.gpus {
			v.cells[i].figures.PerGPU = math.NaN()
		}
	}
	v.searches = v.shownSearches()
	if len(points) > 1 {
		v.front = grid.Front(points)
	}
	for _, i := range v.front {
		v.cells[i].front = true
	}
	return v
}

// current is the combination in progress; nil for none.
func (v *SweepView) current() *sweepCell {
	if v.Current < 0 || v.Current >= len(v.cells) || v.Over {
		return nil
	}
	return &v.cells[v.Current]
}

// names are the parts of a combination's name.
func (c *sweepCell) names() [3]string { return [...]string{c.Server, c.Bench, c.Load} }

// name is that of the combination in one line.
func (c *sweepCell) name() string {
	parts := c.names()
	return cmp.Or(strings.Join(slices.DeleteFunc(parts[:], func(s string) bool { return s == "" }), between),
		"base command")
}

// counts are the combinations that are over, those that failed, and all but those that were linked out.
func (v *SweepView) counts() (over, failed, all int) {
	for i := range v.cells {
		switch s := v.cells[i].State; {
		case s == grid.Linked:
			continue
		case s == grid.Failed:
			failed++
			fallthrough
		case s.Over():
			over++
		}
		all++
	}
	return over, failed, all
}

// runsDone counts the runs with figures, and all that are known.
func runsDone(runs []grid.Run) (done, all int) {
	for i := range runs {
		if s := runs[i].State; s == grid.Done || s == grid.Found {
			done++
		}
	}
	return done, len(runs)
}

// sign is that of a combination: the one in progress may wait for its server.
func (v *SweepView) sign(c *sweepCell) screen.Span {
	if c.State == grid.Running && v.Server.State == grid.ServerStarting {
		return screen.Caution.Span("◐")
	}
	return sweepSign(c.State, v.Pulse)
}

// sweepSign gives a state a sign and a colour.
func sweepSign(s grid.State, pulse bool) screen.Span {
	switch s {
	case grid.Running:
		return screen.Style{Fg: screen.Running, Bold: pulse}.Span("▶")
	case grid.Done:
		return screen.Success.Span("✓")
	case grid.Found:
		return screen.Style{Fg: screen.Good}.Span("✓")
	case grid.Failed:
		return screen.Warning.Span("✗")
	case grid.Skipped:
		return screen.Caution.Span("○")
	case grid.Linked:
		return screen.Dim.Span(" ")
	}
	return screen.Label.Span("·")
}

// stateWords explain a state in a word or two.
var stateWords = map[grid.State]string{grid.Found: "done in an earlier session", grid.Linked: "left out by --link-vars"}

func stateWord(s grid.State) string { return cmp.Or(stateWords[s], screen.Sanitize(string(s))) }

// sweepFigure is a figure of a combination: its name, its way of writing, and which of two is better.
type sweepFigure struct {
	name   string
	of     func(f *grid.Figures) float64
	write  func(float64) string
	higher bool // the better one is higher
	spare  int  // as that of a column
}

func latencyMS(v float64) string { return number.Latency(number.Seconds(v / 1e3)) }

// gridFigures is how many figures are columns of the grid.
const gridFigures = 11

// sweepFigures are the figures of a combination, those of the grid first, in the order of its columns.
var sweepFigures = []sweepFigure{
	{"tok/s", func(f *grid.Figures) float64 { return f.OutputThroughput }, number.Rate, true, 0},
	{"req/s", func(f *grid.Figures) float64 { return f.RequestThroughput }, number.Rate, true, 5},
	{"good/s", func(f *grid.Figures) float64 { return f.Goodput }, number.Rate, true, 4},
	{"TTFT p50", func(f *grid.Figures) float64 { return f.MedianTTFT }, latencyMS, false, 6},
	{"TTFT p99", func(f *grid.Figures) float64 { return f.P99TTFT }, latencyMS, false, 1},
	{"TPOT p99", func(f *grid.Figures) float64 { return f.P99TPOT }, latencyMS, false, 2},
	{"E2EL p99", func(f *grid.Figures) float64 { return f.P99E2EL }, latencyMS, false, 7},
	{"tok/s/user", func(f *grid.Figures) float64 { return f.PerUser }, number.Rate, true, 3},
	{"tok/s/GPU", func(f *grid.Figures) float64 { return f.PerGPU }, number.Rate, true, 3},
	{"ready", func(f *grid.Figures) float64 { return positive(f.Ready) }, latencyMS, false, 0},
	{"1st token", func(f *grid.Figures) float64 { return positive(f.FirstToken) }, latencyMS, false, 0},
	{"TPOT p50", func(f *grid.Figures) float64 { return f.MedianTPOT }, latencyMS, false, 0},
	{"total tok/s", func(f *grid.Figures) float64 { return f.TotalThroughput }, number.Rate, true, 0},
	{"TTFT mean", func(f *grid.Figures) float64 { return f.MeanTTFT }, latencyMS, false, 0},
	{"ITL p99", func(f *grid.Figures) float64 { return f.P99ITL }, latencyMS, false, 0},
	{"E2EL p50", func(f *grid.Figures) float64 { return f.MedianE2EL }, latencyMS, false, 0},
}

// better reports whether a is a better value of the figure than b. No value is worse than any.
func (g *sweepFigure) better(a, b float64) bool {
	switch {
	case math.IsNaN(a):
		return false
	case math.IsNaN(b):
		return true
	}
	return a != b && (a > b) == g.higher
}

// best is the best value of a figure, of the combination that has it; nil for none.
func (v *SweepView) best(g *sweepFigure) (best *sweepCell, value float64) {
	value = math.NaN()
	for i := range v.cells {
		c := &v.cells[i]
		if v.Table == nil && c.measured && // sides of a comparison are better by its evidence alone
			g.better(g.of(&c.figures), value) {
			best, value = c, g.of(&c.figures)
		}
	}
	return best, value
}

// figureNamed is one of sweepFigures.
func figureNamed(name string) *sweepFigure {
	return &sweepFigures[slices.IndexFunc(sweepFigures, func(g sweepFigure) bool { return g.name == name })]
}

// SweepList is the state of the grid: its order, its filter and the chosen row. The zero value follows the combination
// in progress, in the order of the sweep.
type SweepList struct {
	order  int // 0 is that of the sweep, i that of sweepFigures[i-1], best first
	Filter string
	picked [3]string // the names of the chosen combination
	stays  bool      // it is chosen
	off    int       // lines between the middle of the grid and a row that was clicked on
}

// NextOrder sorts by the next figure.
func (l *SweepList) NextOrder() { l.order = (l.order + 1) % (gridFigures + 1) }

// Release follows the combination in progress again; it reports whether one was chosen.
func (l *SweepList) Release() bool {
	was := l.stays
	l.stays = false
	return was
}

// Stays reports whether a combination was chosen.
func (l *SweepList) Stays() bool { return l.stays }

// rows are the combinations of the grid in its order.
func (v *SweepView) rows() []*sweepCell {
	words := strings.Fields(strings.ToLower(v.List.Filter))
	var out []*sweepCell
	for i := range v.cells {
		c := &v.cells[i]
		said := strings.ToLower(c.name() + " " + stateWord(c.State))
		if c.front {
			said += " front"
		}
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(said, w) }) {
			out = append(out, c)
		}
	}
	if v.List.order == 0 && len(v.searches) > 0 {
		v.sortByLoad(out)
	}
	if v.List.order > 0 {
		g := &sweepFigures[v.List.order-1]
		value := func(c *sweepCell) float64 {
			if !c.measured {
				return math.NaN()
			}
			return g.of(&c.figures)
		}
		slices.SortStableFunc(out, func(a, b *sweepCell) int {
			switch x, y := value(a), value(b); {
			case g.better(x, y):
				return -1
			case g.better(y, x):
				return 1
			}
			return 0
		})
	}
	return out
}

// sortByLoad puts the loads of each search in order: a search tries them as they are needed.
func (v *SweepView) sortByLoad(rows []*sweepCell) {
	first := map[[2]string]int{}
	for i := range v.cells {
		if pair := v.cells[i].pair; first[pair] == 0 {
			first[pair] = i + 1
		}
	}
	slices.SortStableFunc(rows, func(a, b *sweepCell) int {
		return cmp.Or(cmp.Compare(first[a.pair], first[b.pair]), cmp.Compare(a.load, b.load))
	})
}

// place is the row of the chosen combination, else of the one in progress, once the sweep is over that of the highest
// throughput, else the first; -1 for no rows.
func (v *SweepView) place(rows []*sweepCell) int {
	if v.List.stays {
		if i := slices.IndexFunc(rows, func(c *sweepCell) bool { return c.names() == v.List.picked }); i >= 0 {
			return i
		}
	} else {
		now := v.current()
		if v.Over {
			now, _ = v.best(figureNamed("tok/s"))
		}
		if i := slices.Index(rows, now); i >= 0 {
			return i
		}
	}
	return min(0, len(rows)-1)
}

// Chosen is the index of the chosen combination; -1 for none.
func (v *SweepView) Chosen() int {
	if c := v.chosen(); c != nil {
		return c.at
	}
	return -1
}

func (v *SweepView) chosen() *sweepCell {
	rows := v.rows()
	if at := v.place(rows); at >= 0 {
		return rows[at]
	}
	return nil
}

// Choose goes through the grid, of which high lines are shown, and returns the list with its new choice.
func (v *SweepView) Choose(to Move, high int) SweepList {
	rows, l := v.rows(), v.List
	if at := v.place(rows); at >= 0 {
		l.stays, l.picked, l.off = true, rows[to.From(at, max(1, high), len(rows)-1)].names(), 0
	}
	return l
}

// Point chooses the row on a line of the grid, of which high lines are shown, and leaves it there. again says that it
// was chosen before.
func (v *SweepView) Point(line, high int) (l SweepList, again bool) {
	rows, l := v.rows(), v.List
	at := v.top(rows, high) + line
	if line < 0 || line >= high || at >= len(rows) {
		return l, false
	}
	again = l.stays && rows[at] == v.chosen()
	l.stays, l.picked, l.off = true, rows[at].names(), line-high/2
	return l, again
}

// top is the first row shown of high lines, so that the chosen one is in their middle if it was not clicked on.
func (v *SweepView) top(rows []*sweepCell, high int) int {
	return max(0, min(v.place(rows)-high/2-v.List.off, len(rows)-high))
}
