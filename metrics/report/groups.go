package report

import "benchtop/metrics"

// groupSamples hold the exact latencies of the groups of a report.
type groupSamples map[*metrics.Group]*[metrics.NumObjectives]metrics.Sample

// add takes the latencies of a request that ended in some groups, nil for none.
func (s groupSamples) add(q *metrics.Request, o *metrics.Outcome, groups []*metrics.Group) {
	for _, g := range groups {
		if g == nil {
			continue
		}
		of := s[g]
		if of == nil {
			of = new([metrics.NumObjectives]metrics.Sample)
			s[g] = of
		}
		for l := range of {
			if v, times := metrics.Latency(l).Exact(o); times > 0 && metrics.Latency(l).Counts(q) {
				of[l].Add(v)
			}
		}
	}
}

// finish completes the groups.
func (s groupSamples) finish(percentiles []float64) {
	for g, of := range s {
		for l, values := range of {
			g.Statistics[l] = values.Statistic(percentiles)
		}
	}
}
