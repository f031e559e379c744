package tui

import (
	"strings"
	"time"

	"benchtop/metrics"
	"benchtop/tui/panels"
	"benchtop/tui/screen"
)

// writtenReport is the report's text at a width.
type writtenReport struct {
	of    *metrics.Report
	w     int
	lines []string
}

// reportLines are the lines of the report for so many columns, written when one of the two changes.
func (m *model) reportLines(w int) []string {
	r := m.latest.Report
	if r == nil || m.Report == nil || w <= 0 {
		return nil
	}
	if m.written.of != r || m.written.w != w {
		m.written = writtenReport{r, w, nil}
		for _, l := range m.cleanReport(w) {
			if screen.Width(l) > w && !strings.HasPrefix(l, " ") { // such as the conclusion; a plot is not wrapped
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
	for _, l := range strings.Split(strings.Trim(m.Report(m.latest.Report, w), "\n"), "\n") {
		out = append(out, screen.SanitizeSpaced(l))
	}
	return out
}

// undisturbed is how long ago the last key must be for the page to turn by itself.
const undisturbed = 2 * time.Second

// openReport shows the report when the run is over, unless the user chose another page or a panel, or pressed a key just before. The keys that stop
// the run do not count, since they ask for the report.
func (m *model) openReport() {
	looking := m.page != 0 || m.zoomed || m.focus != "" || m.frozen || m.helping || m.prompt != nil || m.until > 0
	if m.hasReport() && !looking && time.Duration(m.idle)*m.HeaderEvery >= undisturbed {
		m.turn(len(panels.Pages))
	}
}
