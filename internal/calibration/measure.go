package calibration

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"time"

	"benchtop/internal/hf/numpy"
	"benchtop/internal/metronome"
	"benchtop/internal/telemetry"
	"benchtop/loadgen/conn"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// Measure runs a load in this process against the metronome at server, its base URL without a pace, and compares the
// client's times with the server's log. The metronome must have no other clients meanwhile. Failed requests are no
// error as long as one succeeds.
func Measure(ctx context.Context, server string, l Load) (Result, error) {
	if l.Timestamps == "" {
		l.Timestamps = metrics.UserStamps
		if conn.KernelStamps() {
			l.Timestamps = metrics.KernelStamps
		}
	}
	c := &ownClient{load: l}
	r, err := measure(ctx, server, &l, c.prepare, c.run)
	if c.connections != nil {
		c.connections.Close()
	}
	if err != nil {
		return Result{}, err
	}
	c.judge(&r)
	return r, nil
}

// Client runs a load against base, which answers at the load's pace, and adds its observations to an accumulator.
// Offset 0 of their times is start. It returns when the last request has ended.
type Client func(ctx context.Context, base string, start time.Time, t *Accumulator) error

// MeasureOther measures another client in the same way, for comparison. The verdict and the shares of stamps stay
// empty.
func MeasureOther(ctx context.Context, server string, l Load, other Client) (Result, error) {
	nothing := func(context.Context, string) error { return nil }
	return measure(ctx, server, &l, nothing, other)
}

// readings is the number of readings of the usage in a second.
const readings = 4

// measure prepares a client, runs it with a meter and compares.
func measure(
	ctx context.Context, server string, l *Load, prepare func(ctx context.Context, base string) error, run Client,
) (Result, error) {
	if err := l.Validate(); err != nil {
		return Result{}, err
	}
	// The log of earlier loads does not matter.
	if err := metronome.ClearLog(ctx, server); err != nil {
		return Result{}, err
	}
	debug.FreeOSMemory()
	before := telemetry.ResidentMemory()
	base := metronome.Pace(server, l.TTFT, l.ITL)
	if err := prepare(ctx, base); err != nil {
		return Result{}, err
	}

	start := time.Now()
	var tally Accumulator
	m := newMeter(start, &tally)
	err := m.during(func() error { return run(ctx, base, start, &tally) })
	took := time.Since(start)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return Result{}, fmt.Errorf("measuring: %w", err)
	}
	if succeeded, failed, problem := tally.Ends(); succeeded == 0 {
		return Result{}, fmt.Errorf("none of %d requests succeeded; the first: %s", failed, problem)
	}
	log, err := metronome.FetchLog(ctx, server)
	if err != nil {
		return Result{}, err
	}
	r := compare(tally.seen, log, metronome.WallOf(start))
	if r.StampError.N == 0 {
		return Result{}, fmt.Errorf("the log of the server at %s has none of %d requests; does another client use it?",
			server, len(tally.seen))
	}
	r.Requests, r.Failed, r.MostStreams = len(tally.seen)+tally.failed, tally.failed, int(tally.most.Load())
	r.Seconds = took.Seconds()
	r.RequestsPerSecond, r.ChunksPerSecond = float64(len(tally.seen))/r.Seconds, float64(r.Chunks)/r.Seconds
	r.spent(m, before)
	return r, nil
}

// spent adds the usage of CPU and memory.
func (r *Result) spent(m *meter, before int64) {
	r.CPUSeconds = difference(m.used).cpu.Seconds()
	p, found := m.plateau(int64(r.MostStreams))
	if found {
		r.PlateauSeconds = p.at.Seconds()
	}
	if p.chunks > 0 {
		r.CPUPerChunkMicros = inMicros(p.cpu) / float64(p.chunks)
		r.AllocsPerChunk = float64(p.objects) / float64(p.chunks)
	}
	if r.MostStreams > 0 {
		r.BytesPerStream = m.grown(before) / int64(r.MostStreams)
	}
}

