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
	plan.Goodput = metrics.SLO{{Metric: "ttft", LimitMS: 500}, {Metric: "tpot", LimitMS: 40}}
	plan.Gates = []metrics.Gate{
		{Metric: "goodput", Op: "<", Limit: 0.9, Percent: true}, {Metric: "p99_ttft_ms", Op: ">", Limit: 2000},
	}
	plan.Load = "stages 16, 32, 48, 64, 80 req/s"
	plan.Warmup = 10 * time.Second
	s.Marks = []metrics.Event{{At: plan.Warmup, Mark: "warm-up over"}}
	for i := range 5 {
		stage := metrics.Stage{Start: time.Duration(i) * 15 * time.Second, Length: 15 * time.Second, Rate: float64(16 * (i + 1))}
		plan.Stages = append(plan.Stages, stage)
		if i > 0 {
			s.Marks = append(s.Marks, metrics.Event{At: stage.Start, Mark: fmt.Sprintf("stage %d", i+1)})
		}
	}
	s.Plan = &plan
	s.Windows = append([]metrics.Window(nil), s.Windows...)
	t := &s.Totals
	t.Good, t.MetTTFT, t.MetTPOT, t.MetE2EL = 0, 0, 0, 0
	for i := range s.Windows {
		w := &s.Windows[i]
		w.MetTTFT, w.MetTPOT, w.MetE2EL = w.Done, w.Done*49/50, w.Done
		if i > 45 {
			w.MetTTFT = w.Done / 2
		}
		w.Good = min(w.MetTTFT, w.MetTPOT)
		t.Good, t.MetTTFT = t.Good+w.Good, t.MetTTFT+w.MetTTFT
		t.MetTPOT, t.MetE2EL = t.MetTPOT+w.MetTPOT, t.MetE2EL+w.MetE2EL
	}
	return s
}
