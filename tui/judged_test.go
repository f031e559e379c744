package tui

import (
	"fmt"
	"time"

	"benchtop/metrics"
)

// judge gives a snapshot objectives, gates, stages with their marks and a warm-up, and successes that keep the objectives
// ever less often.
func judge(s metrics.Snapshot) metrics.Snapshot {
	plan := *s.Plan
	plan.Goodput = metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}, {Metric: metrics.TPOT, LimitMS: 40}}
	plan.Gates = []metrics.Gate{
		{Metric: "goodput", Op: "<", Limit: 0.9, Percent: true}, {Metric: "p99_ttft_ms", Op: ">", Limit: 2000},
	}
	plan.Load = "stages 16, 32, 48, 64, 80 req/s"
	plan.Warmup = 10 * time.Second
	s.Marks = nil
	if s.At >= plan.Warmup {
		s.Marks = append(s.Marks, metrics.LogEntry{At: plan.Warmup, Mark: "warm-up over"})
	}
	for i := range 5 {
		const length = 15 * time.Second
		stage := metrics.Stage{Start: time.Duration(i) * length, Length: length, Rate: float64(16 * (i + 1))}
		plan.Stages = append(plan.Stages, stage)
		if i > 0 && s.At >= stage.Start {
			s.Marks = append(s.Marks, metrics.LogEntry{At: stage.Start, Mark: fmt.Sprintf("stage %d", i+1)})
		}
	}
	s.Plan = &plan
	s.Windows = append([]metrics.Window(nil), s.Windows...)
	t := &s.Totals
	t.Good, t.Met[metrics.TTFT], t.Met[metrics.TPOT], t.Met[metrics.E2EL] = 0, 0, 0, 0
	for i := range s.Windows {
		w := &s.Windows[i]
		w.Met[metrics.TTFT], w.Met[metrics.TPOT], w.Met[metrics.E2EL] = w.Done, w.Done*49/50, w.Done
		if i > 45 {
			w.Met[metrics.TTFT] = w.Done / 2
		}
		w.Good = min(w.Met[metrics.TTFT], w.Met[metrics.TPOT])
		t.Good, t.Met[metrics.TTFT] = t.Good+w.Good, t.Met[metrics.TTFT]+w.Met[metrics.TTFT]
		t.Met[metrics.TPOT], t.Met[metrics.E2EL] = t.Met[metrics.TPOT]+w.Met[metrics.TPOT], t.Met[metrics.E2EL]+w.Met[metrics.E2EL]
	}
	if s.At < plan.Warmup { // all of it was warm-up
		t.WarmedUp = t.Done + t.Failed + t.Cancelled
		*t = metrics.Totals{Due: t.Due, Sent: t.Sent, WarmedUp: t.WarmedUp}
		s.Histograms[metrics.TTFT], s.Histograms[metrics.TPOT], s.Histograms[metrics.ITL], s.Histograms[metrics.E2EL] = metrics.Histogram{}, metrics.Histogram{}, metrics.Histogram{}, metrics.Histogram{}
	}
	if s.Report != nil {
		r := *s.Report
		r.Plan = plan
		good := float64(t.Good) / float64(t.Done+t.Failed)
		r.Gates = []metrics.GateResult{
			{Gate: plan.Gates[0], Value: good, Known: true, Missed: good < 0.9},
			{Gate: plan.Gates[1], Value: 1566.4, Known: true},
		}
		s.Report = &r
	}
	return s
}
