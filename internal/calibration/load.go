package calibration

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"benchtop/datasets/numpy"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// Load is the load on the client under measurement.
type Load struct {
	// Streams is the most requests in flight; 0 for no limit.
	Streams int
	// Closed: Streams users ask again without pause, until Duration is over or Requests are sent, whichever is first. Otherwise
	// requests arrive at Rate per second, as a Poisson process; a Rate of 0 sends all at once.
	Closed bool
	Rate   float64
	// Requests to send; 0 for as many as Duration allows. Chunks in each answer.
	Requests, Chunks int
	// TTFT and ITL are the pace of the server.
	TTFT, ITL time.Duration
	// Duration ends the sending; 0 for no end. Requests in flight continue.
	Duration time.Duration
	// Timestamps as in loadgen.Options.
	Timestamps string
	// Preconnect opens the connections before the clock starts.
	Preconnect bool
	// Seed of the arrivals.
	Seed int64
	// Watch receives snapshots during the run, as a screen does; nil for none. Its ctx ends with the run, and then the channel is
	// closed. The measurement waits for its end. It is not part of the load.
	Watch func(ctx context.Context, snapshots <-chan metrics.Snapshot) `json:"-"`
}

const (
	// mostRequests, mostChunks and longestAnswer limit the memory of a measurement: 4 bytes a chunk.
	mostRequests  = 5_000_000
	mostChunks    = 1_000_000
	longestAnswer = 30 * time.Minute
)

// Validate reports every problem at once.
func (l *Load) Validate() error {
	var problems []error
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if l.Streams < 0 || l.Closed && l.Streams == 0 {
		bad("streams %d: a closed loop needs some; otherwise 0 means no limit", l.Streams)
	}
	if l.Requests < 0 || l.Requests > mostRequests {
		bad("requests %d: use 0 to %d", l.Requests, mostRequests)
	}
	if l.Chunks < 1 || l.Chunks > mostChunks {
		bad("chunks %d: use 1 to %d", l.Chunks, mostChunks)
	}
	if l.Duration < 0 || l.TTFT < 0 || l.ITL < 0 {
		bad("duration and pace must not be negative")
	} else if l.TTFT.Seconds()+float64(l.Chunks)*l.ITL.Seconds() > longestAnswer.Seconds() {
		bad("an answer would take longer than %s: use fewer chunks or a faster pace", longestAnswer)
	}
	if !(l.Rate >= 0) || math.IsInf(l.Rate, 1) {
		bad("rate %v: must be positive, or 0 for all at once", l.Rate)
	}
	if l.Requests == 0 && (l.Duration <= 0 || !l.Closed && l.Rate == 0) {
		bad("no end: give a number of requests, or a duration with a rate or users")
	}
	if l.Requests == 0 && l.Rate*l.Duration.Seconds() > mostRequests {
		bad("rate and duration make more than %d requests", mostRequests)
	}
	return errors.Join(problems...)
}

// Arrivals are the times at which requests begin.
func (l *Load) Arrivals() shape.Schedule {
	if l.Closed {
		return shape.Immediately()
	}
	if l.Rate == 0 {
		return shape.At(make([]time.Duration, l.Requests))
	}
	draws := numpy.NewLegacy(uint32(l.Seed))
	if l.Requests > 0 {
		return shape.At(shape.Rate{PerSecond: metrics.Rate(l.Rate), Burstiness: 1}.Offsets(l.Requests, draws))
	}
	return shape.At(shape.NewStages(shape.Bounds{}, []metrics.Stage{{Length: l.Duration, Rate: l.Rate}}, 1).Times(draws))
}

// plan is the load in the form of the live view, for its verdict.
func (l *Load) plan(start time.Time) *metrics.Plan {
	p := &metrics.Plan{
		Started: start, Requests: l.Requests, Duration: l.Duration, Rate: metrics.Rate(l.Rate), Burstiness: 1,
		MaxConcurrency: l.Streams, Timestamps: l.Timestamps, Load: "calibration", Seed: l.Seed,
	}
	if l.Closed || l.Rate == 0 {
		p.Rate = metrics.Rate(math.Inf(1))
	}
	return p
}
