package compare

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"benchtop/export/charts"
	"benchtop/export/page"
	"benchtop/internal/table"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// Table is a part of a comparison: its table, the workload it is of, and its picture on a page, nil for none.
type Table struct {
	table.Table
	Group  string
	figure *charts.Figure
	// plain is the table for programs, a number in each cell; nil for the table itself.
	plain *table.Table
}

func (t *Table) forPrograms() *table.Table { return cmp.Or(t.plain, &t.Table) }

// Tables are those of the groups, then those of throughput and latency.
func (c *Comparison) Tables() (all []Table) {
	for i := range c.Groups {
		g := &c.Groups[i]
		names := metrics.Each(g.Keys, func(k Key) string { return k.Title + ": " + cmp.Or(k.Value, "-") })
		group := strings.Join(names, ", ")
		for k := range g.Metrics {
			all = append(all, c.table(group, &g.Metrics[k], true))
		}
		all = append(all, c.highest(group, g))
	}
	for i := range c.Offline {
		all = append(all, c.table("", &c.Offline[i], false))
	}
	return all
}

// titles name columns of vLLM's that tell little by themselves.
var titles = map[string]string{"P99": "P99 TPOT (ms)", "Median": "Median TPOT (ms)"}

// Name is the title of a metric for a person.
func (m *Metric) Name() string { return cmp.Or(titles[m.Title], m.Title) }

func (c *Comparison) table(group string, m *Metric, serving bool) Table {
	t := Table{Table: *table.New(m.Name(), m.KeyTitles...), Group: group}
	t.Keys = len(m.KeyTitles)
	if m.Limit > 0 {
		t.Title += fmt.Sprintf(", limit %g (+%g %%)", m.Limit, m.Slack)
	}
	for i, label := range c.Labels {
		if t.Columns = append(t.Columns, table.Column{Name: label}); i > 0 {
			t.Columns = append(t.Columns, table.Column{Name: fmt.Sprintf("Ratio 1 vs %d", i+1)})
		}
	}
	for _, l := range m.Lines {
		row := metrics.Each(l.Keys, func(k string) any { return k })
		for i, v := range l.Values {
			if row = append(row, table.Cell{Text: decimals(v.Mean), Mark: m.mark(v.Mean)}); i > 0 {
				row = append(row, table.Cell{Text: decimals(l.Ratios[i-1]), Mark: table.Ratio})
			}
		}
		t.Add(row...)
	}
	if serving {
		t.figure = c.figure(m)
	}
	return t
}

// mark says on which side of the limit a value lies.
func (m *Metric) mark(v float64) table.Mark {
	switch {
	case m.Limit == 0:
	case v <= m.Limit:
		return table.Good
	case v <= m.Within():
		return table.Slack
	}
	return ""
}

// figure draws the metric over the load.
func (c *Comparison) figure(m *Metric) *charts.Figure {
	f := &charts.Figure{Title: m.Name(), X: charts.Axis{Label: c.X, Scale: charts.Linear},
		Y: charts.Axis{Label: m.Name(), Scale: charts.Linear}, Columns: 1}
	var curves []charts.Curve
	left, right := math.Inf(1), math.Inf(-1)
	for i, label := range c.Labels {
		curve := charts.Curve{Name: text.Clean(label), Line: true, Colour: i}
		for _, l := range m.Lines {
			if v := l.Values[i].Mean; text.Finite(v) && text.Finite(l.X) {
				curve.Points = append(curve.Points, charts.Point{X: l.X, Y: v})
				left, right = min(left, l.X), max(right, l.X)
			}
		}
		curves = append(curves, curve)
	}
	if !text.Finite(left) {
		return nil
	}
	if m.Limit > 0 {
		curves = append(curves, charts.Curve{Name: fmt.Sprintf("limit %g", m.Limit), Line: true, Colour: len(curves),
			Dash: 1, Points: []charts.Point{{X: left, Y: m.Limit}, {X: right, Y: m.Limit}}})
	}
	f.Panels = []charts.Panel{{Curves: curves}}
	return f
}

