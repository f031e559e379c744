// Package page writes the report of runs as one HTML page, which needs neither a network nor other files. It draws what
// export and findings say, and computes no figures but those of the seconds of its charts.
//
// Foreign text (model names, URLs, error texts, labels) is cleaned, cut and escaped.
package page

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"strings"
	"time"

	"benchtop/export"
	"benchtop/export/charts"
	"benchtop/internal/findings"
	"benchtop/internal/table"
	"benchtop/internal/text"
	"benchtop/metrics"
)

var (
	//go:embed page.css
	style string
	//go:embed page.js
	script string
)

// Run is a run on the page.
type Run struct {
	// Name is that of its file: foreign text.
	Name   string
	Report *metrics.Report
	// Repeat is the command that does it again; "" for unknown.
	Repeat string
}

// Bounds of what the page shows of one run.
const (
	mostText = 300 // characters of a foreign text
	mostRows = 200 // of a table
)

// Write writes the page. Runs stand one below the other, behind a table of the main figures of each and their charts
// over each other where they are several. The error is that of w.
func Write(w io.Writer, runs ...Run) error { return WriteCompared(w, nil, runs...) }

// WriteCompared writes the page with the tables of a comparison of the runs before the first one.
func WriteCompared(w io.Writer, compared []*table.Table, runs ...Run) error {
	p := &writer{}
	title := "benchtop"
	if len(runs) == 1 {
		title = words(runs[0].Report.Plan.ModelID) + " - benchtop"
	}
	p.open(title)
	if len(runs) > 1 {
		p.element("h1", "", text.Count(len(runs), "run"))
		p.table(export.RunTable(metrics.Each(runs, func(r Run) string { return words(r.Name) }),
			metrics.Each(runs, func(r Run) *metrics.Report { return r.Report })))
		for _, t := range compared {
			p.table(t)
		}
		p.overlay(runs)
	}
	for i := range runs {
		p.run(&runs[i], i, len(runs) > 1)
	}
	return p.close(w)
}

// Part is a table on a page of tables, below the name of its group, with its picture; nil for none.
type Part struct {
	Group   string
	Table   *table.Table
	Picture *charts.Figure
}

// Tables writes a page of tables, such as a comparison. The error is that of w.
func Tables(w io.Writer, title, note string, parts []Part) error {
	p := &writer{}
	p.open(words(title) + " - benchtop")
	p.element("h1", "", title)
	if note != "" {
		p.rawf("<p>%s</p>\n", html.EscapeString(text.Clean(note)))
	}
	group := ""
	for i := range parts {
		of := &parts[i]
		if of.Group != group && of.Group != "" {
			p.element("h1", "group", of.Group)
		}
		group = of.Group
		p.table(of.Table)
		if of.Picture != nil {
			p.raw("<div class=\"picture\">")
			_ = of.Picture.Drawing(3).SVG(&p.out) // a builder takes everything
			p.raw("</div>\n")
		}
	}
	return p.close(w)
}

// open begins the page.
func (p *writer) open(title string) {
	p.raw("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">" +
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">" +
		"<meta name=\"color-scheme\" content=\"light dark\">")
	p.element("title", "", title)
	p.raw("<style>" + style + "</style></head><body>\n")
}

// close ends the page and writes it.
func (p *writer) close(w io.Writer) error {
	p.raw("<script>" + script + "</script></body></html>\n")
	_, err := io.WriteString(w, p.out.String())
	return err
}

// writer collects the page.
type writer struct{ out strings.Builder }

// raw writes markup.
func (p *writer) raw(markup string) { p.out.WriteString(markup) }

// rawf writes markup with figures in it.
func (p *writer) rawf(format string, args ...any) { fmt.Fprintf(&p.out, format, args...) }

// element writes a text, which may be foreign, as an element.
func (p *writer) element(name, class, content string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	p.rawf("<%s%s>%s</%[1]s>\n", name, class, html.EscapeString(words(content)))
}

// words is foreign text, cleaned and cut.
func words(s string) string { return text.Clip(text.Clean(s), mostText) }

