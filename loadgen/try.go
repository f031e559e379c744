package loadgen

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"benchtop/datasets"
	"benchtop/loadgen/conn"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// Try sends turns outside of any measurement, for a ready check or to warm a server up: the same requests as in a run with
// the same options, but observed by nobody, without a request id and with Options.Model. At most atOnce are in flight, 0
// for all of them. It returns what became of each, in the order of the turns, when the last has ended. The end of ctx
// cuts what is in flight and starts nothing more; those requests have the failure Cancelled, and one that never started
// was not sent. Schedule, limits, durations and probes of the options have no meaning here; without a Start, the
// offsets count from the call. Options that cannot be used fail every request with FailedInternal. Options.Connections
// are left alone, for the run that they were opened for: Try dials its own and closes them.
func Try(ctx context.Context, o Options, turns []datasets.Turn, atOnce int) []metrics.Request {
	if o.Start.IsZero() {
		o.Start = time.Now()
	}
	o.Schedule, o.ClosedLoop, o.Limit, o.ModelFor, o.ProbeRate = shape.Immediately(), false, 0, nil, 0
	o.Connections = nil
	clock := conn.Clock{Start: o.Start}
	now := clock.Now()
	all := make([]metrics.Request, len(turns))
	for i := range all {
		all[i] = metrics.NewRequest(i)
		all[i].InputTokens, all[i].InputSource = turns[i].InputTokens, o.InputSource
		all[i].Scheduled, all[i].Due = now, now
	}
	e, err := New(o, event.Discard)
	if err != nil {
		for i := range all {
			all[i].Failure, all[i].Error, all[i].Done = metrics.FailedInternal, err.Error(), clock.Now()
		}
		return all
	}
	for i := range all {
		all[i].MaxTokens, _ = e.encoder.length(&turns[i])
	}
	defer e.finish()
	unwatch := context.AfterFunc(ctx, e.Abort)
	defer unwatch()
	if atOnce <= 0 {
		atOnce = math.MaxInt
	}
	var next atomic.Int64
	var work sync.WaitGroup
	for range min(atOnce, len(turns)) {
		work.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(turns); i = int(next.Add(1)) - 1 {
				e.try(ctx, &all[i], &turns[i])
			}
		})
	}
	work.Wait()
	return all
}

// try performs one request of Try, or gives it up if ctx has ended.
func (e *Engine) try(ctx context.Context, q *metrics.Request, turn *datasets.Turn) {
	if ctx.Err() == nil {
		q.Admitted = e.clock.Now()
		e.send(q, turn, event.Discard)
	} else {
		q.Failure, q.Done = metrics.Cancelled, e.clock.Now()
	}
	if q.Failure == metrics.Cancelled {
		q.Error = fmt.Sprintf("given up: %s", context.Cause(ctx))
	}
}
