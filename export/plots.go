package export

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"benchtop/export/dots"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// PlotOptions are the options of Plots.
type PlotOptions struct {
	// Width is the largest width of a line in columns; 0 means 80. Nothing is drawn below 30.
	Width int
	// ASCII draws with plain characters instead of braille.
	ASCII bool
}

const (
	defaultPlotWidth = 80
	minPlotWidth     = 30
	// plotRows is the height of a plot without its axis: an odd number, so that five steps lie two rows apart.
	plotRows = 11
)

// Plots draws two small plots over the seconds of the run: the output tokens that arrived (for pooling, the input
// tokens of answered requests), and the requests in flight at the end of each second, the sum of waiting and running.
// Letters on the time axis mark annotated events. If a run has more seconds than a plot has points, a point is the mean
// of its seconds for tokens and the maximum for requests, and the title says so. The text starts with an empty line; it
// is empty for a run without a success or of less than two seconds.
func Plots(r metrics.Report, o PlotOptions) string {
	o.Width = cmp.Or(o.Width, defaultPlotWidth)
	if o.Width < minPlotWidth || r.Completed == 0 || r.Duration < 2 || len(r.Timeline) < 2 {
		return ""
	}
	kind, tokensOf := r.Plan.Tokens()
	title := strings.ToUpper(kind[:1]) + kind[1:] + " tokens per second"
	var tokens, inFlight []float64
	for i := range r.Timeline {
		win := r.Timeline[i]
		tokens, inFlight = append(tokens, plotted(tokensOf(win))), append(inFlight, plotted(win.Waiting+win.Running))
	}
	var out strings.Builder
	marks := annotationsOf(&r)
	for _, p := range []plot{
		{title: title, join: mean, joined: "mean", values: tokens},
		{title: "Concurrent requests per second (in flight at the end of each)", join: slices.Max[[]float64],
			joined: "highest",
			values: inFlight},
	} {
		p.PlotOptions, p.marks = o, marks
		out.WriteByte('\n')
		p.draw(&out)
	}
	return out.String() + legend(marks, o)
}

// plotted bounds the counts of a damaged journal to the range of the axis.
func plotted(n int) float64 { return float64(min(max(0, n), maxPlotted)) }

