package calibration

import (
	"slices"
	"time"
)

// median is the mean of the two in the middle of an even number; 0 of none.
func median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	all = slices.Sorted(slices.Values(all))
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// middling is the median of a figure of several rounds.
func middling(all []Result, of func(*Result) float64) float64 {
	var values []float64
	for i := range all {
		values = append(values, of(&all[i]))
	}
	return median(values)
}

// middle is the median of each quantile of several rounds, which are N altogether.
func middle(all []Result, of func(*Result) Quantiles) (q Quantiles) {
	at := func(pick func(Quantiles) time.Duration) time.Duration {
		return time.Duration(middling(all, func(r *Result) float64 { return float64(pick(of(r))) }))
	}
	for i := range all {
		q.N += of(&all[i]).N
	}
	q.P50, q.P99 = at(func(q Quantiles) time.Duration { return q.P50 }), at(func(q Quantiles) time.Duration { return q.P99 })
	q.P999, q.Max = at(func(q Quantiles) time.Duration { return q.P999 }), at(func(q Quantiles) time.Duration { return q.Max })
	return q
}
