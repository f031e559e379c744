package loadgen

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"benchtop/loadgen/shape"
)

// PacerLateness waits for n Poisson arrivals with a mean rate per second on a pacer of PacerKinds ("" for the default), as
// a run does but without requests, and returns how late each wait ended, in their order. What was due before it was waited
// for counts like the rest. The same seed gives the same arrivals. When ctx ends first, it returns what it has, and why
// ctx ended.
func PacerLateness(ctx context.Context, kind string, perSecond float64, n int, seed uint64) ([]time.Duration, error) {
	if !(perSecond > 0) || n < 0 || n > shape.MostArrivals {
		return nil, fmt.Errorf("%d arrivals at %v per second: use a positive rate and at most %d arrivals", n, perSecond, shape.MostArrivals)
	}
	var late []time.Duration
	var err error
	done := make(chan struct{})
	go func() { // the pacer may lock its thread, which then ends with the goroutine
		defer close(done)
		late, err = pacerLateness(ctx, kind, perSecond, n, seed)
	}()
	<-done
	return late, err
}

func pacerLateness(ctx context.Context, kind string, perSecond float64, n int, seed uint64) ([]time.Duration, error) {
	draws := rand.New(rand.NewPCG(seed, 0))
	late := make([]time.Duration, 0, n)
	start := time.Now()
	p, err := newPacer(runClock{start}, kind, &steering{speed: 1})
	if err != nil {
		return nil, err
	}
	defer p.close()
	at := 0.0
	for range n {
		at += draws.ExpFloat64() / perSecond
		offset := shape.Nanoseconds(at)
		if _, ok := p.wait(ctx, offset); !ok {
			return late, context.Cause(ctx)
		}
		late = append(late, time.Since(start)-offset)
	}
	return late, nil
}
