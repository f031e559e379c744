package metrics

import (
	"math"
	"slices"
	"time"
)

// GatedPercentiles are the percentiles of a latency that gates name.
func GatedPercentiles(gates []Gate, latency Latency) []float64 {
	var all []float64
	for _, g := range gates {
		if f, ok := parseFigure(g.Metric); ok && f.statistic == "p" && f.latency == latency && !slices.Contains(all, f.p) {
			all = append(all, f.p)
		}
	}
	return all
}

// CheckGates is what the run made of the plan's gates. A figure of which there is no sample is missed: nobody can
// say that it was kept.
func (r *Report) CheckGates() (all []GateResult) {
	for _, g := range r.Plan.Gates {
		v, known := r.figure(g.Metric)
		all = append(all, GateResult{Gate: g, Value: v, Known: known, Missed: !known || g.Missed(v)})
	}
	return all
}

// figure is the value of a gate's metric; false where nothing was measured that could give one.
func (r *Report) figure(metric string) (value float64, known bool) {
	f, ok := parseFigure(metric)
	finished := r.Completed + r.Failed
	timed := finished > 0 && r.Duration > 0
	switch {
	case !ok:
		return 0, false
	case f.number == "":
		s := &r.Statistics[f.latency]
		return s.figure(f), s.N > 0
	case f.number == gateGoodput:
		return Share(r.gatedGood(), finished), finished > 0 && len(r.Plan.Goodput) > 0
	case f.number == gateErrorRate:
		return Share(r.Failed, finished), finished > 0
	case f.number == gateRequestGoodput:
		return PerSecond(float64(r.gatedGood()), r.Duration), timed && len(r.Plan.Goodput) > 0
	case f.number == gateRequests:
		return r.RequestThroughput, timed
	case f.number == gateOutput:
		return r.OutputThroughput, timed
	case f.number == gateTokens:
		return r.TotalThroughput, timed
	case f.number == gateConcurrent:
		return float64(r.PeakConcurrency), r.Completed > 0
	case f.number == gateCompleted:
		return float64(r.Completed), true
	}
	return float64(r.Failed), true
}

// gatedGood are the good requests by the plan's own objectives: what was set later cannot make a gate pass.
func (r *Report) gatedGood() int {
	if r.Objectives == nil || slices.Equal(r.Objectives, r.Plan.Goodput) {
		return r.Good
	}
	return r.PlannedGood
}

func (s *Snapshot) gatedGood() int {
	if s.Objectives == nil || slices.Equal(s.Objectives, s.Plan.Goodput) {
		return s.Totals.Good
	}
	return s.PlannedGood
}

func (s *Statistic) figure(f figure) float64 {
	switch f.statistic {
	case "mean":
		return s.Mean
	case "median":
		return s.Median
	case "std":
		return s.Std
	case "min":
		return s.Min
	case "max":
		return s.Max
	}
	ms, _ := s.Percentile(f.p)
	return ms
}

// CheckGates judges the run so far: all of it but the warm-up, latencies from the histograms. What is not known yet is not
// missed yet, and neither are too few completed requests while the run is on. Once the run is over, the report's word
// counts.
func (s *Snapshot) CheckGates() []GateResult {
	if s.Report != nil {
		return s.Report.Gates
	}
	if s.Plan == nil {
		return nil
	}
	var all []GateResult
	for _, g := range s.Plan.Gates {
		v, known := s.figure(g.Metric)
		grows := g.Metric == gateCompleted && (g.Op == "<" || g.Op == "<=")
		all = append(all, GateResult{Gate: g, Value: v, Known: known, Missed: known && !grows && g.Missed(v)})
	}
	return all
}

func (s *Snapshot) figure(metric string) (value float64, known bool) {
	f, ok := parseFigure(metric)
	t := &s.Totals
	finished := t.Done + t.Failed
	seconds := (s.At - s.Plan.Warmup).Seconds()
	rate := func(n int) (float64, bool) { return PerSecond(float64(n), seconds), finished > 0 && seconds > 0 }
	switch {
	case !ok:
		return 0, false
	case f.number == "":
		h := &s.Histograms[f.latency]
		return h.figure(f), h.n > 0
	case f.number == gateGoodput:
		return Share(s.gatedGood(), finished), finished > 0 && len(s.Plan.Goodput) > 0
	case f.number == gateErrorRate:
		return Share(t.Failed, finished), finished > 0
	case f.number == gateRequestGoodput:
		v, known := rate(s.gatedGood())
		return v, known && len(s.Plan.Goodput) > 0
	case f.number == gateRequests:
		return rate(t.Done)
	case f.number == gateOutput:
		return rate(t.OutputTokens)
	case f.number == gateTokens:
		return rate(t.InputTokens + t.OutputTokens)
	case f.number == gateConcurrent:
		return float64(s.touched()), t.Done > 0
	case f.number == gateCompleted:
		return float64(t.Done), true
	}
	return float64(t.Failed), true
}

// touched is the largest number of requests that were in flight at any time of one second. The report counts only
// successes, and its seconds begin with the first of them.
func (s *Snapshot) touched() int {
	most, before := 0, 0
	for i := range s.Windows {
		w := &s.Windows[i]
		if w.Start+time.Second > s.Plan.Warmup {
			most = max(most, before+w.Sent)
		}
		before = w.Waiting + w.Running
	}
	return most
}

// figure estimates a statistic in milliseconds.
func (h *Histogram) figure(f figure) float64 {
	switch f.statistic {
	case "mean":
		return Milliseconds(h.Mean())
	case "median":
		return Milliseconds(h.Quantile(0.5))
	case "std":
		return h.deviation()
	case "min":
		return Milliseconds(h.Quantile(0))
	case "max":
		return Milliseconds(h.Quantile(1))
	}
	return Milliseconds(h.Quantile(f.p / 100))
}

// deviation estimates the standard deviation in milliseconds; every value is taken to lie in the middle of its bucket.
func (h *Histogram) deviation() float64 {
	if h.n == 0 {
		return 0
	}
	mean := float64(h.sum) / float64(h.n)
	var squares float64
	for b := range h.Buckets() {
		d := float64(b.From)/2 + float64(b.To)/2 - mean
		squares += d * d * float64(b.Count)
	}
	return math.Sqrt(squares/float64(h.n)) / float64(time.Millisecond)
}

func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Share is a part of a whole, 0 of nothing.
func Share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
