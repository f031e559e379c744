package tui

import (
	"slices"

	"benchtop/metrics"
)

// latencies are those of the Latency page, in the order in which the key goes through them: every second keeps them.
var latencies = slices.DeleteFunc(slices.Collect(metrics.Latencies()), func(l metrics.Latency) bool { return l >= metrics.NumInWindow })

// next is the latency after one in that order.
func next(l metrics.Latency) metrics.Latency {
	return latencies[(slices.Index(latencies, l)+1)%len(latencies)]
}
