package loadgen

import (
	"context"
	"fmt"
	"sync"
	"time"

	"benchtop/datasets"
	"benchtop/loadgen/conn"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// Try sends turns outside of any measurement, for a ready check or a warm-up: the same requests as in a run with the
// same options, but unobserved, without a request id and with Options.Model. At most atOnce are in flight, 0 for all of
// them. It returns the requests in the order of the turns when the last has ended. The end of ctx cuts requests in
// flight and starts no more; all of these have the failure Cancelled. Schedule, limits, durations, probes and users
// of the options are ignored; without a Start, offsets count from the call. Invalid options fail every request with
// FailedInternal. Try dials and closes its own connections and leaves Options.Connections to the run. Several servers
// get the turns in order. With Options.Observer it is observed up to the end of each request, which the caller tells.
func Try(ctx context.Context, o Options, turns []datasets.Turn, atOnce int) []metrics.Request {
	if o.Start.IsZero() {
		o.Start = time.Now()
	}
	o.Schedule, o.ClosedLoop, o.Limit, o.ModelFor, o.ProbeRate = shape.Immediately(), false, 0, nil, 0
	o.Connections, o.Users = nil, Users{}
	clock := conn.Clock{Start: o.Start}
	now := clock.Now()
	e, err := New(o, event.Discard)
	all := make([]metrics.Request, len(turns))
	for i := range all {
		q := &all[i]
		*q = metrics.NewRequest(o.First + i)
		q.InputTokens, q.InputSource = turns[i].InputTokens, o.InputSource
		q.Scheduled, q.Due = now, now
		q.Server = i % max(1, len(o.All()))
		if err != nil {
			q.Failure, q.Error, q.Done = metrics.FailedInternal, err.Error(), clock.Now()
		} else {
			q.MaxTokens, _ = e.encoder.length(&turns[i])
			q.Inputs = e.encoder.traits.Inputs(&turns[i])
		}
	}
	if err != nil {
		return all
	}
	defer e.finish()
	defer context.AfterFunc(ctx, e.Abort)()
	if atOnce <= 0 {
		atOnce = len(turns)
	}
	slots := make(chan struct{}, atOnce)
	var work sync.WaitGroup
	for i := range all {
		slots <- struct{}{}
		work.Go(func() {
			e.try(ctx, &all[i], &turns[i])
			<-slots
		})
	}
	work.Wait()
	return all
}

// known is a turn whose prompt needs no making.
func known(turn *datasets.Turn) func() (*datasets.Turn, error) {
	return func() (*datasets.Turn, error) { return turn, nil }
}

// try performs one request of Try, or gives it up if ctx has ended.
func (e *Engine) try(ctx context.Context, q *metrics.Request, turn *datasets.Turn) {
	if ctx.Err() == nil {
		sink := e.options.Observer
		if sink == nil {
			sink = event.Discard
		}
		q.Admitted = e.clock.Now()
		sink.Take(&event.Event{At: q.Due, Kind: event.Due, Request: q})
		e.send(q, known(turn), nil, sink, carried{})
	} else {
		q.Failure, q.Done = metrics.Cancelled, e.clock.Now()
	}
	if q.Failure == metrics.Cancelled {
		q.Error = fmt.Sprintf("given up: %s", context.Cause(ctx))
	}
}

// probe sends one probe after the other, with a pause of 1/ProbeRate between them, until the sending ends. The last one
// may finish. If the run is over first, it is cut and not counted, so that a probe never makes a run longer.
func (e *Engine) probe() {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for n := 0; ; n++ {
		select {
		case <-e.stopping.Done():
			return
		case <-pause.C:
		}
		if e.stopping.Err() != nil { // both are ready, and select takes either
			return
		}
		q := metrics.NewRequest(-1)
		q.MaxTokens, q.Server = e.options.Probe.MaxTokens, n%len(e.servers.all)
		e.send(&q, known(&e.options.Probe), nil, event.Discard, carried{})
		if q.Failure == metrics.Cancelled {
			return
		}
		if q.OK() {
			e.probes.Completed++
			e.probes.Latencies = append(e.probes.Latencies, q.E2EL())
		} else {
			e.probes.Failed++
		}
		pause.Reset(shape.Nanoseconds(1 / e.options.ProbeRate))
	}
}

// Probes are the results of the probes, for use after Run.
func (e *Engine) Probes() metrics.Probes { return e.probes }
