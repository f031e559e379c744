package metrics

import (
	"math"
	"slices"
)

// TooFew is a percentile from fewer observations than it takes: it is one of the largest of them, by chance alone.
type TooFew struct {
	Latency Latency
	P       float64
	// Observed are the observations, requests or gaps between chunks; Needed is what the percentile takes at least.
	Observed, Needed int
}

// Needed is the number of observations that a percentile takes at least, 1/(1-p): 100 for p99, 1000 for p99.9, so that
// one in so many lies above it. The maximum, p100, takes one.
func Needed(p float64) int {
	if !(p > 0 && p < 100) {
		return 1
	}
	n := 100 / (100 - p)
	return int(math.Ceil(min(n-n*1e-9, math.MaxInt32))) // 100 - 99.9 is a little less than 0.1
}

// TooFew are the percentiles that have too few observations: of the latencies and percentiles of the plan, and of its
// gates.
func (r *Report) TooFew() (out []TooFew) {
	for l := range Latencies() {
		if !l.Possible(&r.Plan) {
			continue
		}
		s := &r.Statistics[l]
		all, seen := slices.Clone(s.Gated), []float64(nil)
		if slices.Contains(r.Plan.Metrics, l) {
			all = slices.Concat(s.Percentiles, s.Gated)
		}
		for _, p := range all {
			if n := Needed(p.P); s.N < n && !slices.Contains(seen, p.P) {
				out = append(out, TooFew{l, p.P, s.N, n})
			}
			seen = append(seen, p.P)
		}
	}
	return out
}
