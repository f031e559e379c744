package tui

import (
	"slices"

	"benchtop/metrics"
)

// latencies are those of the Latency page, in the order in which the key goes through them: every second keeps them.
var latencies = slices.DeleteFunc(slices.Collect(metrics.Latencies()), func(l metrics.Latency) bool { return l >= metrics.NumInWindow })

// next is the latency after one in that order that a run can have.
func next(s *metrics.Snapshot, l metrics.Latency) metrics.Latency {
	for i := slices.Index(latencies, l) + 1; ; i++ {
		if after := latencies[i%len(latencies)]; shown(s, after) == after {
			return after
		}
	}
}

// shown is a latency, or E2EL where answers come in one piece and have no such one.
func shown(s *metrics.Snapshot, l metrics.Latency) metrics.Latency {
	if s.Pooling() && l.Streams() {
		return metrics.E2EL
	}
	return l
}

// firstWait is the latency by which a run is watched: TTFT, or E2EL where answers come in one piece.
func (v *view) firstWait() metrics.Latency { return shown(v.s, metrics.TTFT) }

// nothing says why there is nothing of a latency.
func (v *view) nothing(l metrics.Latency) string {
	if v.s.Pooling() && l.Streams() {
		return "answers come in one piece: there is no " + l.Naming().Title
	}
	return l.Naming().Nothing
}
