package export

import "benchtop/metrics"

// gpus is null in a run without a look at the accelerators.
func gpus(r *metrics.Report) any {
	g := r.GPUs
	if g == nil {
		return nil
	}
	return object{
		{"absent", orNull(g.Absent)}, {"names", each(g.Names, func(name *string) any { return orNull(*name) })}, {"looks", len(g.Seconds)},
		{"use_mean", said(g.UseMean)}, {"power_told_by", g.Powered}, {"power_mean_w", said(g.PowerMean)}, {"energy_j", said(g.Energy)},
		{"energy_over_s", orNull(g.LookedAt.Seconds())},
		{"joules_per_output_token", said(g.JoulesPerToken)},
		{"price_per_hour", orNull(r.Plan.GPUPrice)}, {"cost_per_million_output_tokens", said(g.CostPerMillion)},
		{"memory_most_bytes", counted(g.MemoryMost)}, {"temperature_most_c", said(g.TemperatureMost)},
	}
}

// gpuGauges are what each accelerator did in one second of the timeline; null where nobody looked.
func gpuGauges(s *metrics.GPUSecond) any {
	if s == nil {
		return nil
	}
	return each(s.GPUs, func(g *metrics.GPU) any {
		return object{
			{"index", g.Index}, {"use", said(g.Use)}, {"memory_bytes", counted(g.MemoryUsed)}, {"power_w", said(g.Power)},
			{"temperature_c", said(g.Temperature)}, {"clock_mhz", said(g.Clock)},
		}
	})
}
