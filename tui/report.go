package tui

import (
	"encoding/base64"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

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
	return metrics.Each(strings.Split(strings.Trim(m.Report(m.latest.Report, w), "\n"), "\n"), screen.SanitizeSpaced)
}

// copyMost is how much text is copied: terminals refuse more than about 70 KB of it in base64.
const copyMost = 50_000

// reportColumns is how wide a report is written for the clipboard.
const reportColumns = 100

// copySummary puts the summary into the clipboard of the terminal, also over SSH (OSC 52). The terminal does not report
// whether it did.
func (m *model) copySummary() tea.Cmd {
	if m.aside == nil {
		m.notify("no terminal to copy with")
		return nil
	}
	text := m.summary()
	m.notify(fmt.Sprintf("copied %d lines, if the terminal allows it (OSC 52)", strings.Count(text, "\n")))
	return m.aside(clipboard(text))
}

// clipboard is the sequence that hands text to the terminal's clipboard.
func clipboard(text string) string {
	if len(text) > copyMost {
		text = strings.ToValidUTF8(text[:copyMost], "")
	}
	return "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\a"
}

// summary is the report once there is one, else the run so far in a few lines.
func (m *model) summary() string {
	if m.hasReport() {
		return strings.Join(m.cleanReport(reportColumns), "\n") + "\n"
	}
	return panels.Summary(m.latest)
}

// ring announces that the run is over: a bell, and a notification where the terminal shows some (OSC 9).
func (m *model) ring() tea.Cmd {
	if m.Quiet || m.rung || m.aside == nil {
		return nil
	}
	m.rung = true
	words := "benchtop: done"
	if a := panels.AnswerText(m.latest); a != "" {
		words += ", " + a
	}
	return m.aside("\a\x1b]9;" + words + "\a")
}
