package panels

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/screen"
)

// finishedSeconds is a run of 100 seconds with two requests done in each, one of them good, and a failure in the last
// ten.
func finishedSeconds(plan *metrics.Plan) metrics.Snapshot {
	s := metrics.Snapshot{At: 100 * time.Second, Plan: plan, State: metrics.Running, DrainBy: metrics.Never}
	for i := range 100 {
		w := &metrics.Window{Start: time.Duration(i) * time.Second,
			Counts: metrics.Counts{Completed: 2, MetCount: metrics.MetCount{Good: 1,
				Met: metrics.MetObjectives{metrics.TTFT: 1, metrics.TPOT: 2, metrics.E2EL: 2}}}}
		s.Totals.Completed, s.Totals.Good, s.Totals.Met[metrics.TTFT] = s.Totals.Completed+2, s.Totals.Good+1,
			s.Totals.Met[metrics.TTFT]+1
		s.Totals.Met[metrics.TPOT], s.Totals.Met[metrics.E2EL] = s.Totals.Met[metrics.TPOT]+2,
			s.Totals.Met[metrics.E2EL]+2
		if i >= 90 {
			w.Failed = 2
			s.Totals.Failed += 2
		}
		s.Windows = append(s.Windows, w)
	}
	return s
}

func lines(rows []sloRow) []string {
	return metrics.Each(rows, func(r sloRow) string {
		return strings.TrimSpace(r.name + " " + r.value + " " + []string{"", "ok", "FAILED"}[r.verdict])
	})
}

func TestSLORows(t *testing.T) {
	plan := &metrics.Plan{
		Goodput: metrics.SLO{
			{Metric: metrics.TTFT, LimitMS: 500}, {Metric: metrics.E2EL, LimitMS: 15_000},
			{Metric: metrics.ITL, LimitMS: 1},
		},
		Gates: []metrics.Gate{
			{Metric: "goodput", Op: "<", Limit: 0.4, Percent: true}, {Metric: "error_rate", Op: ">", Limit: 0.05},
			{Metric: "completed", Op: "<", Limit: 1000}, {Metric: "p99_ttft_ms", Op: ">", Limit: 500},
		},
	}
	s := finishedSeconds(plan)
	// Failures count as bad for all objectives together, and not at all for a single one.
	for _, c := range []struct {
		name string
		v    View
		want []string
	}{
		{"whole run", View{Whole: true, Span: 20 * time.Second},
			[]string{"goodput 45.4% ok", "TTFT≤500ms 50.0% ok", "E2EL≤15s 100.0% ok"}},
		{"last 20 s", View{Span: 20 * time.Second},
			[]string{"goodput 33.3% FAILED", "TTFT≤500ms 50.0% ok", "E2EL≤15s 100.0% ok"}},
		{"ascii", View{Terminal: screen.Terminal{ASCII: true}},
			[]string{"goodput 45.4% ok", "TTFT<=500ms 50.0% ok", "E2EL<=15s 100.0% ok"}},
	} {
		c.v.Snapshot = &s
		want := append(c.want,
			"goodput < 40% 45.45% ok", "error_rate > 0.05 0.09091 FAILED", "completed < 1000 200",
			"p99_ttft_ms > 500 –")
		assert.Same(t, c.name, lines(c.v.sloRows()), want)
	}
	assert.Equal(t, sloLines(&s), 7, "lines")
	s.Report = &metrics.Report{Gates: []metrics.GateResult{{Gate: plan.Gates[3], Missed: true}}}
	if got := lines((&View{Snapshot: &s}).sloRows()); got[len(got)-1] != "p99_ttft_ms > 500 – FAILED" {
		t.Errorf("at the end: %q", got)
	}
}

