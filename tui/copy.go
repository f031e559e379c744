package tui

import (
	"encoding/base64"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// copyMost is how much text is copied: terminals refuse more than about 70 KB of it in base64.
const copyMost = 50_000

// reportColumns is how wide a report is written for the clipboard.
const reportColumns = 100

// copySummary puts the summary into the clipboard of whoever sits before the terminal, also over SSH (OSC 52). Whether the
// terminal obeys nobody learns.
func copySummary(m *model, _ string) tea.Cmd {
	if m.aside == nil {
		m.say("there is no terminal to copy with")
		return nil
	}
	text := m.summary()
	m.say(fmt.Sprintf("copied %d lines, if the terminal allows it (OSC 52)", strings.Count(text, "\n")))
	return m.aside(clipboard(text))
}

// clipboard is the sequence that hands text to the terminal's clipboard.
func clipboard(text string) string {
	if len(text) > copyMost {
		text = strings.ToValidUTF8(text[:copyMost], "")
	}
	return "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\a"
}

// summary is what is worth taking along: the report once there is one, else the run so far in a few lines.
func (m *model) summary() string {
	s := m.latest
	if m.hasReport() {
		return strings.Join(m.cleanReport(reportColumns), "\n") + "\n"
	}
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	put("benchtop %s", strings.Join(planParts(s.Plan), between))
	state := "so far"
	if s.State == metrics.Finished {
		state = "in all"
	}
	put("%s %s: %d requests done, %d failed, %d in flight, %d held", number.Clock(s.At), state, s.Totals.Done, s.Totals.Failed,
		s.Waiting+s.Running, s.Held)
	kind, tokens := "output", outputTokens
	if s.Pooling() {
		kind, tokens = "input", inputTokens
	}
	put("%s req/s, %s %s tokens/s", number.Rate(recent(s, finished)), number.Rate(recent(s, tokens)), kind)
	for _, l := range []metrics.Latency{metrics.TTFT, metrics.TPOT, metrics.ITL, metrics.E2EL} {
		if h := &s.Histograms[l]; h.Count() > 0 {
			put("%s p50 %s, p90 %s, p99 %s", l.Naming().Title, number.Latency(h.Quantile(0.5)), number.Latency(h.Quantile(0.9)), number.Latency(h.Quantile(0.99)))
		}
	}
	if a := answerText(s.Answer); a != "" {
		put("%s", a)
	}
	if s.SavePath != "" {
		put("result: %s", screen.Sanitize(s.SavePath))
	}
	return b.String()
}

// answerText is the answer so far in one line; "" where there is none.
func answerText(a *metrics.Answer) string {
	if a == nil {
		return ""
	}
	var parts []string
	if a.Within {
		parts = append(parts, "within SLO up to "+loadName(a.Highest, a.Users))
	}
	if a.Saturates {
		parts = append(parts, saturationName(a))
	}
	return strings.Join(parts, "; ")
}

// ring tells whoever looks elsewhere that the run is over: a bell, and a notification where the terminal shows some (OSC 9).
func (m *model) ring() tea.Cmd {
	if m.quiet || m.rung || m.aside == nil {
		return nil
	}
	m.rung = true
	words := "benchtop: done"
	if a := answerText(m.latest.Answer); a != "" {
		words += ", " + a
	}
	return m.aside("\a\x1b]9;" + words + "\a")
}
