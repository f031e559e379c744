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

// table has rows that are measured in turn, round by round, so that other work of the machine affects all of them.
type table struct {
	name    string
	rounds  int
	rows    []row
	columns []column
	limits  []limit
	after   func() // is called after the last measurement; nil for nothing
}

// row is a subject of measurements.
type row struct {
	name    string
	measure measurement
}

// measurement measures a row in a round, from 0.
type measurement func(ctx context.Context, h *harness, round int) (sample, error)

// sample is the result of a measurement.
type sample struct {
	// Figures by the key of their column.
	Figures map[string]float64 `json:"figures"`
	// Remarks on problems, in fixed words, with an example of this measurement.
	Remarks []remark `json:"-"`
	// Raw has all results.
	Raw any `json:"whole,omitempty"`
}

// remark has the same What in all rounds.
type remark struct{ What, Example string }

// column shows a figure with a number of decimals.
type column struct {
	key, title string
	decimals   int
}

// everyRow instead of the name of a row has a limit apply to the highest value of all rows in each round.
const everyRow = ""

// limit is the limit of a figure's median; with over, of the median of its ratio to that row's, round by round.
type limit struct {
	text        string
	row, column string
	over        string
	most        float64
	unit        string
	decimals    int
}

// measured holds the samples of a row, one a round.
type measured map[string][]sample

func (t *table) measure(ctx context.Context, h *harness) (measured, error) {
	if t.after != nil {
		defer t.after()
	}
	m := measured{}
	report := progress(os.Stderr)
	for round := range t.rounds {
		for i := range t.rows {
			r := t.rows[(i+round)%len(t.rows)] // each row has its turn as the first
			report(fmt.Sprintf("%s: round %d of %d, %s", t.name, round+1, t.rounds, r.name))
			s, err := r.measure(ctx, h, round)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.name, err)
			}
			m[r.name] = append(m[r.name], s)
		}
	}
	report("")
	return m, nil
}

// progress overwrites one line of a terminal. It writes nothing to a file.
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

// highest has the highest value of a figure in each round, or nothing if a row lacks it in some round.
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

// against has the values that a limit applies to.
func (m measured) against(b *limit) []float64 {
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

// describe is "median (minimum to maximum)".
func describe(values []float64, decimals int) string {
	if len(values) == 0 {
		return "–"
	}
	f := func(v float64) string { return strconv.FormatFloat(v, 'f', decimals, 64) }
	if len(values) == 1 {
		return f(values[0])
	}
	return fmt.Sprintf("%s (%s to %s)", f(calibration.Median(values)), f(slices.Min(values)), f(slices.Max(values)))
}

// markdown has the table, its limits, the remarks and the conditions of the measurement.
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
			cells = append(cells, describe(m.of(r.name, c.key), c.decimals))
		}
		line(cells...)
	}
	if len(t.limits) > 0 {
		b.WriteByte('\n')
		line("Bar", "Measured", "")
		line("---", "---:", "---")
		for i := range t.limits {
			line(t.limits[i].cells(m)...)
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

func (b *limit) cells(m measured) []string {
	values := m.against(b)
	if len(values) == 0 {
		return []string{b.text, "–", "not measured"}
	}
	verdict := "**not met**"
	if calibration.Median(values) <= b.most {
		verdict = "met"
	}
	return []string{b.text, describe(values, b.decimals) + b.unit, verdict}
}

// remarks are those of all rounds of a row, each once, with the number of its rounds and its last example.
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
