package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"benchtop/internal/calibration"
	"benchtop/internal/metronome"
	"benchtop/internal/telemetry"
)

// serveChild is the server's process. It says where it listens and ends when its standard input does.
func serveChild() error {
	l, err := listen()
	if err != nil {
		return err
	}
	s := metronome.New()
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	fmt.Println(l.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = s.Close()
	}()
	return <-done
}

// clientQuestion asks a client's process for a measurement.
type clientQuestion struct {
	Server string
	Raw    bool // the yardstick instead of our own client
	Load   calibration.Load
}

func clientChild(ctx context.Context) error {
	var q clientQuestion
	if err := question(&q); err != nil {
		return err
	}
	telemetry.TuneMemory()
	if err := telemetry.CheckSockets(max(q.Load.Streams, q.Load.Requests)); err != nil {
		return err
	}
	var r calibration.Result
	var err error
	if q.Raw {
		r, err = calibration.MeasureOther(ctx, q.Server, q.Load, rawClient(q.Load))
	} else {
		r, err = calibration.Measure(ctx, q.Server, q.Load)
	}
	if err != nil {
		return err
	}
	return answer(r)
}

// measureOwn measures our client under a load.
func measureOwn(load calibration.Load, on cores) measurement { return measureClient(load, on, false) }

// measureRaw measures the yardstick.
func measureRaw(load calibration.Load) measurement { return measureClient(load, firstCore(), true) }

func measureClient(load calibration.Load, on cores, raw bool) measurement {
	return func(ctx context.Context, l *lab, round int) (sample, error) {
		q := clientQuestion{Server: l.base, Raw: raw, Load: load}
		q.Load.Seed = int64(round) // the same arrivals for all rows of a round
		var r calibration.Result
		if err := l.ask(ctx, on, roleClient, q, &r); err != nil {
			return sample{}, err
		}
		return figures(&r, raw), nil
	}
}

// figures of a client under load, by the keys of columns.
func figures(r *calibration.Result, raw bool) sample {
	s := sample{Whole: r, Figures: map[string]float64{
		"chunks/s": r.ChunksPerSecond, "allocs": r.AllocsPerChunk,
		"p50": inMicros(r.StampError.P50), "p99": inMicros(r.StampError.P99), "p99.9": inMicros(r.StampError.P999),
		"ttft": inMillis(r.TTFTError), "itl": inMillis(r.ITLStd), "server itl": inMillis(r.ServerITLStd),
		"itl error": inMillis(r.ITLErrorStd), "late": inMillis(r.Lateness.P99),
	}}
	// Both are 0 where the system does not tell.
	if r.CPUPerChunkMicros > 0 {
		s.Figures["cpu"] = r.CPUPerChunkMicros
	}
	if r.BytesPerStream > 0 {
		s.Figures["memory"] = float64(r.BytesPerStream) / 1000
	}
	if !raw { // which knows nothing of this
		s.Figures["shared"] = 100 * r.SharedShare
	}
	if r.Connect.N > 0 {
		s.Figures["connect"] = inMillis(r.Connect.P50)
	}
	s.note(r.Failed, "requests failed")
	s.note(r.Unmatched, "requests were missing in the server's log")
	s.note(r.Early, fmt.Sprintf("chunks seemed to come more than %s before they were written", calibration.EarlyFrom))
	if r.PlateauSeconds == 0 && r.Seconds > 5 {
		s.Remarks = append(s.Remarks, remark{"CPU and allocations are of the whole run", "the streams were never all open for a second"})
	}
	if r.Verdict.Limited() {
		s.Remarks = append(s.Remarks, remark{"the verdict was limited", r.Verdict.String()})
	}
	return s
}

// note remarks that something happened n times.
func (s *sample) note(n int, what string) {
	if n > 0 {
		s.Remarks = append(s.Remarks, remark{what, fmt.Sprint(n)})
	}
}

func inMicros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func inMillis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
