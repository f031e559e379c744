package panels

import (
	"slices"

	"benchtop/metrics"
)

// latencies are those of the Latency page, in the order in which the key goes through them: every second keeps them.
var latencies = slices.DeleteFunc(slices.Collect(metrics.Latencies()), func(l metrics.Latency) bool { return l >= metrics.NumInWindow })

// NextLatency is the latency after one in that order that a run can have.
func NextLatency(s *metrics.Snapshot, l metrics.Latency) metrics.Latency {
	for i := slices.Index(latencies, l) + 1; ; i++ {
		if after := latencies[i%len(latencies)]; ShownLatency(s, after) == after {
			return after
		}
	}
}

// ShownLatency is a latency, or E2EL where answers come in one piece and have no such one.
func ShownLatency(s *metrics.Snapshot, l metrics.Latency) metrics.Latency {
	if s.Pooling() && l.Streams() {
		return metrics.E2EL
	}
	return l
}

// firstWait is the latency by which a run is watched: TTFT, or E2EL where answers come in one piece.
func (v *View) firstWait() metrics.Latency { return ShownLatency(v.Snapshot, metrics.TTFT) }

// nothing says why there is nothing of a latency.
func (v *View) nothing(l metrics.Latency) string {
	if v.Pooling() && l.Streams() {
		return "answers come in one piece: there is no " + l.Naming().Title
	}
	return l.Naming().Nothing
}