// plot is one plot; values has an element for each second.
type plot struct {
	PlotOptions
	title  string
	values []float64
	marks  []annotation
	// join reduces the values of a point to one; joined is its name.
	join   func([]float64) float64
	joined string
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

func (p *plot) draw(w *strings.Builder) {
	columns := p.Width - labelWidth - 2 // a blank and the axis
	area := dots.New(columns, plotRows, p.ASCII)
	points, note := p.points(area.Width)
	y := newValueAxis(slices.Max(points))
	for x, v := range points {
		at := y.place(v, area.Height)
		from := at
		if x > 0 {
			from = y.place(points[x-1], area.Height)
		}
		area.Step(x, from, at)
	}
	w.WriteString(text.Wrap(p.title+note, p.Width))
	labels := y.labels(plotRows, area.Height)
	line, tick := "│", "┤"
	if p.ASCII {
		line, tick = "|", "+"
	}
	for row := range plotRows {
		edge := line
		if labels[row] != "" {
			edge = tick
		}
		fmt.Fprintf(w, "%*s %s%s\n", labelWidth, labels[row], edge, strings.TrimRight(area.Row(row), " "))
	}
	axis, names := timeAxis(len(p.values), columns, p.marks, p.ASCII)
	pad := strings.Repeat(" ", labelWidth+1)
	w.WriteString(pad + axis + "\n" + pad + names + "\n")
}

// points reduces the values to n points; note describes the reduction, if there is one.
func (p *plot) points(n int) (points []float64, note string) {
	seconds := len(p.values)
	points = make([]float64, n)
	for x := range points {
		from := x * seconds / n
		points[x] = p.join(p.values[from:max(from+1, (x+1)*seconds/n)])
	}
	low, high := seconds/n, (seconds+n-1)/n
	switch {
	case seconds <= n:
		return points, ""
	case low == high:
		return points, fmt.Sprintf(", %s of %d s at each point", p.joined, low)
	}
	return points, fmt.Sprintf(", %s of %d to %d s at each point", p.joined, low, high)
}

// annotation is a labelled moment on the time axis.
type annotation struct {
	at     float64 // seconds
	letter rune
	text   string
}

// maxMarks is the number of letters.
const maxMarks = 26

// annotationsOf are the labelled events within the plotted time.
func annotationsOf(r *metrics.Report) []annotation {
	var out []annotation
	for _, e := range r.Events {
		at := e.At.Seconds()
		if e.Mark != "" && at >= 0 && at <= float64(len(r.Timeline)) && len(out) < maxMarks {
			out = append(out, annotation{at, 'a' + rune(len(out)), e.Mark})
		}
	}
	return out
}

const (
	// maxMarkWidth is the width of a label in the legend, in columns.
	maxMarkWidth = 24
	// maxMarkRest is the width of the rest of an entry: a letter and (6d23h59m59s).
	maxMarkRest = 16
)

// legend lists the annotations in as few lines as possible.
func legend(marks []annotation, o PlotOptions) string {
	var entries []string
	width := min(maxMarkWidth, o.Width-maxMarkRest)
	for _, m := range marks {
		name := text.Fit(text.Clean(m.text), width)
		if o.ASCII {
			name = cutASCII(m.text, width)
		}
		entries = append(entries, fmt.Sprintf("%c %s (%s)", m.letter, name, clock(int(m.at))))
	}
	return text.Lines(text.Fill(entries, "  ", "", o.Width))
}

// valueAxis goes from 0 to a round number in round steps.
type valueAxis struct{ step, top float64 }

const (
	// maxSteps keeps labels at least two rows apart.
	maxSteps = 5
	// labelWidth fits the labels of values up to maxPlotted, such as 250k and 1.5M.
	labelWidth = 4
	maxPlotted = 500_000_000_000_000
)

// newValueAxis chooses the smallest step of 1, 2 or 5 times a power of ten with at most maxSteps steps. Counts are
// whole, so no step is below 1.
func newValueAxis(most float64) valueAxis {
	step := 1.0
	for i := 0; step*maxSteps < most; i++ {
		if i%3 == 1 {
			step *= 2.5
		} else {
			step *= 2
		}
	}
	return valueAxis{step, step * max(1, math.Ceil(most/step))}
}

// place is the index of a value among n dots.
func (a *valueAxis) place(v float64, n int) int {
	return min(max(int(math.Round(v/a.top*float64(n-1))), 0), n-1)
}

// labels are the labels of the rows, from the top.
func (a *valueAxis) labels(rows, dots int) []string {
	out := make([]string, rows)
	for v := 0.0; v <= a.top; v += a.step {
		out[rows-1-a.place(v, dots)*rows/dots] = shortNumber(v)
	}
	return out
}

// shortNumber writes a round number with few digits.
func shortNumber(v float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= unit.size {
			return strconv.FormatFloat(v/unit.size, 'g', 4, 64) + unit.name
		}
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// timeSteps are the usual steps of a time axis, in seconds.
var timeSteps = []int{
	1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800,
}

// TimeStep is the usual step by which an axis over so many seconds has at most so many.
func TimeStep(seconds, most int) int {
	i := slices.IndexFunc(timeSteps, func(s int) bool { return s*most >= seconds })
	if i < 0 {
		i = len(timeSteps) - 1
	}
	return timeSteps[i]
}

// minTickDistance is the smallest distance between two ticks of the time axis, in columns.
const minTickDistance = 8

// timeAxis draws the axis below the area and the labels of its ticks. The letters of annotations stand on the axis.
func timeAxis(seconds, columns int, marks []annotation, ascii bool) (axis, names string) {
	step := TimeStep(minTickDistance*seconds, columns)
	corner, line, tick := '└', '─', '┴'
	if ascii {
		corner, line, tick = '+', '-', '+'
	}
	cells := []rune(strings.Repeat(string(line), columns))
	for t := step; t < seconds; t += step {
		cells[t*columns/seconds] = tick
	}
	for _, m := range marks {
		at := int(min(m.at/float64(seconds)*float64(columns), float64(columns-1)))
		for at < columns-1 && cells[at] >= 'a' && cells[at] <= 'z' { // taken: the next free cell
			at++
		}
		cells[at] = m.letter
	}
	row := []rune(strings.Repeat(" ", columns+1))
	for t := 0; t < seconds; t += step {
		label := clock(t)
		at := 1 + t*columns/seconds - len(label)/2
		if at = max(at, 0); at+len(label) <= len(row) {
			copy(row[at:], []rune(label))
		}
	}
	return string(corner) + string(cells), strings.TrimRight(string(row), " ")
}

// clock writes a number of seconds in few characters.
func clock(t int) string {
	if t < 60 {
		return strconv.Itoa(t) + "s"
	}
	text := ""
	for _, unit := range []struct {
		seconds int
		name    string
	}{{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}} {
		if n := t / unit.seconds; n > 0 {
			text += strconv.Itoa(n) + unit.name
			t -= n * unit.seconds
		}
	}
	return text
}
