package metrics_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
)

func TestEnoughGood(t *testing.T) {
	for _, c := range []struct {
		gates []metrics.Gate
		want  float64
		asked bool
	}{
		{nil, metrics.EnoughGood, false},
		{[]metrics.Gate{{Metric: "goodput", Op: "<", Limit: 0.9}}, 0.9, true},
		{[]metrics.Gate{{Metric: "goodput", Op: "<", Limit: 0.5}, {Metric: "goodput", Op: "<=", Limit: 0.8}}, 0.8, true},
		{[]metrics.Gate{{Metric: "goodput", Op: "<", Limit: 0}}, 0, true},
		{[]metrics.Gate{{Metric: "goodput", Op: ">", Limit: 0.5}, {Metric: "request_goodput", Op: "<", Limit: 0.8}}, metrics.EnoughGood, false},
		{[]metrics.Gate{{Metric: "goodput", Op: "<", Limit: math.NaN()}, {Metric: "goodput", Op: "<", Limit: 7}}, metrics.EnoughGood, false},
	} {
		p := metrics.Plan{Gates: c.gates}
		if got, asked := p.EnoughGood(); got != c.want || asked != c.asked {
			t.Errorf("%v: %g, %v; want %g, %v", c.gates, got, asked, c.want, c.asked)
		}
		if !p.Enough(1) || !p.Enough(c.want+1e-9) || c.want > 0 && p.Enough(c.want-1e-9) {
			t.Errorf("%v: levels do not go by it", c.gates)
		}
	}
}

func TestParseObjective(t *testing.T) {
	var slo metrics.SLO
	for _, text := range []string{"ttft:500", "e2el: 3000.5", "ttft:250"} {
		o, err := metrics.ParseObjective(text)
		if err != nil {
			t.Fatal(err)
		}
		slo = slo.With(o)
	}
	if got := slo.String(); got != "ttft:250 e2el:3000.5" {
		t.Errorf("objectives %q", got)
	}
	for _, text := range []string{"ttft", "itl:5", "nonsense:5", "ttft:-1", "ttft:NaN", "tpot:x"} {
		if o, err := metrics.ParseObjective(text); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v, %v", text, o, err)
		}
	}
	if metrics.SLO(nil).Chosen() == nil || len(slo.Chosen()) != 2 {
		t.Error("a chosen SLO is nil, or another")
	}
}

// Objectives that were set during the run replace the counts of the timeline.
func TestSetObjectives(t *testing.T) {
	all := eventtest.DrawRun(5, 300)
	plan := metrics.Plan{Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 700}}, Warmup: 4 * time.Second}
	other := metrics.SLO{{Metric: metrics.TTFT, LimitMS: 400}, {Metric: metrics.TPOT, LimitMS: 50}, {Metric: metrics.E2EL, LimitMS: 3000}}
	want := plan
	want.Goodput = other
	rec, straight := live.NewView(time.Now(), &plan), live.NewView(time.Now(), &want)
	eventtest.Play(rec, all)
	eventtest.Play(straight, all)
	eventtest.Tell(rec, metrics.LogEntry{Objectives: &other})
	a, b := rec.SnapshotAt(time.Hour), straight.SnapshotAt(time.Hour)
	if !cmp.Equal(a.Totals, b.Totals, cmpopts.IgnoreFields(metrics.Counts{}, "PlannedGood")) || a.Totals.Good == 0 || a.Totals.Good == a.Totals.PlannedGood {
		t.Errorf("%+v, want %+v", a.Totals, b.Totals)
	}
	for i := range b.Windows {
		if a.Windows[i].MetCount != b.Windows[i].MetCount {
			t.Errorf("second %d: %+v, want %+v", i, a.Windows[i].MetCount, b.Windows[i].MetCount)
		}
	}
}

// The ratio of an outcome to its objectives is at most 1 exactly where all are met.
func TestRatio(t *testing.T) {
	outcome := metrics.OutcomeOf(200*time.Millisecond, 1200*time.Millisecond, 11, metrics.OtherObjectives{})
	for _, c := range []struct {
		ttft, tpot, want float64
	}{{400, 1000, .5}, {400, 125, .8}, {100, 1000, 2}, {100, 25, 4}, {200, 100, 1}, {0, 100, math.Inf(1)}, {math.Nextafter(200, 0), 1000, math.Nextafter(1, 2)}} {
		slo := metrics.SLO{{Metric: metrics.TTFT, LimitMS: c.ttft}, {Metric: metrics.TPOT, LimitMS: c.tpot}}
		got := slo.Ratio(&outcome)
		if got != c.want || (got <= 1) != slo.Judge(&outcome).Good() {
			t.Errorf("%v: %v, want %v", slo, got, c.want)
		}
	}
}
