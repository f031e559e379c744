package export

import (
	"math"
	"strings"
	"time"

	"benchtop/metrics"
)

func stage(s *metrics.Stage) object {
	o := object{{"start_s", s.Start.Seconds()}, {"length_s", s.Length.Seconds()}}
	if s.Users > 0 {
		return append(o, field{"users", s.Users})
	}
	return append(o, field{"rate_rps", s.Rate})
}

func ramp(r *metrics.Ramp) object {
	return object{
		{"strategy", r.Strategy}, {"from_rps", r.From}, {"to_rps", r.To},
		{"over_s", orNull(r.Over.Seconds())}, // null: over the number of requests
		{"over_requests", orNull(r.Requests)},
	}
}

// objectives are those in force at the end, with the share of successes that met each of them, null without successes.
func objectives(r *metrics.Report) list {
	return each(r.Objectives, func(o *metrics.Objective) object {
		var share any
		for _, m := range r.Met {
			if m.Objective.Metric == o.Metric {
				share = when(r.Completed > 0, m.Share)
			}
		}
		return object{{"metric", o.Metric.Key()}, {"limit_ms", limitOrNull(o.LimitMS)}, {"share", share}}
	})
}

func unit(isUsers bool) string {
	if isUsers {
		return "users"
	}
	return "req/s"
}

// level writes null for a latency without samples.
func level(r *metrics.Report, l *metrics.LoadLevel) object {
	wait := r.Plan.FirstWait().Key()
	return object{
		{"from_s", l.From.Seconds()}, {"to_s", l.To.Seconds()}, {"offered", l.Offered}, {"unit", unit(l.Users)},
		{"requests", l.Requests}, {"good", goodOrNull(r, l.Good)}, {"done_rps", l.Done},
		{wait + "_p50_ms", orNull(l.TTFTp50)}, {wait + "_p99_ms", orNull(l.TTFTp99)}, {"itl_p99_ms", orNull(l.ITLp99)},
		{"wait_p99_ms", orNull(l.WaitP99)}, {"completed_share", when(l.Requests > 0, l.Completed)}, {"standing", orNull(string(l.Standing))},
		{"client_limited", orNull(strings.Join(l.Limited, "; "))},
	}
}

func answer(r *metrics.Report) object {
	a := &r.Answer
	var at, saturatedAt, before, after any
	s := saturationOf(r)
	if s != nil {
		load, close := a.At()
		at, before, after, saturatedAt = when(close, load), level(r, s.before), level(r, s.after), atSeconds(a.SaturatedAt)
	}
	return object{
		{"bends", s != nil}, {"at", at}, {"bent_at_s", saturatedAt}, {"unit", unit(a.Users)}, {"before", before}, {"after", after},
		{"highest_within_slo", when(a.Within, a.Highest)}, {"sure", when(a.Within, finiteOrNull(a.Confidence))}, {"why", orNull(a.Why)}, {"text", Answer(*r)},
	}
}

// gate writes null for an unknown value. Shares are fractions of 1, as in the limit.
func gate(g *metrics.GateResult) object {
	return object{{"text", g.Gate.String()}, {"value", when(g.Known, g.Value)}, {"missed", g.Missed}}
}

// steadyState has the keys of vLLM.
func steadyState(s *metrics.SteadyState) object {
	ttft := func(ms float64) any { return when(s.TTFT.N != 0, ms) }
	tpot := func(ms float64) any { return when(s.TPOT.N != 0, ms) }
	percentile := func(p float64) any {
		v, ok := s.TPOT.Percentile(p)
		return when(ok, tpot(v))
	}
	return object{
		{"window", object{
			{"start_s", s.Start.Seconds()}, {"end_s", s.End.Seconds()}, {"duration_s", (s.End - s.Start).Seconds()},
			{"target_concurrency", s.Target}, {"threshold", s.Threshold}, {"threshold_abs", s.ThresholdAbs},
			{"observed_peak", s.Peak}, {"requests_started_in_window", s.Started},
			{"requests_completed_in_window", s.Completed}, {"requests_total", s.Total}, {"warning", orNull(s.Warning)},
		}},
		{"request_throughput", when(s.Completed > 0, s.RequestThroughput)}, // too short a window has no rate
		{"input_throughput", s.InputThroughput},
		{"output_throughput", s.OutputThroughput},
		{"total_token_throughput", s.TotalThroughput},
		{"mean_ttft_ms", ttft(s.TTFT.Mean)},
		{"median_ttft_ms", ttft(s.TTFT.Median)},
		{"percentiles_ttft_ms", each(s.TTFT.Percentiles, func(p *metrics.Percentile) []float64 { return []float64{p.P, p.Value} })},
		{"mean_tpot_ms", tpot(s.TPOT.Mean)},
		{"median_tpot_ms", tpot(s.TPOT.Median)},
		{"p90_tpot_ms", percentile(90)},
		{"p99_tpot_ms", percentile(99)},
	}
}

func loadSetting(s *metrics.LoadSetting) object {
	return object{
		{"rate_rps", orNull(s.Rate)}, {"users", orNull(s.Users)}, {"paused", s.Paused},
		{"ramp_to", orNull(s.RampTo)}, {"ramp_over_s", orNull(s.RampOver.Seconds())}, {"by", orNull(s.By)},
	}
}

// objectiveChange is the list of objectives in force from an event on.
func objectiveChange(slo *metrics.SLO) list {
	return each(*slo, func(o *metrics.Objective) object {
		return object{{"metric", o.Metric.Key()}, {"limit_ms", limitOrNull(o.LimitMS)}}
	})
}

// limitOrNull writes NaN, as in a damaged journal, as null.
func limitOrNull(v float64) any { return when(!math.IsNaN(v), v) }

// find is the setup of a search for the highest load.
func find(f *metrics.Find) object {
	return object{
		{"from", limitOrNull(f.From)}, {"most", limitOrNull(f.Most)}, {"unit", unit(f.Users)},
		{"step_s", f.Step.Seconds()}, {"hold_s", f.Hold.Seconds()},
	}
}

// split is the time to the first chunk by its parts, in milliseconds.
func split(s *metrics.TTFTSplit) object {
	mean := func(d time.Duration) any { return when(s.N != 0 && d >= 0, milliseconds(d)) }
	return object{
		{"n", s.N},
		{"held_ms", mean(s.SlotWait)}, {"connect_ms", mean(s.Connect)}, {"ttft_ms", mean(s.TTFT)},
		{"queue_ms", mean(s.Queue)}, {"prefill_ms", mean(s.Prefill)}, {"rest_ms", mean(s.Rest)},
		{"source", orNull(string(s.Source))},
	}
}
