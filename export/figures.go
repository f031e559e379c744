package export

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"benchtop/internal/table"
	"benchtop/metrics"
)

// Formats are those of [Write], by the endings of their files.
var Formats = []string{"csv", "md"}

// Write writes the figures of a report in one of the Formats.
func Write(w io.Writer, r metrics.Report, format string) error {
	page, err := figuresMarkdown(&r), error(nil)
	if format == "csv" {
		page, err = figuresCSV(&r)
	}
	_, problem := io.WriteString(w, page)
	return errors.Join(err, problem)
}

// figuresCSV is a line for each key of the result that has a single value, as KEY,VALUE; an empty value is none.
func figuresCSV(r *metrics.Report) (string, error) {
	t := table.List("", "figure", "value")
	for _, f := range append(vllmResult(r), rustKeys(r)...) {
		switch v := f.Value.(type) {
		case nil:
			t.Add(f.Name, "")
		case string:
			t.Add(f.Name, v)
		case list, object:
		default:
			var b strings.Builder
			if err := writePython(&b, v); err != nil {
				return "", err
			}
			t.Add(f.Name, b.String())
		}
	}
	return t.CSV(), nil
}

// markdown escapes text between the bars of a table.
var markdown = strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "\\`", "*", `\*`, "_", `\_`)

// figuresMarkdown is the headline, with the figures of the run and its latencies in tables.
func figuresMarkdown(r *metrics.Report) string {
	whole := table.List("", "", "")
	whole.Columns[1].Align = table.Right
	t := textReport{new(strings.Builder)}
	t.totals(r)
	for line := range strings.Lines(t.w.String()) {
		name, value, _ := strings.Cut(line, ":")
		whole.Add(name, strings.TrimSpace(value))
	}
	latencies := table.New("", "ms", "mean", "p50")
	for _, p := range r.Plan.Percentiles {
		latencies.Columns = append(latencies.Columns, table.Column{Name: "p" + pythonNumber(p)})
	}
	for _, l := range selected(r) {
		s := &r.Statistics[l]
		row := []any{l.Naming().Label, known(*s), percentileOf(s, 50)}
		for _, p := range r.Plan.Percentiles {
			row = append(row, percentileOf(s, p))
		}
		latencies.Add(row...)
	}
	return fmt.Sprintf("**%s**\n\n%s\n%s", markdown.Replace(Answer(*r)), whole.Markdown(markdown),
		latencies.Markdown(markdown))
}
