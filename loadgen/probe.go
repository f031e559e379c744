package loadgen

import (
	"time"

	"benchtop/loadgen/shape"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// probe sends one probe after the other, with a pause of 1/ProbeRate between them, until nothing new may start.
// The one under way then may finish. If the run is over first, it is cut and counts as nothing, so that a probe never makes
// a run longer.
func (e *Engine) probe() {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-e.stopping.Done():
			return
		case <-pause.C:
		}
		if e.stopping.Err() != nil { // both came at once, and select takes either
			return
		}
		q := metrics.NewRequest(-1)
		q.MaxTokens = e.options.Probe.MaxTokens
		e.send(&q, &e.options.Probe, event.Discard)
		if q.Failure == metrics.Cancelled {
			return
		}
		e.countProbe(&q)
		pause.Reset(shape.Nanoseconds(1 / e.options.ProbeRate))
	}
}

func (e *Engine) countProbe(q *metrics.Request) {
	e.probesMu.Lock()
	defer e.probesMu.Unlock()
	if !q.OK() {
		e.probes.Failed++
		return
	}
	e.probes.Completed++
	e.probes.Latencies = append(e.probes.Latencies, q.E2EL())
}

// Probes is what became of the probes, complete once Run has returned.
func (e *Engine) Probes() metrics.Probes {
	e.probesMu.Lock()
	defer e.probesMu.Unlock()
	p := e.probes
	p.Latencies = append([]time.Duration(nil), p.Latencies...)
	return p
}
