package panels

import (
	"fmt"
	"strings"

	"benchtop/internal/findings"
	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// reportPanel is the report of a run that is over, as text.
var reportPanel = Panel{name: "report", title: reportTitle, draw: drawReport,
	empty: func(v *View) bool { return len(v.Text) == 0 }, nothing: "nothing to report"}

func reportTitle(v *View, _, h int) []screen.Span {
	out := []screen.Span{screen.Strong.Span("report")}
	if more := len(v.Text) - v.Scroll - (h - 2); more > 0 {
		out = append(out, screen.Label.Span(fmt.Sprintf(" %d more lines below", more)))
	}
	return out
}

func drawReport(c screen.Canvas, v *View) {
	for y := range c.H {
		if i := v.Scroll + y; i >= 0 && i < len(v.Text) {
			c.Print(0, y, v.Text[i], screen.Text)
		}
	}
}

// Summary is a run so far in a few lines of text.
func Summary(s *metrics.Snapshot) string {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	put("benchtop %s", strings.Join(planParts(s.Plan), between))
	state := "so far"
	if s.State == metrics.Finished {
		state = "in all"
	}
	users := s.Totals.OfUsers(s.Plan)
	if users != "" {
		users += ", "
	}
	put("%s %s: %d requests done, %d failed, %s%d in flight, %d queued", number.Clock(s.At), state,
		s.Totals.Completed, s.Totals.Failed, users, s.Waiting+s.Running, s.Held)
	kind, tokens := s.Plan.Tokens()
	put("%s req/s, %s %s tokens/s", number.Rate(recent(s, finished)), number.Rate(recent(s, tokens)), kind)
	if text := (&View{Snapshot: s}).rtfxText(); text != "" {
		put("RTFx %s", text)
	}
	for _, l := range []metrics.Latency{metrics.TTFT, metrics.TPOT, metrics.ITL, metrics.E2EL} {
		if h := &s.Histograms[l]; h.Count() > 0 {
			put("%s p50 %s, p90 %s, p99 %s", l.Naming().Title, number.Latency(h.Quantile(0.5)),
				number.Latency(h.Quantile(0.9)), number.Latency(h.Quantile(0.99)))
		}
	}
	if a := AnswerText(s); a != "" {
		put("%s", a)
	}
	if s.SavePath != "" {
		put("result: %s", screen.Sanitize(s.SavePath))
	}
	return b.String()
}

// AnswerText is the verdict so far in one line; "" where there is none.
func AnswerText(s *metrics.Snapshot) string {
	var parts []string
	v := &View{Snapshot: s}
	for _, f := range v.findings() {
		if f.ID == findings.Within || f.ID == findings.Saturation && v.tells(&f) {
			parts = append(parts, f.Long)
		}
	}
	return strings.Join(parts, "; ")
}
