package saturation_test

import (
	"math"
	"testing"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
	"benchtop/metrics/report"
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

// The wait for a slot of the client counts: a rate that a limit holds back is not within the objectives, in a search or without one. The
// figures of the run leave the wait out, as vLLM does.
func TestLevelsCountTheWaitForASlot(t *testing.T) {
	for _, search := range []bool{false, true} {
		plan := metrics.Plan{Rate: 10, Burstiness: 1, Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 200}, {Metric: metrics.TPOT, LimitMS: 20}, {Metric: metrics.E2EL, LimitMS: 500}}}
		if search {
			plan.Rate, plan.Find = 0, &metrics.Find{From: 1, Most: 100}
		}
		rec := live.NewView(time.Now(), &plan)
		all := make([]metrics.Request, 100)
		for i := range all {
			due := time.Duration(i) * 100 * time.Millisecond
			q := metrics.NewRequest(i)
			q.Scheduled, q.Due = due, due
			q.Admitted = due + 300*time.Millisecond
			q.Sent = q.Admitted
			q.Add(metrics.Chunk{At: q.Sent + 100*time.Millisecond, Tokens: 1})
			q.Add(metrics.Chunk{At: q.Sent + 110*time.Millisecond, Tokens: 1})
			q.OutputTokens, q.Done = 2, q.LastChunk
			all[i] = q
		}
		run := metrics.Run{Plan: plan, End: metrics.End{Ended: 11 * time.Second}}
		if search {
			run.Events = []metrics.LogEntry{{Set: &metrics.LoadSetting{Rate: 10, By: metrics.BySearch}}}
			eventtest.Tell(rec, run.Events[0])
		}
		again(rec, all, run.Ended)
		rec.JudgeAt(run.Ended)
		summary, err := report.Summarize(yield(all), run)
		if err != nil || len(summary.Levels) != 1 || summary.Good != 100 {
			t.Fatalf("%v: %d good, levels %+v", err, summary.Good, summary.Levels)
		}
		shown := rec.SnapshotAt(run.Ended)
		if summary.Answer.Within || shown.Answer.Within {
			t.Errorf("search %v: within in the report %v, live %v", search, summary.Answer.Within, shown.Answer.Within)
		}
		if summary.Levels[0].Good != 0 || shown.Levels[0].Good != 0 {
			t.Errorf("search %v: %d and %d good, want none", search, summary.Levels[0].Good, shown.Levels[0].Good)
		}
	}
}
