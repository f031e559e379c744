package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"benchtop/internal/calibration"
)

// table is a number of rows that are measured in turn, round by round, so that what else the machine does meets all of them.
type table struct {
	name    string
	rounds  int
	rows    []row
	columns []column
	bars    []bar
	after   func() // is called when all is measured; nil for nothing
}

// row is something that is measured.
type row struct {
	name    string
	measure measurement
}

// measurement is one, in a round, from 0.
type measurement func(ctx context.Context, l *lab, round int) (sample, error)

// sample is what one measurement gave.
type sample struct {
	// Figures by the key of their column.
	Figures map[string]float64 `json:"figures"`
	// Remarks on what is not as it should be, in fixed words, with an example of this measurement.
	Remarks []remark `json:"-"`
	// Whole is all there is to know of it.
	Whole any `json:"whole,omitempty"`
}

// remark is the same for all rounds in What.
type remark struct{ What, Example string }

// column shows a figure with a number of decimals.
type column struct {
	key, title string
	decimals   int
}

// everyRow instead of the name of a row: a bar is about the highest of all rows in each round.
const everyRow = ""

// bar is what the median of a figure must not exceed; with over, the median of its ratio to that row's, round by round.
type bar struct {
	text        string
	row, column string
	over        string
	most        float64
	unit        string
	decimals    int
}

// measured holds the samples of a row, one a round.
type measured map[string][]sample

func (t *table) measure(ctx context.Context, l *lab) (measured, error) {
	if t.after != nil {
		defer t.after()
	}
	m := measured{}
	say := progress(os.Stderr)
	for round := range t.rounds {
		for i := range t.rows {
			r := t.rows[(i+round)%len(t.rows)] // each is first at times
			say(fmt.Sprintf("%s: round %d of %d, %s", t.name, round+1, t.rounds, r.name))
			s, err := r.measure(ctx, l, round)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.name, err)
			}
			m[r.name] = append(m[r.name], s)
		}
	}
	say("")
	return m, nil
}

// progress overwrites one line of a terminal; what is no terminal gets nothing.
func progress(to *os.File) func(line string) {
	if info, err := to.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return func(string) {}
	}
	return func(line string) { fmt.Fprint(to, "\r\x1b[K", line) }
}

// of are the values of a figure, one for each round that has it.
func (m measured) of(row, column string) []float64 {
	var values []float64
	for _, s := range m[row] {
		if v, ok := s.Figures[column]; ok {
			values = append(values, v)
		}
	}
	return values
}

// highest is the highest value of a figure in each round; none where a row lacks it in some round.
func (m measured) highest(column string) []float64 {
	var most []float64
	for row := range m {
		values := m.of(row, column)
		if most == nil {
			most = values
		}
		if len(values) != len(most) || len(values) != len(m[row]) {
			return nil
		}
		for i, v := range values {
			most[i] = max(most[i], v)
		}
	}
	return most
}

// against is what a bar is about.
func (m measured) against(b *bar) []float64 {
	if b.row == everyRow {
		return m.highest(b.column)
	}
	values := m.of(b.row, b.column)
	if b.over == "" {
		return values
	}
	base := m.of(b.over, b.column)
	if len(base) != len(values) {
		return nil
	}
	ratios := make([]float64, len(values))
	for i := range values {
		ratios[i] = values[i] / base[i]
	}
	return ratios
}

// inWords is "median (minimum to maximum)".
func inWords(values []float64, decimals int) string {
	if len(values) == 0 {
		return "–"
	}
	f := func(v float64) string { return strconv.FormatFloat(v, 'f', decimals, 64) }
	if len(values) == 1 {
		return f(values[0])
	}
	return fmt.Sprintf("%s (%s to %s)", f(calibration.Median(values)), f(slices.Min(values)), f(slices.Max(values)))
}

// markdown is the table, its bars, what there is to remark and how it was measured.
func (t *table) markdown(m measured, here machine) string {
	var b strings.Builder
	line := func(cells ...string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	head, rule := []string{""}, []string{"---"}
	for _, c := range t.columns {
		head, rule = append(head, c.title), append(rule, "---:")
	}
	line(head...)
	line(rule...)
	for _, r := range t.rows {
		cells := []string{r.name}
		for _, c := range t.columns {
			cells = append(cells, inWords(m.of(r.name, c.key), c.decimals))
		}
		line(cells...)
	}
	if len(t.bars) > 0 {
		b.WriteByte('\n')
		line("Bar", "Measured", "")
		line("---", "---:", "---")
		for i := range t.bars {
			line(t.bars[i].cells(m)...)
		}
	}
	for _, r := range t.rows {
		for _, remark := range remarks(m[r.name]) {
			fmt.Fprintf(&b, "\n%s: %s.\n", r.name, remark)
		}
	}
	fmt.Fprintf(&b, "\n%s, %s.\n", calibration.Plural(float64(t.rounds), "round"), here)
	return b.String()
}

func (b *bar) cells(m measured) []string {
	values := m.against(b)
	if len(values) == 0 {
		return []string{b.text, "–", "not measured"}
	}
	verdict := "**not met**"
	if calibration.Median(values) <= b.most {
		verdict = "met"
	}
	return []string{b.text, inWords(values, b.decimals) + b.unit, verdict}
}

// remarks of all rounds of a row, each once, with the number of rounds that had it and its last example.
func remarks(samples []sample) []string {
	var order []string
	times, last := map[string]int{}, map[string]string{}
	for _, s := range samples {
		for _, r := range s.Remarks {
			if times[r.What]++; times[r.What] == 1 {
				order = append(order, r.What)
			}
			last[r.What] = r.Example
		}
	}
	for i, what := range order {
		order[i] = fmt.Sprintf("%s in %d of %s, such as: %s", what, times[what], calibration.Plural(float64(len(samples)), "round"), last[what])
	}
	return order
}
