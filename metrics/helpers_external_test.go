package metrics_test

import (
	"math"

	"benchtop/metrics"
)

func closedPlan(users int) metrics.Plan {
	return metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: users, Percentiles: []float64{25, 99}}
}

// near allows for the order of additions. numpy gives equal values a standard deviation of 1e-14 rather than 0.
func near(got, want float64) bool {
	return math.Abs(got-want) <= 1e-12*max(1, math.Abs(got), math.Abs(want))
}