func (c *Comparison) highest(group string, g *Group) Table {
	ttft, tpot := &g.Metrics[1], &g.Metrics[2]
	title := "Valid Max Concurrency Summary"
	if c.X != Concurrency {
		title = "Highest " + c.X + " within the limits"
	}
	t := table.New(title, "Configuration",
		fmt.Sprintf("Max (TTFT ≤ %g ms)", ttft.Within()), fmt.Sprintf("Max (TPOT ≤ %g ms)", tpot.Within()),
		"Max (Both)",
		"Output Tput @ Both (tok/s)", "TTFT @ Both (ms)", "TPOT @ Both (ms)", "Missed below at", "Output Tput: runs")
	for _, h := range g.Highest {
		both := table.Cell{Text: load(h.Both)}
		if h.Both == h.Both {
			both.Mark = table.Good
		}
		t.Add(h.Label, load(h.TTFT), load(h.TPOT), both,
			decimals(h.Output.Mean), decimals(h.AtTTFT), decimals(h.AtTPOT), load(h.Broken), h.Output.runs())
	}
	return Table{Table: *t, Group: group}
}

// runs says of how many runs a value is, and how far they lie apart.
func (v Value) runs() string {
	switch v.Runs {
	case 0:
		return ""
	case 1:
		return "single run"
	}
	return fmt.Sprintf("%s to %s in %d runs", decimals(v.Least), decimals(v.Most), v.Runs)
}

// decimals is a figure with two, "" for none.
func decimals(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return fmt.Sprintf("%.2f", v)
}

func load(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return Text(v)
}

// document joins tables, each group below its name, and the note; "" for none. The forms are those of the name and of
// the note.
func document(tables []Table, note, group, below string, escape func(string) string, each func(*Table) string) string {
	var b strings.Builder
	last := ""
	for i := range tables {
		t := &tables[i]
		if t.Group != last && t.Group != "" {
			fmt.Fprintf(&b, group, escape(text.Clean(t.Group)))
		}
		last = t.Group
		b.WriteString(each(t))
	}
	if note != "" {
		fmt.Fprintf(&b, below, escape(note))
	}
	return b.String()
}

// Terminal is the comparison for a terminal of so many columns; wider tables are parted between columns.
func Terminal(tables []Table, note string, width int, colours bool) string {
	plain := func(s string) string { return s }
	each := func(t *Table) string { return t.Text(width, colours) }
	return strings.TrimPrefix(document(tables, note, "\n%s\n", "\n%s\n", plain, each), "\n")
}

// Markdown is the comparison in Markdown.
func Markdown(tables []Table, note string) string {
	return document(tables, note, "## %s\n\n", "%s\n", table.Escape.Replace, func(t *Table) string {
		return "### " + table.Escape.Replace(text.Clean(t.Title)) + "\n\n" + t.Markdown(table.Escape) + "\n"
	})
}

// CSV has the tables one below the other, with the group and the title in front of each row.
func CSV(tables []Table, _ string) string {
	out := ""
	for _, t := range tables {
		out += t.forPrograms().CSV([2]string{"Group", t.Group}, [2]string{"Table", t.Title})
	}
	return out
}

// JSON is an object of the note and the tables, whose rows are objects by the names of the columns; the name of a
// configuration that is that of another column has its number. A cell that is a number is one; "" is null.
func JSON(tables []Table, note string) string {
	type entry struct {
		Group string           `json:"group"`
		Title string           `json:"title"`
		Rows  []map[string]any `json:"rows"`
	}
	all := []entry{}
	for i := range tables {
		t := tables[i].forPrograms()
		e := entry{tables[i].Group, tables[i].Title, []map[string]any{}}
		for _, cells := range t.Rows {
			row := map[string]any{}
			for k, c := range cells {
				name := t.Columns[k].Name
				if _, taken := row[name]; taken {
					name = fmt.Sprintf("%s (%d)", name, k+1)
				}
				row[name] = value(c.Text)
			}
			e.Rows = append(e.Rows, row)
		}
		all = append(all, e)
	}
	out, _ := json.MarshalIndent(map[string]any{"note": note, "tables": all}, "", "  ") // texts and finite numbers
	return string(out) + "\n"
}

// value is the text of a cell as JSON has it.
func value(s string) any {
	if v, err := strconv.ParseFloat(s, 64); err == nil && text.Finite(v) {
		return v
	}
	if s == "" {
		return nil
	}
	return s
}

// HTML is the comparison with its pictures as one page that needs no network.
func HTML(tables []Table, note string) string {
	var b strings.Builder
	_ = page.Tables(&b, "Comparison", note, metrics.Each(tables, func(t Table) page.Part {
		return page.Part{Group: t.Group, Table: &t.Table, Picture: t.figure}
	})) // a builder takes everything
	return b.String()
}
