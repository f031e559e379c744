package tui

import "benchtop/metrics"

// latencyMetric is one of the latencies that the Latency page shows.
type latencyMetric struct {
	// name stands in titles and tables; short where there is little room. plan is the name that objectives and gates have
	// for it, "" for none.
	name, short, plan string
	// nothing is what to say while there are none.
	nothing string
	// of finds it in a window, run in a snapshot, picked in a selection.
	of     func(w *metrics.Window) *metrics.Histogram
	run    func(s *metrics.Snapshot) *metrics.Histogram
	picked func(p *selection) *metrics.Histogram
	// exact finds its figures in a report, saved its histogram there.
	exact func(r *metrics.Report) *metrics.Statistic
	saved func(r *metrics.Report) *metrics.Histogram
}

// Indices of latencyMetrics.
const (
	metricTTFT = iota
	metricAnswer
	metricTPOT
	metricITL
	metricE2EL
	metricHeld
	metricScheduled
)

// latencyMetrics are the latencies in the order in which the key goes through them.
var latencyMetrics = []latencyMetric{
	{"TTFT", "TTFT", metrics.TTFT, "no first token yet",
		func(w *metrics.Window) *metrics.Histogram { return &w.TTFT },
		func(s *metrics.Snapshot) *metrics.Histogram { return &s.TTFT },
		func(p *selection) *metrics.Histogram { return &p.ttft },
		func(r *metrics.Report) *metrics.Statistic { return &r.TTFT },
		func(r *metrics.Report) *metrics.Histogram { return &r.HistTTFT }},
	{"first answer token", "answer", "", "no answer token yet",
		func(w *metrics.Window) *metrics.Histogram { return &w.FirstAnswer },
		func(s *metrics.Snapshot) *metrics.Histogram { return &s.FirstAnswer },
		func(p *selection) *metrics.Histogram { return &p.more().answer },
		func(r *metrics.Report) *metrics.Statistic { return &r.FirstAnswer },
		func(r *metrics.Report) *metrics.Histogram { return &r.HistFirstAnswer }},
	{"TPOT", "TPOT", metrics.TPOT, "no request is done yet",
		func(w *metrics.Window) *metrics.Histogram { return &w.TPOT },
		func(s *metrics.Snapshot) *metrics.Histogram { return &s.TPOT },
		func(p *selection) *metrics.Histogram { return &p.tpot },
		func(r *metrics.Report) *metrics.Statistic { return &r.TPOT },
		func(r *metrics.Report) *metrics.Histogram { return &r.HistTPOT }},
	{"ITL", "ITL", metrics.ITL, "no second token yet",
		func(w *metrics.Window) *metrics.Histogram { return &w.ITL },
		func(s *metrics.Snapshot) *metrics.Histogram { return &s.ITL },
		func(p *selection) *metrics.Histogram { return &p.itl },
		func(r *metrics.Report) *metrics.Statistic { return &r.ITL },
		func(r *metrics.Report) *metrics.Histogram { return &r.HistITL }},
	{"E2EL", "E2EL", metrics.E2EL, "no request is done yet",
		func(w *metrics.Window) *metrics.Histogram { return &w.E2EL },
		func(s *metrics.Snapshot) *metrics.Histogram { return &s.E2EL },
		func(p *selection) *metrics.Histogram { return &p.e2el },
		func(r *metrics.Report) *metrics.Statistic { return &r.E2EL },
		func(r *metrics.Report) *metrics.Histogram { return &r.HistE2EL }},
	{"held time", "held", metrics.ClientQueue, "nothing sent yet",
		func(w *metrics.Window) *metrics.Histogram { return &w.HeldTime },
		func(s *metrics.Snapshot) *metrics.Histogram { return &s.ClientQueue },
		func(p *selection) *metrics.Histogram { return &p.more().held },
		func(r *metrics.Report) *metrics.Statistic { return &r.ClientQueue },
		func(r *metrics.Report) *metrics.Histogram { return &r.HistHeld }},
	{"scheduled latency", "sched", "", "no request is done yet",
		func(w *metrics.Window) *metrics.Histogram { return &w.Scheduled },
		func(s *metrics.Snapshot) *metrics.Histogram { return &s.Scheduled },
		func(p *selection) *metrics.Histogram { return &p.more().scheduled },
		func(r *metrics.Report) *metrics.Statistic { return &r.ScheduledLatency },
		func(r *metrics.Report) *metrics.Histogram { return &r.HistScheduled }},
}

// latencyMetric is the one that is chosen.
func (v *view) latencyMetric() *latencyMetric {
	return &latencyMetrics[min(max(v.metric, 0), len(latencyMetrics)-1)]
}
