package metrics

import "time"

// SteadyState is the part of a closed loop in which it had its full load; see docs/metrics.md. Throughputs are per second
// of the window, latencies in milliseconds.
type SteadyState struct {
	Start, End time.Duration
	// Target is the concurrency limit, Threshold the share of it that counts as full, ThresholdAbs that number of
	// requests, Peak the highest number of successes in flight at once.
	Target       int
	Threshold    float64
	ThresholdAbs int
	Peak         int
	// Started and Completed in the window, and Total successes of the run.
	Started, Completed, Total int
	// Warning in words, "" for none.
	Warning string

	RequestThroughput, InputThroughput, OutputThroughput, TotalThroughput float64
	// TTFT has the percentiles of the plan, TPOT has 90 and 99.
	TTFT, TPOT Statistic
}
