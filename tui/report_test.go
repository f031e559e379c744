package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/muesli/termenv"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/tui/panels"
	"benchtop/tui/tuitest"
)

// withReport is a dashboard that can write a report.
func withReport(s metrics.Snapshot, w, h int) *model {
	m := open(s, w, h, termenv.Ascii)
	m.Report = reportOf60
	return m
}

// reportOf60 is a report of sixty lines.
func reportOf60(r *metrics.Report, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "==== %d of %d columns \x1b[2J\u202e\n", r.Completed, width)
	for i := range 60 {
		fmt.Fprintf(&b, "line  %d\n", i)
	}
	return b.String()
}

func TestReportPage(t *testing.T) {
	m := withReport(tuitest.Mid(), 100, 30)
	if strings.Contains(m.View(), "Report") {
		t.Fatal("a report before the end")
	}
	press(m, "7")
	assert.Need(t, m.page, 0, "7 turned to a page that is not there")
	m.Update(snapshotMsg{tuitest.Done()})
	if got := lastLine(m); m.page != 0 || !strings.HasPrefix(got, "7 report") {
		t.Fatalf("page %d, no hint in %q", m.page, got)
	}
	press(m, "7")
	got := m.View()
	for _, want := range []string{"[7 Report]", "of 98 columns", "line  0", "more lines below", "q quit"} {
		if !strings.Contains(got, want) {
			t.Fatalf("no %q in\n%s", want, got)
		}
	}
	press(m, "G")
	if got := m.View(); !strings.Contains(got, "line  59") || strings.Contains(got, "more below") {
		t.Errorf("after G:\n%s", got)
	}
	press(m, "k", "pgup", "g")
	assert.Has(t, m.View(), "line  0")
	press(m, "1", "shift+tab")
	assert.Equal(t, m.pageNow().Name, "Report", "before the first page comes")
}

// The conclusion is longer than a narrow screen is wide; its end is about whose figures they are.
func TestReportWraps(t *testing.T) {
	const answer = "within SLO up to 34 req/s; saturates at ~37 req/s (p99 TTFT 0.41 -> 2.10 s); client OVERLOADED " +
		"(p99 send delay 24ms)"
	m := open(tuitest.Done(), 80, 24, termenv.Ascii)
	m.Report = func(*metrics.Report, int) string { return answer + "\n\n=== figures\n" }
	m.turn(len(panels.Pages))
	m.show()
	if got := m.View(); !strings.Contains(got, "saturates at") || !strings.Contains(got, "24ms)") {
		t.Errorf("the answer is cut:\n%s", got)
	}
}