// Without a gate on it, goodput has the target that the report's answer has.
func TestTarget(t *testing.T) {
	for _, c := range []struct {
		gates []metrics.Gate
		want  float64
		own   bool
	}{
		{nil, 0.95, false},
		{[]metrics.Gate{{Metric: "goodput", Op: "<", Limit: 0.9}}, 0.9, true},
		{[]metrics.Gate{{Metric: "goodput", Op: "<", Limit: 0.5}, {Metric: "goodput", Op: "<=", Limit: 0.8}}, 0.8,
			true},
		{[]metrics.Gate{{Metric: "goodput", Op: ">", Limit: 0.5}, {Metric: "request_goodput", Op: "<", Limit: 0.8}},
			0.95, false},
		{[]metrics.Gate{{Metric: "goodput", Op: "<", Limit: math.NaN()}}, 0.95, false},
	} {
		v := &View{Snapshot: &metrics.Snapshot{Plan: &metrics.Plan{Gates: c.gates}}}
		if got, own := v.target(); got != c.want || own != c.own {
			t.Errorf("%v: %g, %v; want %g, %v", c.gates, got, own, c.want, c.own)
		}
	}
	s := finishedSeconds(&metrics.Plan{Goodput: metrics.SLO{{Metric: metrics.TPOT, LimitMS: 50}}})
	want := []string{"goodput 45.4% FAILED", "TPOT≤50ms 100.0% ok"}
	if diff := cmp.Diff(want, lines((&View{Snapshot: &s}).sloRows())); diff != "" {
		t.Error(diff)
	}
	assert.Has(t, sloPanel.View(&s, 50, 6), "SLO whole run  n 200 · target 95%")
	s.Totals = metrics.Counts{}
	want = []string{"goodput –", "TPOT≤50ms –"}
	if diff := cmp.Diff(want, lines((&View{Snapshot: &s, Whole: true}).sloRows())); diff != "" {
		t.Error(diff)
	}
}

func TestMostTelling(t *testing.T) {
	rows := []sloRow{
		{name: "goodput", gauge: true, verdict: fine},
		{name: "a", gauge: true, verdict: fine}, {name: "b", gauge: true, verdict: missed},
		{name: "g1", verdict: fine}, {name: "g2", verdict: missed}, {name: "g3", verdict: fine},
	}
	for _, c := range []struct {
		n    int
		want string
	}{
		{6, "goodput a b g1 g2 g3"}, {5, "goodput a b gates ok"}, {4, "goodput a b gates ok"},
		{3, "goodput b gates ok"},
		{2, "goodput b"}, {1, "goodput"}, {0, ""},
	} {
		got := metrics.Each(keptSLORows(rows, c.n), func(r sloRow) string { return r.name })
		if strings.Join(got, " ") != c.want {
			t.Errorf("%d rows: %q, want %q", c.n, got, c.want)
		}
	}
	joined := keptSLORows(rows, 5)
	if last := joined[len(joined)-1]; last.value != "2/3" || last.verdict != missed {
		t.Errorf("the gates together: %+v", last)
	}
}

func TestPercent(t *testing.T) {
	for in, want := range map[float64]string{
		0: "0.0%", 0.0004: "<0.1%", 0.29: "29.0%", 0.8999: "89.9%", 0.931: "93.1%", 0.9999: "99.9%", 1: "100.0%",
		math.Inf(1): "999.0%",
	} {
		assert.Equal(t, percent(in), want, "%g", in)
	}
	assert.Equal(t, percent(math.NaN()), "0.0%", "NaN")
}

func TestLimits(t *testing.T) {
	plan := &metrics.Plan{
		Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}, {Metric: metrics.TPOT, LimitMS: 40}},
		Gates: []metrics.Gate{
			{Metric: "p99_ttft_ms", Op: ">", Limit: 500}, {Metric: "median_ttft_ms", Op: ">=", Limit: 200.5},
			{Metric: "std_ttft_ms", Op: ">", Limit: 7}, {Metric: "mean_itl_ms", Op: ">", Limit: 45},
			{Metric: "p90_ttft_ms", Op: "<", Limit: 1}, {Metric: "p10_ttft_ms", Op: ">", Limit: math.NaN()},
		},
	}
	for metric, want := range map[string][]chart.Limit{
		"ttft": {{Name: "SLO 500ms", At: 500 * time.Millisecond},
			{Name: "p50 gate 200.5ms", At: 200_500 * time.Microsecond}},
		"itl":  {{Name: "mean gate 45ms", At: 45 * time.Millisecond}},
		"e2el": nil,
	} {
		assert.EqualAll(t, (&View{Snapshot: &metrics.Snapshot{Plan: plan}}).limits(metric), want, "%s", metric)
	}
	if (&View{Snapshot: &metrics.Snapshot{}}).limits("ttft") != nil {
		t.Error("limits without a plan")
	}
}