// compare compares the times of a client with the log of the server, by the ids of requests. start is the wall-clock
// time of the client's offset 0.
func compare(seen []RequestSummary, log []metronome.Entry, start time.Time) (r Result) {
	served := make(map[string]*metronome.Entry, len(log))
	for i := range log {
		served[log[i].ID] = &log[i] // the last one of a request that was sent twice
	}
	var late, connect, errors []time.Duration
	var ttft, itl, serverITL, mismatch spread
	for i := range seen {
		s := &seen[i]
		r.Chunks += len(s.Chunks)
		late = append(late, s.Late)
		if s.Connect > 0 {
			connect = append(connect, s.Connect)
		}
		e := served[s.ID]
		if e == nil || len(e.Writes) != len(s.Chunks) || len(s.Chunks) == 0 {
			r.Unmatched++
			continue
		}
		ttft.add(micros(s.Chunks[0]) - e.Writes[0].Sub(e.Arrived))
		sent := start.Add(s.Sent)
		for k, at := range s.Chunks {
			wrong := sent.Add(micros(at)).Sub(e.Writes[k])
			if wrong < -EarlyFrom {
				r.Early++
			}
			errors = append(errors, wrong)
			if k == 0 {
				continue
			}
			ours, theirs := micros(at-s.Chunks[k-1]), e.Writes[k].Sub(e.Writes[k-1])
			itl.add(ours)
			serverITL.add(theirs)
			mismatch.add(ours - theirs)
		}
	}
	r.StampError, r.Lateness, r.Connect = QuantilesOf(errors), QuantilesOf(late), QuantilesOf(connect)
	r.TTFTError, r.ITLStd, r.ServerITLStd, r.ITLErrorStd = ttft.average(), itl.deviation(), serverITL.deviation(),
		mismatch.deviation()
	return r
}

func micros(us int32) time.Duration { return time.Duration(us) * time.Microsecond }

// Load is the load on the client under measurement.
type Load struct {
	// Streams is the most requests in flight; 0 for no limit.
	Streams int
	// Closed: Streams users ask again without pause, until Duration is over or Requests are sent, whichever is first.
	// Otherwise requests arrive at Rate per second, as a Poisson process; a Rate of 0 sends all at once.
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
	// Watch receives snapshots during the run, as a screen does; nil for none. Its ctx ends with the run, and then the
	// channel is closed. The measurement waits for its end. It is not part of the load.
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
	badIf := func(bad bool, format string, args ...any) {
		if bad {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	badIf(l.Streams < 0 || l.Closed && l.Streams == 0,
		"streams %d: a closed loop needs some; otherwise 0 means no limit", l.Streams)
	badIf(l.Requests < 0 || l.Requests > mostRequests, "requests %d: use 0 to %d", l.Requests, mostRequests)
	badIf(l.Chunks < 1 || l.Chunks > mostChunks, "chunks %d: use 1 to %d", l.Chunks, mostChunks)
	negative := l.Duration < 0 || l.TTFT < 0 || l.ITL < 0
	badIf(negative, "duration and pace must not be negative")
	badIf(!negative && l.TTFT.Seconds()+float64(l.Chunks)*l.ITL.Seconds() > longestAnswer.Seconds(),
		"an answer would take longer than %s: use fewer chunks or a faster pace", longestAnswer)
	badIf(!(l.Rate >= 0) || math.IsInf(l.Rate, 1), "rate %v: must be positive, or 0 for all at once", l.Rate)
	badIf(l.Requests == 0 && (l.Duration <= 0 || !l.Closed && l.Rate == 0),
		"no end: give a number of requests, or a duration with a rate or users")
	badIf(l.Requests == 0 && l.Rate*l.Duration.Seconds() > mostRequests, "rate and duration make more than %d requests",
		mostRequests)
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
	stage := metrics.Stage{Length: l.Duration, Load: metrics.RequestsPerSecond.Of(l.Rate)}
	return shape.At(shape.NewStages(shape.Bounds{}, []metrics.Stage{stage}, 1).Times(draws))
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
