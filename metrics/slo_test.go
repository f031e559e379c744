package metrics_test

import (
	"math"
	"strings"
	"testing"
	"time"

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
	if a.Totals != b.Totals || a.Totals.Good == 0 || a.Totals.Good == a.PlannedGood {
		t.Errorf("%+v, want %+v", a.Totals, b.Totals)
	}
	for i := range b.Windows {
		if a.Windows[i].MetCount != b.Windows[i].MetCount {
			t.Errorf("second %d: %+v, want %+v", i, a.Windows[i].MetCount, b.Windows[i].MetCount)
		}
	}
}
