package export

import (
	"math"
	"time"

	"benchtop/metrics"
)

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
