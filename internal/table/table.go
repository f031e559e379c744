// Package table draws tables: as text, as Markdown, as CSV and as HTML. It leaves out what stands in them.
package table

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"benchtop/internal/text"
)

// Align is the side on which a column is flush.
type Align uint8

// The sides. Plain is Left, but Markdown leaves the side of such a column to its reader.
const (
	Right Align = iota
	Left
	Plain
)

// Column is a column of a table.
type Column struct {
	Name  string
	Align Align
	// Width is the least width as text.
	Width int
	// Optional columns are left out where no row has a figure.
	Optional bool
}

// Mark says what a cell means; it is the name of its class on a page.
type Mark string

// The marks: a value within its limit, one beyond it, one within the slack above it, and a ratio.
const (
	Good  Mark = "good"
	Bad   Mark = "bad"
	Slack Mark = "slack"
	Ratio Mark = "ratio"
)

// Cell is a cell of a table. Foreign text need not be clean, but CSV keeps it as it is.
type Cell struct {
	Text string
	Mark Mark
}

// Table is a table. Without names of its columns it has no head. The last cell of a row that ends early may reach over
// the columns behind it.
type Table struct {
	Title   string
	Columns []Column
	Rows    [][]Cell
	// Keys are the first columns, which are repeated where the text is parted; a page has them flush left.
	Keys int
	// Indent and Gap are the blanks of the text before the first column and between columns; a Gap of 0 is of 2.
	Indent, Gap int
}

// New returns a table of a column flush left and figures behind it.
func New(title string, names ...string) *Table {
	t := &Table{Title: title, Keys: 1}
	for _, name := range names {
		t.Columns = append(t.Columns, Column{Name: name})
	}
	t.Columns[0].Align = Left
	return t
}

// Optional adds columns that are left out where no row has a figure, and returns the table.
func (t *Table) Optional(names ...string) *Table {
	for _, name := range names {
		t.Columns = append(t.Columns, Column{Name: name, Optional: true})
	}
	return t
}

// List returns a table of columns of words, all flush left.
func List(title string, names ...string) *Table {
	t := New(title, names...)
	for i := range t.Columns {
		t.Columns[i].Align = Left
	}
	return t
}

// Absent stands for a figure that a row does not have.
const Absent = "-"

// Add adds a row. Numbers with a fraction have two decimals; NaN and nil are Absent. A list of cells stands for these.
func (t *Table) Add(cells ...any) { t.Rows = append(t.Rows, cellsOf(cells)) }

func cellsOf(all []any) (row []Cell) {
	for _, c := range all {
		switch c := c.(type) {
		case Cell:
			row = append(row, c)
		case []any:
			row = append(row, cellsOf(c)...)
		case float64:
			text := Absent
			if !math.IsNaN(c) {
				text = strconv.FormatFloat(c, 'f', 2, 64)
			}
			row = append(row, Cell{Text: text})
		case nil:
			row = append(row, Cell{Text: Absent})
		default:
			row = append(row, Cell{Text: fmt.Sprint(c)})
		}
	}
	return row
}

// lines are the head and the rows, without the optional columns that have no figures.
func (t *Table) lines() (columns []Column, lines [][]Cell) {
	lines = make([][]Cell, 1+len(t.Rows))
	for i, c := range t.Columns {
		known := func(row []Cell) bool { return i < len(row) && row[i].Text != Absent && row[i].Text != "" }
		if c.Optional && !slices.ContainsFunc(t.Rows, known) {
			continue
		}
		columns, lines[0] = append(columns, c), append(lines[0], Cell{Text: c.Name})
		for k, row := range t.Rows {
			if i < len(row) {
				lines[1+k] = append(lines[1+k], row[i])
			}
		}
	}
	if !slices.ContainsFunc(columns, func(c Column) bool { return c.Name != "" }) {
		lines = lines[1:]
	}
	return columns, lines
}

// String is the table as text that begins with an empty line, "" without rows.
func (t *Table) String() string {
	if len(t.Rows) == 0 {
		return ""
	}
	return t.Text(math.MaxInt, false)
}

// colours are those of marks on a terminal.
var colours = map[Mark]string{Good: "\x1b[32m", Slack: "\x1b[33m", Ratio: "\x1b[36m"}

