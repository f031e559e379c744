package tui

import (
	"fmt"
	"strings"
	"time"

	"benchtop/metrics"
	"benchtop/tui/screen"
)

// reportPanel is the report of a run that is over, as text.
var reportPanel = panel{"report", reportTitle, drawReport}

func reportTitle(v *view, _, h int) []screen.Span {
	out := []screen.Span{screen.Strong.Span("report")}
	if more := len(v.text) - v.scroll - (h - 2); more > 0 {
		out = append(out, screen.Label.Span(fmt.Sprintf(" %d lines more below", more)))
	}
	return out
}

func drawReport(c screen.Canvas, v *view) {
	if len(v.text) == 0 {
		c.Center("nothing to report", screen.Label)
		return
	}
	for y := range c.H {
		if i := v.scroll + y; i >= 0 && i < len(v.text) {
			c.Print(0, y, v.text[i], screen.Text)
		}
	}
}

// writtenReport is the report's text at a width.
type writtenReport struct {
	of    *metrics.Report
	w     int
	lines []string
}

// reportLines are the lines of the report for so many columns, written when one of the two changes.
func (m *model) reportLines(w int) []string {
	r := m.latest.Report
	if r == nil || m.report == nil || w <= 0 {
		return nil
	}
	if m.written.of != r || m.written.w != w {
		m.written = writtenReport{r, w, nil}
		for _, l := range m.cleanReport(w) {
			if screen.Width(l) > w && !strings.HasPrefix(l, " ") { // such as the answer; a plot has no words
				m.written.lines = append(m.written.lines, screen.Wrap(l, w, 4)...)
				continue
			}
			m.written.lines = append(m.written.lines, l)
		}
	}
	return m.written.lines
}

// cleanReport writes the report.
func (m *model) cleanReport(w int) []string {
	var out []string
	for _, l := range strings.Split(strings.Trim(m.report(m.latest.Report, w), "\n"), "\n") {
		out = append(out, screen.SanitizeSpaced(l))
	}
	return out
}

// undisturbed is how long ago the last key must be for the screen to turn by itself.
const undisturbed = 2 * time.Second

// openReport shows the report when the run is over. Who looks at something in particular, or is pressing keys, keeps what is
// on the screen: nothing jumps away under a hand. Wishes to stop do not count, since the report is what they ask for.
func (m *model) openReport() {
	looking := m.page != 0 || m.zoomed || m.focus != "" || m.frozen || m.helping || m.prompt != nil || m.until > 0
	if m.hasReport() && !looking && time.Duration(m.idle)*m.headerEvery >= undisturbed {
		m.turn(len(pages))
	}
}
