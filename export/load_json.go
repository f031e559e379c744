package export

import (
	"math"
	"strings"
	"time"

	"benchtop/metrics"
)

func stage(s *metrics.Stage) any {
	o := object{{"start_s", s.Start.Seconds()}, {"length_s", s.Length.Seconds()}}
	if s.Users > 0 {
		return append(o, field{"users", s.Users})
	}
	return append(o, field{"rate_rps", s.Rate})
}

func ramp(r *metrics.Ramp) any {
	if r == nil {
		return nil
	}
	return object{
		{"strategy", r.Strategy}, {"from_rps", r.From}, {"to_rps", r.To},
		{"over_s", orNull(r.Over.Seconds())}, // null: over the number of requests
		{"over_requests", orNull(r.Requests)},
	}
}

// objectives in force at the end with the share of successes that met each; null where there were no successes.
func objectives(r *metrics.Report) list {
	return each(r.Objectives, func(o *metrics.Objective) any {
		var share any
		for _, m := range r.Met {
			if m.Objective.Metric == o.Metric && r.Completed > 0 {
				share = m.Share
			}
		}
		return object{{"metric", o.Metric.Key()}, {"limit_ms", limit(o.LimitMS)}, {"share", share}}
	})
}

func unit(isUsers bool) string {
	if isUsers {
		return "users"
	}
	return "req/s"
}

// level writes null for latencies that no request had.
func level(r *metrics.Report, l *metrics.LoadLevel) object {
	var completed any
	if l.Requests > 0 {
		completed = l.Completed
	}
	return object{
		{"from_s", l.From.Seconds()}, {"to_s", l.To.Seconds()}, {"offered", l.Offered}, {"unit", unit(l.Users)},
		{"requests", l.Requests}, {"good", good(r, l.Good)}, {"done_rps", l.Done},
		{r.Plan.FirstWait().Key() + "_p50_ms", orNull(l.TTFTp50)}, {r.Plan.FirstWait().Key() + "_p99_ms", orNull(l.TTFTp99)}, {"itl_p99_ms", orNull(l.ITLp99)},
		{"wait_p99_ms", orNull(l.WaitP99)}, {"completed_share", completed}, {"standing", orNull(string(l.Standing))},
		{"client_limited", orNull(strings.Join(l.Limited, "; "))},
	}
}

func answer(r *metrics.Report) object {
	a := &r.Answer
	var at, saturatedAt, before, after, highest, sure any
	s := saturationOf(r)
	if s != nil {
		before, after, saturatedAt = level(r, s.before), level(r, s.after), atSeconds(a.SaturatedAt)
		if load, close := a.At(); close {
			at = load
		}
	}
	if a.Within {
		highest, sure = a.Highest, said(a.Sure)
	}
	return object{
		{"bends", s != nil}, {"at", at}, {"bent_at_s", saturatedAt}, {"unit", unit(a.Users)}, {"before", before}, {"after", after},
		{"highest_within_slo", highest}, {"sure", sure}, {"why", orNull(a.Why)}, {"text", Answer(*r)},
	}
}

// gate writes null for a value that is not known. A share is one of 1, as in the limit.
func gate(g *metrics.GateResult) any {
	var value any
	if g.Known {
		value = g.Value
	}
	return object{{"text", g.Gate.String()}, {"value", value}, {"missed", g.Missed}}
}

// steadyState has vLLM's keys for it.
func steadyState(s *metrics.SteadyState) any {
	if s == nil {
		return nil
	}
	percentile := func(p float64) any {
		v, ok := s.TPOT.Percentile(p)
		if !ok || s.TPOT.N == 0 {
			return nil
		}
		return v
	}
	known := func(st metrics.Statistic, v float64) any {
		if st.N == 0 {
			return nil
		}
		return v
	}
	var requests any // nil where none completed: the window is too short to tell
	if s.Completed > 0 {
		requests = s.RequestThroughput
	}
	return object{
		{"window", object{
			{"start_s", s.Start.Seconds()}, {"end_s", s.End.Seconds()}, {"duration_s", (s.End - s.Start).Seconds()},
			{"target_concurrency", s.Target}, {"threshold", s.Threshold}, {"threshold_abs", s.ThresholdAbs},
			{"observed_peak", s.Peak}, {"requests_started_in_window", s.Started},
			{"requests_completed_in_window", s.Completed}, {"requests_total", s.Total}, {"warning", orNull(s.Warning)},
		}},
		{"request_throughput", requests},
		{"input_throughput", s.InputThroughput},
		{"output_throughput", s.OutputThroughput},
		{"total_token_throughput", s.TotalThroughput},
		{"mean_ttft_ms", known(s.TTFT, s.TTFT.Mean)},
		{"median_ttft_ms", known(s.TTFT, s.TTFT.Median)},
		{"percentiles_ttft_ms", each(s.TTFT.Percentiles, func(p *metrics.Percentile) any {
			return []float64{p.P, p.Value}
		})},
		{"mean_tpot_ms", known(s.TPOT, s.TPOT.Mean)},
		{"median_tpot_ms", known(s.TPOT, s.TPOT.Median)},
		{"p90_tpot_ms", percentile(90)},
		{"p99_tpot_ms", percentile(99)},
	}
}

// setting is a load that was set; null for an event that set none.
func setting(s *metrics.LoadSetting) any {
	if s == nil {
		return nil
	}
	return object{
		{"rate_rps", orNull(s.Rate)}, {"users", orNull(s.Users)}, {"paused", s.Paused},
		{"ramp_to", orNull(s.RampTo)}, {"ramp_over_s", orNull(s.RampOver.Seconds())}, {"by", orNull(s.By)},
	}
}

// changed are the objectives in force from an event on; null where they stayed.
func changed(slo *metrics.SLO) any {
	if slo == nil {
		return nil
	}
	return each(*slo, func(o *metrics.Objective) any {
		return object{{"metric", o.Metric.Key()}, {"limit_ms", limit(o.LimitMS)}}
	})
}

// limit writes one that is no number, as a damaged journal may have it, as null.
func limit(v float64) any {
	if math.IsNaN(v) {
		return nil
	}
	return v
}

// find is how the highest load within the objectives was searched for; null for a run that did not.
func find(f *metrics.Find) any {
	if f == nil {
		return nil
	}
	return object{
		{"from", limit(f.From)}, {"most", limit(f.Most)}, {"unit", unit(f.Users)},
		{"step_s", f.Step.Seconds()}, {"hold_s", f.Hold.Seconds()},
	}
}

// split says where the time until the first chunk went, in milliseconds.
func split(s *metrics.TTFTSplit) object {
	mean := func(d time.Duration) any {
		if s.N == 0 || d < 0 {
			return nil
		}
		return milliseconds(d)
	}
	return object{
		{"n", s.N},
		{"held_ms", mean(s.SlotWait)}, {"connect_ms", mean(s.Connect)}, {"ttft_ms", mean(s.TTFT)},
		{"queue_ms", mean(s.Queue)}, {"prefill_ms", mean(s.Prefill)}, {"rest_ms", mean(s.Rest)},
		{"source", orNull(string(s.Source))},
	}
}
