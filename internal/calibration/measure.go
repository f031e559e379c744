package calibration

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"benchtop/internal/metronome"
	"benchtop/internal/telemetry"
	"benchtop/loadgen/conn"
	"benchtop/metrics"
)

// Measure runs a load in this process against the metronome at server, its base URL without a pace, and compares the client's times
// with the server's log. The metronome must have no other clients meanwhile. Failed requests are no error as long as one succeeds.
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

// Client runs a load against base, which answers at the load's pace, and adds its observations to an accumulator. Offset 0 of their
// times is start. It returns when the last request has ended.
type Client func(ctx context.Context, base string, start time.Time, t *Accumulator) error

// MeasureOther measures another client in the same way, for comparison. The verdict and the shares of stamps stay empty.
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
		return Result{}, fmt.Errorf("the log of the server at %s has none of %d requests; does another client use it?", server, len(tally.seen))
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

// compare compares the times of a client with the log of the server, by the ids of requests. start is the wall-clock time of the
// client's offset 0.
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
	r.TTFTError, r.ITLStd, r.ServerITLStd, r.ITLErrorStd = ttft.average(), itl.deviation(), serverITL.deviation(), mismatch.deviation()
	return r
}

func micros(us int32) time.Duration { return time.Duration(us) * time.Microsecond }
