package metrics_test

import (
	"math"
	"testing"
	"time"

	"benchtop/internal/assert"
	. "benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/report"
)

const (
	ms     = time.Millisecond
	second = time.Second
	minute = time.Minute
)

func closedPlan(users int) Plan {
	return Plan{Rate: Rate(math.Inf(1)), MaxConcurrency: users, Percentiles: []float64{25, 99}}
}

// runOf is a run without facts that ended at a moment.
func runOf(p Plan, ended time.Duration) Run { return Run{Plan: p, End: End{Ended: ended}} }

// summarize is the report of requests.
func summarize(t *testing.T, all []Request, run Run) Report {
	t.Helper()
	r := assert.Must(report.Summarize(eventtest.Each(all), run))(t)
	return r
}

// near allows for the order of additions. numpy gives equal values a standard deviation of 1e-14 rather than 0.
func near(got, want float64) bool {
	return math.Abs(got-want) <= 1e-12*max(1, math.Abs(got), math.Abs(want))
}
