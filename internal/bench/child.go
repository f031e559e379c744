package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"benchtop/internal/calibration"
	"benchtop/internal/metronome"
	"benchtop/internal/telemetry"
	"benchtop/loadgen/pace"
)

// serveChild is the server's process. It says where it listens and ends when its standard input does.
func serveChild() error {
	l, err := listen()
	if err != nil {
		return err
	}
	s := metronome.New(metronome.Options{})
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

// pacerQuestion asks how late a pacer is without any requests.
type pacerQuestion struct {
	Kind      string
	PerSecond float64
	Arrivals  int
	Seed      uint64
}

func pacerChild(ctx context.Context) error {
	var q pacerQuestion
	if err := question(&q); err != nil {
		return err
	}
	telemetry.TuneMemory()
	if q.Kind == sleepless {
		return answer(calibration.QuantilesOf(sleeplessLateness(q)))
	}
	late, err := pace.Lateness(ctx, q.Kind, q.PerSecond, q.Arrivals, q.Seed)
	if err != nil {
		return err
	}
	return answer(calibration.QuantilesOf(late))
}
