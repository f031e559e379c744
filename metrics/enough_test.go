package metrics

import (
	"math"
	"testing"
	"time"
)

func TestEnoughGood(t *testing.T) {
	for _, c := range []struct {
		gates []Gate
		want  float64
		asked bool
	}{
		{nil, EnoughGood, false},
		{[]Gate{{Metric: "goodput", Op: "<", Limit: 0.9}}, 0.9, true},
		{[]Gate{{Metric: "goodput", Op: "<", Limit: 0.5}, {Metric: "goodput", Op: "<=", Limit: 0.8}}, 0.8, true},
		{[]Gate{{Metric: "goodput", Op: "<", Limit: 0}}, 0, true},
		{[]Gate{{Metric: "goodput", Op: ">", Limit: 0.5}, {Metric: "request_goodput", Op: "<", Limit: 0.8}}, EnoughGood, false},
		{[]Gate{{Metric: "goodput", Op: "<", Limit: math.NaN()}, {Metric: "goodput", Op: "<", Limit: 7}}, EnoughGood, false},
	} {
		p := Plan{Gates: c.gates}
		if got, asked := p.EnoughGood(); got != c.want || asked != c.asked {
			t.Errorf("%v: %g, %v; want %g, %v", c.gates, got, asked, c.want, c.asked)
		}
		l := levels{plan: &p}
		if !l.enough(1) || !l.enough(c.want+1e-9) || c.want > 0 && l.enough(c.want-1e-9) {
			t.Errorf("%v: levels do not go by it", c.gates)
		}
	}
}

// Users feel their wait for a slot of the client: a rate that a limit holds back is not within the objectives, in a search or without
// one. The run's own figures know no wait, as vLLM's.
func TestLevelsCountTheWaitForASlot(t *testing.T) {
	for _, search := range []bool{false, true} {
		plan := Plan{Rate: 10, Burstiness: 1, Goodput: SLO{{TTFT, 200}, {TPOT, 20}, {E2EL, 500}}}
		if search {
			plan.Rate, plan.Find = 0, &Find{From: 1, Most: 100}
		}
		rec := NewRecorder(time.Now(), &plan)
		all := make([]Request, 100)
		for i := range all {
			due := time.Duration(i) * 100 * time.Millisecond
			q := NewRequest(i)
			q.Scheduled, q.Due = due, due
			q.Admitted = due + 300*time.Millisecond
			q.Sent = q.Admitted
			q.Add(Chunk{At: q.Sent + 100*time.Millisecond, Tokens: 1})
			q.Add(Chunk{At: q.Sent + 110*time.Millisecond, Tokens: 1})
			q.OutputTokens, q.Done = 2, q.LastChunk
			all[i] = q
		}
		run := Run{Plan: plan, Ended: 11 * time.Second}
		if search {
			run.Events = []LogEntry{{Set: &LoadSetting{Rate: 10, By: BySearch}}}
			rec.Log(run.Events[0])
		}
		again(rec, all, run.Ended)
		rec.JudgeAt(run.Ended)
		report, err := Summarize(yield(all), run)
		if err != nil || len(report.Levels) != 1 || report.Good != 100 {
			t.Fatalf("%v: %d good, levels %+v", err, report.Good, report.Levels)
		}
		live := rec.SnapshotAt(run.Ended)
		if report.Answer.Within || live.Answer.Within {
			t.Errorf("search %v: within in the report %v, live %v", search, report.Answer.Within, live.Answer.Within)
		}
		if report.Levels[0].Good != 0 || live.Levels[0].Good != 0 {
			t.Errorf("search %v: %d and %d good, want none", search, report.Levels[0].Good, live.Levels[0].Good)
		}
	}
}
