package export

import (
	"math"
	"slices"

	"benchtop/metrics"
)

// probeFigures are latencies of the probes that completed, in milliseconds.
type probeFigures struct{ median, p99, most float64 }

// probesOf computes the figures as vLLM does: in seconds first, percentiles by linear interpolation. There are none
// without a probe that completed.
func probesOf(p *metrics.Probes) (f probeFigures, ok bool) {
	if p == nil || len(p.Latencies) == 0 {
		return f, false
	}
	seconds := make([]float64, len(p.Latencies))
	for i, d := range p.Latencies {
		seconds[i] = d.Seconds()
	}
	slices.Sort(seconds)
	n := len(seconds)
	return probeFigures{
		median: (seconds[(n-1)/2] + seconds[n/2]) / 2 * 1000,
		p99:    interpolate(seconds, .99) * 1000,
		most:   seconds[n-1] * 1000,
	}, true
}

// interpolate is numpy's percentile of sorted values, q from 0 to 1.
func interpolate(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	k := int(math.Floor(at))
	if k >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	low, high, share := sorted[k], sorted[k+1], at-float64(k)
	if share >= 0.5 { // from the nearer end, as numpy does
		return high - (high-low)*(1-share)
	}
	return low + (high-low)*share
}

func probeKeys(r *metrics.Report) object {
	f, ok := probesOf(r.Probes)
	if !ok {
		return nil
	}
	return object{
		{"probe_completed", r.Probes.Completed},
		{"probe_failed", r.Probes.Failed},
		{"probe_median_e2el_ms", f.median},
		{"probe_p99_e2el_ms", f.p99},
		{"probe_max_e2el_ms", f.most},
	}
}

// probeObject is there whenever the run had probes, whatever became of them.
func probeObject(p *metrics.Probes) any {
	if p == nil {
		return nil
	}
	f, ok := probesOf(p)
	ms := func(v float64) any {
		if !ok {
			return nil
		}
		return v
	}
	return object{
		{"completed", p.Completed}, {"failed", p.Failed},
		{"median_ms", ms(f.median)}, {"p99_ms", ms(f.p99)}, {"max_ms", ms(f.most)},
	}
}

func (t textReport) probes(r *metrics.Report) {
	f, ok := probesOf(r.Probes)
	if !ok {
		return
	}
	t.heading("Probe Requests", '-')
	t.int("Probe requests completed:", r.Probes.Completed)
	t.int("Probe requests failed:", r.Probes.Failed)
	t.float("Median probe E2EL (ms):", f.median)
	t.float("P99 probe E2EL (ms):", f.p99)
	t.float("Max probe E2EL (ms):", f.most)
}
