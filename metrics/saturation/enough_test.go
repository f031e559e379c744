package saturation_test

import (
	"testing"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
	"benchtop/metrics/report"
)

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
		eventtest.Again(rec, all, run.Ended)
		rec.JudgeAt(run.Ended)
		summary, err := report.Summarize(eventtest.Each(all), run)
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