// Text is the table as text that begins with an empty line. Where it is wider than so many columns it is parted between
// its own.
func (t *Table) Text(width int, coloured bool) string {
	columns, lines := t.lines()
	for _, line := range lines {
		for i := range line {
			line[i].Text = clean(line[i].Text)
			if i < len(line)-1 || len(line) == len(columns) {
				columns[i].Width = max(columns[i].Width, text.Width(line[i].Text))
			}
		}
	}
	var b strings.Builder
	if b.WriteByte('\n'); t.Title != "" {
		b.WriteString(text.Clean(t.Title) + "\n")
	}
	gap := cmp.Or(t.Gap, 2)
	for from, to := t.Keys, 0; to < len(columns); from = to {
		to = t.part(columns, from, width, gap)
		if from > t.Keys {
			b.WriteByte('\n')
		}
		for _, line := range lines {
			t.line(&b, columns, line, from, to, coloured)
		}
	}
	return b.String()
}

// part is the end of the columns from one on that fit into a width beside the keys; it is at least the next column.
func (t *Table) part(columns []Column, from, width, gap int) int {
	used, to := t.Indent, from
	for _, c := range columns[:t.Keys] {
		used += c.Width + gap
	}
	for ; to < len(columns) && (to == from || used+columns[to].Width <= width); to++ {
		used += columns[to].Width + gap
	}
	return to
}

// line writes the keys of a line and its columns from one to another.
func (t *Table) line(b *strings.Builder, columns []Column, cells []Cell, from, to int, coloured bool) {
	line, gap := strings.Repeat(" ", t.Indent), ""
	for i, c := range columns[:min(to, len(cells))] {
		if i >= t.Keys && i < from {
			continue
		}
		words, blanks := cells[i].Text, strings.Repeat(" ", max(0, c.Width-text.Width(cells[i].Text)))
		if colour := colours[cells[i].Mark]; coloured && colour != "" && words != "" {
			words = colour + words + "\x1b[0m"
		}
		if c.Align == Right {
			line += gap + blanks + words
		} else {
			line += gap + words + blanks
		}
		gap = strings.Repeat(" ", cmp.Or(t.Gap, 2))
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}

// clean is the text of a cell, fit for a line of a terminal; blanks in front of it indent it.
func clean(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, " "))] + text.Clean(s)
}

// Escape takes from a text what Markdown would read as more than text.
var Escape = strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "`", "\\`", "*", `\*`, "_", `\_`,
	"[", `\[`)

// Markdown is the table in Markdown, its texts escaped.
func (t *Table) Markdown(escape *strings.Replacer) string {
	columns, lines := t.lines()
	if len(lines) == len(t.Rows) { // Markdown has no table without a head
		lines = slices.Insert(lines, 0, make([]Cell, len(columns)))
	}
	var b strings.Builder
	for k, line := range lines {
		b.WriteByte('|')
		for _, c := range line {
			b.WriteString(" " + escape.Replace(text.Clean(c.Text)) + " |")
		}
		b.WriteByte('\n')
		if k > 0 {
			continue
		}
		b.WriteByte('|')
		for i, c := range columns {
			switch {
			case c.Align == Plain:
				b.WriteString(" --- |")
			case c.Align == Left || i < t.Keys:
				b.WriteString(" :-- |")
			default:
				b.WriteString(" --: |")
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// HTML is the table as an element of a page. Keys have the class "k", other cells that of their mark.
func (t *Table) HTML() string {
	_, lines := t.lines()
	var b strings.Builder
	b.WriteString("<table>")
	for k, line := range lines {
		tag := "td"
		if k == 0 && len(lines) > len(t.Rows) {
			tag = "th"
		}
		b.WriteString("<tr>")
		for i, c := range line {
			class := c.Mark
			if i < t.Keys {
				class = "k"
			}
			if class != "" {
				class = ` class="` + class + `"`
			}
			fmt.Fprintf(&b, "<%s%s>%s</%[1]s>", tag, class, html.EscapeString(text.Clean(c.Text)))
		}
		b.WriteString("</tr>\n")
	}
	return b.String() + "</table>"
}

// CSV is the table as CSV, behind columns with a name and a value each.
func (t *Table) CSV(before ...[2]string) string {
	var b strings.Builder
	out := csv.NewWriter(&b)
	_, lines := t.lines()
	for k, line := range lines {
		var row []string
		for _, c := range before {
			row = append(row, inert(c[min(k+len(t.Rows)+1-len(lines), 1)]))
		}
		for _, c := range line {
			row = append(row, inert(c.Text))
		}
		_ = out.Write(row) // a builder takes everything
	}
	out.Flush()
	return b.String()
}

// inert is the text of a cell of CSV, without what commands a terminal. One that a spreadsheet would run as a formula
// gets a quotation mark in front; numbers and single characters stay.
func inert(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !strings.ContainsRune("\t\r\n", r) {
			return -1
		}
		return r
	}, s)
	if _, err := strconv.ParseFloat(s, 64); err != nil && len(s) > 1 && strings.ContainsAny(s[:1], "=+-@\t\r\n") {
		return "'" + s
	}
	return s
}