// run writes a run: its verdict, its charts, its tables, and how to repeat it.
func (p *writer) run(of *Run, i int, named bool) {
	r := of.Report
	p.rawf("<article id=\"run%d\">\n", i+1)
	if named {
		p.element("h1", "", of.Name)
	}
	p.verdict(r)
	p.charts(r)
	p.levels(r)
	for _, t := range export.Tables(*r) {
		p.table(t)
	}
	if said := export.RemarkLines(*r); len(said) > 0 {
		p.section("Remarks")
		for _, s := range said {
			p.rawf("<p>%s</p>\n", html.EscapeString(text.Clip(text.Clean(s), 4*mostText)))
		}
		p.raw("</section>\n")
	}
	if of.Repeat != "" {
		p.section("Repeat it")
		p.rawf("<pre>%s</pre></section>\n", html.EscapeString(text.Clean(of.Repeat)))
	}
	p.element("footer", "", "benchtop "+r.Plan.Version)
	p.raw("</article>\n")
}

func (p *writer) section(title string) {
	p.raw("<section>")
	p.element("h2", "", title)
}

// severities are the classes of findings.
var severities = map[findings.Severity]string{
	findings.Note: "note", findings.Good: "good", findings.Open: "open", findings.Bad: "bad",
}

// verdict writes the card of a run.
func (p *writer) verdict(r *metrics.Report) {
	conclusion, class := conclusionOf(r)
	p.rawf("<header class=\"%s\">", class)
	p.element("h1", "", conclusion)
	all := findings.OfReport(r).Findings()
	p.raw("<ul>")
	for i := range all {
		p.element("li", severities[all[i].Severity], all[i].Long)
	}
	if len(all) == 0 {
		p.element("li", "note", export.Answer(*r))
	}
	p.raw("</ul><dl>")
	plan := &r.Plan
	fact := func(name, value string) {
		if value != "" {
			p.element("dt", "", name)
			p.element("dd", "", value)
		}
	}
	fact("model", plan.ModelID)
	fact("server", plan.Address())
	fact("load", plan.Load)
	fact("objectives, ms", r.Objectives.String())
	fact("prompts", plan.Dataset)
	fact("started", plan.Started.Format("2006-01-02 15:04:05 MST"))
	fact("duration", metrics.Duration(r.Ended.Round(time.Second/10)))
	fact("client", export.ClientState(*r))
	fact("label", plan.Label)
	for _, m := range plan.Metadata[:min(len(plan.Metadata), 20)] {
		fact(m.Key, m.Value)
	}
	p.raw("</dl></header>\n")
}

// conclusionOf is the conclusion in words, and its class.
func conclusionOf(r *metrics.Report) (said, class string) {
	switch {
	case r.Conclusion == metrics.GateMissed:
		return "Gate missed", "bad"
	case r.Conclusion == metrics.RunFailed:
		if r.Trouble != "" {
			return "Failed: " + r.Trouble, "bad"
		}
		return "Failed", "bad"
	}
	words, severity := findings.Done(r)
	if r.Interrupted != nil && r.Interrupted.Reason != "" {
		words += ": " + r.Interrupted.Reason
	}
	return words, severities[severity]
}

// table writes a table; the last rows of a long one are left out.
func (p *writer) table(t *table.Table) {
	if len(t.Rows) == 0 {
		return
	}
	small := ""
	if len(t.Columns) == 2 {
		small = " class=\"small\""
	}
	p.rawf("<section%s>", small)
	if title := strings.TrimSpace(t.Title); title != "" {
		p.element("h2", "", title)
	}
	part, notes := *t, []string{}
	part.Rows = nil
	for part.Keys < len(t.Columns) && t.Columns[part.Keys].Align == table.Left {
		part.Keys++
	}
	for _, row := range t.Rows[:min(len(t.Rows), mostRows)] {
		if len(row) == 1 { // a sentence about the others
			notes = append(notes, row[0].Text)
		} else {
			part.Rows = append(part.Rows, row)
		}
	}
	if left := len(t.Rows) - mostRows; left > 0 {
		notes = append(notes, fmt.Sprintf("and %d more", left))
	}
	if len(part.Rows) > 0 {
		p.raw("<div class=\"wide\">" + part.HTML() + "</div>")
	}
	for _, s := range notes {
		p.element("p", "", s)
	}
	p.raw("</section>\n")
}
