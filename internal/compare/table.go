package compare

import (
	"encoding/csv"
	"fmt"
	"html"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"benchtop/export"
	"benchtop/export/charts"
	"benchtop/internal/text"
)

// Mark says what a cell means.
type Mark int

// The marks: a value within its limit, one within the slack above it, and a ratio.
const (
	Plain Mark = iota
	Good
	Slack
	Ratio
)

// Cell is a cell of a table.
type Cell struct {
	Text string
	Mark Mark
}

// Table is a part of a comparison as texts. The first columns, the keys, are repeated where a table is parted for a narrow terminal.
type Table struct {
	Group, Title string
	Head         []string
	Rows         [][]Cell
	Keys         int
	figure       *charts.Figure // of a page, nil for none
}

// Tables are those of the groups, then those of throughput and latency.
func (c *Comparison) Tables() (all []Table) {
	for i := range c.Groups {
		g := &c.Groups[i]
		var names []string
		for _, k := range g.Keys {
			names = append(names, k.Title+": "+orDash(k.Value))
		}
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
func (m *Metric) Name() string {
	if name := titles[m.Title]; name != "" {
		return name
	}
	return m.Title
}

func (c *Comparison) table(group string, m *Metric, serving bool) Table {
	t := Table{Group: group, Title: m.Name(), Keys: len(m.KeyTitles)}
	if m.Limit > 0 {
		t.Title += fmt.Sprintf(", limit %g (+%g %%)", m.Limit, m.Slack)
	}
	t.Head = append(t.Head, m.KeyTitles...)
	for i, label := range c.Labels {
		if t.Head = append(t.Head, label); i > 0 {
			t.Head = append(t.Head, fmt.Sprintf("Ratio 1 vs %d", i+1))
		}
	}
	for _, l := range m.Lines {
		var row []Cell
		for _, k := range l.Keys {
			row = append(row, Cell{Text: k})
		}
		for i, v := range l.Values {
			cell := Cell{Text: decimals(v)}
			switch {
			case m.Limit == 0:
			case v <= m.Limit:
				cell.Mark = Good
			case v <= m.Within():
				cell.Mark = Slack
			}
			if row = append(row, cell); i > 0 {
				row = append(row, Cell{decimals(l.Ratios[i-1]), Ratio})
			}
		}
		t.Rows = append(t.Rows, row)
	}
	if serving {
		t.figure = c.figure(m)
	}
	return t
}

// figure draws the metric over the load.
func (c *Comparison) figure(m *Metric) *charts.Figure {
	f := &charts.Figure{Title: m.Name(), X: charts.Axis{Label: c.X, Scale: charts.Linear}, Y: charts.Axis{Label: m.Name(), Scale: charts.Linear}, Columns: 1}
	var curves []charts.Curve
	left, right := math.Inf(1), math.Inf(-1)
	for i, label := range c.Labels {
		curve := charts.Curve{Name: text.Clean(label), Line: true, Colour: i}
		for _, l := range m.Lines {
			if v := l.Values[i]; finite(v) && finite(l.X) {
				curve.Points = append(curve.Points, charts.Point{X: l.X, Y: v})
				left, right = min(left, l.X), max(right, l.X)
			}
		}
		curves = append(curves, curve)
	}
	if !finite(left) {
		return nil
	}
	if m.Limit > 0 {
		curves = append(curves, charts.Curve{Name: fmt.Sprintf("limit %g", m.Limit), Line: true, Colour: len(curves), Dash: 1, Points: []charts.Point{{X: left, Y: m.Limit}, {X: right, Y: m.Limit}}})
	}
	f.Panels = []charts.Panel{{Curves: curves}}
	return f
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func (c *Comparison) highest(group string, g *Group) Table {
	ttft, tpot := &g.Metrics[1], &g.Metrics[2]
	t := Table{Group: group, Title: "Valid Max Concurrency Summary", Keys: 1, Head: []string{"Configuration",
		fmt.Sprintf("Max (TTFT ≤ %g ms)", ttft.Within()), fmt.Sprintf("Max (TPOT ≤ %g ms)", tpot.Within()), "Max (Both)",
		"Output Tput @ Both (tok/s)", "TTFT @ Both (ms)", "TPOT @ Both (ms)", "Missed below at", "Output Tput: runs"}}
	if c.X != Concurrency {
		t.Title = "Highest " + c.X + " within the limits"
	}
	for _, h := range g.Highest {
		both := Cell{Text: load(h.Both)}
		if h.Both == h.Both {
			both.Mark = Good
		}
		t.Rows = append(t.Rows, []Cell{{Text: h.Label}, {Text: load(h.TTFT)}, {Text: load(h.TPOT)}, both,
			{Text: decimals(h.Output)}, {Text: decimals(h.AtTTFT)}, {Text: decimals(h.AtTPOT)}, {Text: load(h.Broken)}, {Text: runsText(&h)}})
	}
	return t
}

// runsText says of how many runs the output at the highest load is, and how far they lie apart.
func runsText(h *Highest) string {
	switch h.Runs {
	case 0:
		return ""
	case 1:
		return "single run"
	}
	return fmt.Sprintf("%s to %s in %d runs", decimals(h.Least), decimals(h.Most), h.Runs)
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

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// marked are the beginnings of the colours of a terminal, by mark.
var marked = map[Mark]string{Good: "\x1b[32m", Slack: "\x1b[33m", Ratio: "\x1b[36m"}

// WriteText writes tables for a terminal of so many columns; wider ones are parted between columns. The note comes last; "" for none.
func WriteText(w io.Writer, tables []Table, note string, width int, colours bool) error {
	var b strings.Builder
	group := "\x00"
	for _, t := range tables {
		if t.Group != group && t.Group != "" {
			fmt.Fprintf(&b, "\n%s\n", text.Clean(t.Group))
		}
		group = t.Group
		fmt.Fprintf(&b, "\n%s\n", text.Clean(t.Title))
		widths := make([]int, len(t.Head))
		for i, h := range t.Head {
			widths[i] = utf8.RuneCountInString(text.Clean(h))
			for _, row := range t.Rows {
				widths[i] = max(widths[i], utf8.RuneCountInString(text.Clean(row[i].Text)))
			}
		}
		for from := t.Keys; from < len(t.Head) || from == t.Keys; {
			used, to := 0, from
			for i := range t.Keys {
				used += widths[i] + 2
			}
			for ; to < len(t.Head) && (to == from || used+widths[to] <= width); to++ {
				used += widths[to] + 2
			}
			if from > t.Keys {
				b.WriteByte('\n')
			}
			line(&b, t, -1, from, to, widths, colours)
			for r := range t.Rows {
				line(&b, t, r, from, to, widths, colours)
			}
			if from = to; from >= len(t.Head) {
				break
			}
		}
	}
	if note != "" {
		fmt.Fprintf(&b, "\n%s\n", note)
	}
	_, err := io.WriteString(w, strings.TrimPrefix(b.String(), "\n"))
	return err
}

// line writes the keys of a row and its columns from one to another; the head for row -1.
func line(b *strings.Builder, t Table, row, from, to int, widths []int, colours bool) {
	var out strings.Builder
	for i := range t.Head {
		if i >= t.Keys && (i < from || i >= to) {
			continue
		}
		cell := Cell{Text: t.Head[i]}
		if row >= 0 {
			cell = t.Rows[row][i]
		}
		text := text.Clean(cell.Text)
		blanks := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
		if colours && marked[cell.Mark] != "" && text != "" {
			text = marked[cell.Mark] + text + "\x1b[0m"
		}
		if i == 0 {
			out.WriteString(text + blanks)
		} else {
			out.WriteString("  " + blanks + text)
		}
	}
	b.WriteString(strings.TrimRight(out.String(), " ") + "\n")
}

// WriteMarkdown writes tables in Markdown, the note last.
func WriteMarkdown(w io.Writer, tables []Table, note string) error {
	var b strings.Builder
	group := "\x00"
	escape := strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`)
	for _, t := range tables {
		if t.Group != group && t.Group != "" {
			fmt.Fprintf(&b, "## %s\n\n", escape.Replace(text.Clean(t.Group)))
		}
		group = t.Group
		fmt.Fprintf(&b, "### %s\n\n", escape.Replace(text.Clean(t.Title)))
		put := func(cells []string) {
			b.WriteString("|")
			for _, c := range cells {
				b.WriteString(" " + escape.Replace(text.Clean(c)) + " |")
			}
			b.WriteString("\n")
		}
		put(t.Head)
		b.WriteString("|" + strings.Repeat(" :-- |", t.Keys) + strings.Repeat(" --: |", len(t.Head)-t.Keys) + "\n")
		for _, row := range t.Rows {
			put(texts(row))
		}
		b.WriteString("\n")
	}
	if note != "" {
		b.WriteString(escape.Replace(note) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func texts(row []Cell) (all []string) {
	for _, c := range row {
		all = append(all, c.Text)
	}
	return all
}

// WriteCSV writes tables one below the other, with the group and the title in front of each row. A text that a spreadsheet would run gets a
// quotation mark.
func WriteCSV(w io.Writer, tables []Table) error {
	out := csv.NewWriter(w)
	for _, t := range tables {
		_ = out.Write(export.CSVRow(append([]string{"Group", "Table"}, t.Head...)))
		for _, row := range t.Rows {
			_ = out.Write(export.CSVRow(append([]string{t.Group, t.Title}, texts(row)...)))
		}
	}
	out.Flush()
	return out.Error()
}

const page = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Comparison</title><style>
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em auto; padding: 0 2em; max-width: 90em; color: #222; background: #fff }
h2 { margin-top: 2em } h3 { margin: 1.2em 0 .4em }
.scroll { overflow-x: auto } table { border-collapse: collapse } th, td { padding: .25em .7em; border: 1px solid #ccc; text-align: right }
th.k, td.k { text-align: left } th { background: #f2f2f2 }
.good { background: #e3f7e3 } .slack { background: #ffe6cc } .ratio { background: #fff6c8 }
svg { max-width: 100%; height: auto }
</style></head><body><h1>Comparison</h1>
`

// classes are the names of marks in a page.
var classes = map[Mark]string{Good: "good", Slack: "slack", Ratio: "ratio"}

// WriteHTML writes tables and their pictures as one page that needs no network, the note last.
func WriteHTML(w io.Writer, tables []Table, note string) error {
	var b strings.Builder
	b.WriteString(page)
	group := "\x00"
	for _, t := range tables {
		if t.Group != group && t.Group != "" {
			fmt.Fprintf(&b, "<h2>%s</h2>\n", html.EscapeString(text.Clean(t.Group)))
		}
		group = t.Group
		fmt.Fprintf(&b, "<h3>%s</h3>\n<div class=\"scroll\"><table><tr>", html.EscapeString(text.Clean(t.Title)))
		for i, h := range t.Head {
			fmt.Fprintf(&b, "<th%s>%s</th>", class(i < t.Keys, Plain), html.EscapeString(text.Clean(h)))
		}
		b.WriteString("</tr>\n")
		for _, row := range t.Rows {
			b.WriteString("<tr>")
			for i, c := range row {
				fmt.Fprintf(&b, "<td%s>%s</td>", class(i < t.Keys, c.Mark), html.EscapeString(text.Clean(c.Text)))
			}
			b.WriteString("</tr>\n")
		}
		b.WriteString("</table></div>\n")
		if t.figure != nil {
			if err := t.figure.Drawing(3).SVG(&b); err != nil {
				return err
			}
		}
	}
	if note != "" {
		fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(note))
	}
	b.WriteString("</body></html>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func class(key bool, m Mark) string {
	switch {
	case key:
		return ` class="k"`
	case classes[m] != "":
		return ` class="` + classes[m] + `"`
	}
	return ""
}
