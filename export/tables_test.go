package export

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/table"
	"benchtop/metrics"
)

func TestTables(t *testing.T) {
	r := reportOfEverything()
	r.Objectives = metrics.SLO{{Metric: metrics.TTFT, LimitMS: 100}}
	r.Plan.Tiers = nil
	r.Levels = []metrics.LoadLevel{
		{Offered: 8, Sent: 7.5, TTFTp99: 250, LevelVerdict: metrics.LevelVerdict{Requests: 10, Good: 9,
			Standing: metrics.LevelMissed, Confidence: 0.5}},
		{Offered: 4, LevelVerdict: metrics.LevelVerdict{Standing: metrics.LevelUnknown, Why: "too short"}},
		{Offered: 2, Limited: []string{"late"}, LevelVerdict: metrics.LevelVerdict{Standing: metrics.LevelLimited}},
	}
	r.Failures = []metrics.FailureCount{{Kind: metrics.FailedStatus, Status: 503, Count: 4,
		Examples: []string{"busy", "down"}}}
	r.Gates = []metrics.GateResult{{Gate: metrics.Gate{Metric: "failed", Op: ">", Limit: 1}, Value: 4, Known: true,
		Missed: true}}
	all := map[string]*table.Table{}
	for _, x := range Tables(r) {
		all[x.Title] = x
	}
	row := func(title string, i int) string {
		if all[title] == nil || len(all[title].Rows) <= i {
			t.Fatalf("no row %d of %q", i, title)
		}
		return fmt.Sprint(all[title].Rows[i])
	}
	for _, c := range []struct {
		title string
		row   int
		want  []string
	}{
		{"Loads, latencies in ms", 0, []string{"{8 req/s }", "{7.50 }", "{250.00 }", "{90 % }",
			"{50 % }", "{missed bad}"}},
		{"Loads, latencies in ms", 1, []string{"{4 req/s }", "{- }", "{unknown: too short }"}},
		{"Loads, latencies in ms", 2, []string{"{limited: late }"}},
		{"Failures", 0, []string{"HTTP 503", "{busy | down }", "{4 }"}},
		{"Gates (the run fails if one is met)", 0, []string{"{4 }", "{FAILED bad}"}},
		{"Totals", 0, []string{"{Successful requests }", fmt.Sprintf("{%d }", r.Completed)}},
	} {
		for _, want := range c.want {
			if got := row(c.title, c.row); !strings.Contains(got, want) {
				t.Errorf("%s, row %d: %s lacks %s", c.title, c.row, got, want)
			}
		}
	}
}

// The lines are the paragraphs of the remarks, without the lists that are tables.
func TestRemarkLines(t *testing.T) {
	r := reportOfEverything()
	r.Failures = []metrics.FailureCount{{Kind: metrics.FailedStatus, Status: 503, Count: 4}}
	lines := RemarkLines(r)
	text := strings.Join(strings.Fields(Remarks(r)), " ")
	long := func(s string) bool { return len(s) > textWidth }
	if len(lines) < 3 || !slices.ContainsFunc(lines, long) || !strings.Contains(text, "Failures:") {
		t.Fatalf("%d lines of %q", len(lines), text)
	}
	for _, s := range lines {
		if !strings.Contains(text, strings.Join(strings.Fields(s), " ")) || strings.HasPrefix(s, "Failures:") {
			t.Errorf("%q is none of the remarks", s)
		}
	}
}
