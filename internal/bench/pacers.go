package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"benchtop/internal/calibration"
	"benchtop/loadgen/pace"
)

// pacers measures the lateness of arrivals without other work.
func pacers(quick bool) table {
	t := table{name: "pacers", rounds: 7, columns: []column{
		{"p50", "late p50, µs", 1}, {"p99", "p99", 1}, {"p99.9", "p99.9", 1}, {"max", "most", 0},
	}}
	kinds := slices.DeleteFunc(pace.Kinds(), func(kind string) bool { return kind == "timer" }) // late by design
	for _, kind := range append(kinds, busyLoop) {
		for _, rate := range []int{100, 1_000, 5_000} {
			name := fmt.Sprintf("%s, %d/s", kind, rate)
			t.rows = append(t.rows, row{name, measurePacer(kind, rate, scaled(quick, 2, 1))})
			if most := lateMost(kind, rate); most > 0 {
				t.limits = append(t.limits, limit{
					text: fmt.Sprintf("%s: p99 ≤ %g µs", name, most), row: name, column: "p99", most: most, unit: " µs", decimals: 1,
				})
			}
		}
	}
	return t
}

// lateMost is the limit of a pacer in microseconds, 0 if it has none. It does not depend on the default pacer of this machine, so that
// it is the same on all machines.
func lateMost(kind string, rate int) float64 {
	switch {
	case strings.Contains(kind, "spin"):
		return 50
	case kind == "timerfd" && rate <= 100: // between these arrivals the processor sleeps deeper
		return 1_000
	case kind == "timerfd":
		return 100
	}
	return 0
}

// busyLoop is the reference: a loop that only reads the clock. Its lateness is the machine's.
const busyLoop = "no sleep at all"

// pacerLoad has arrivals at random times without any requests.
type pacerLoad struct {
	Kind      string
	PerSecond float64
	Arrivals  int
	Seed      uint64
}

// lateness is the lateness of a pacer.
func (p *pacerLoad) lateness(ctx context.Context) (calibration.Quantiles, error) {
	if p.Kind == busyLoop {
		return calibration.QuantilesOf(p.busyLoop()), nil
	}
	late, err := pace.Lateness(ctx, p.Kind, p.PerSecond, p.Arrivals, p.Seed)
	return calibration.QuantilesOf(late), err
}

// busyLoop is the lateness of a loop that never sleeps, for arrivals like those of pace.Lateness.
func (p *pacerLoad) busyLoop() []time.Duration {
	draws := rand.New(rand.NewPCG(p.Seed, 0))
	late := make([]time.Duration, 0, p.Arrivals)
	start, at := time.Now(), 0.0
	for range p.Arrivals {
		at += draws.ExpFloat64() / p.PerSecond
		due := time.Duration(at * float64(time.Second))
		now := time.Since(start)
		for now < due {
			now = time.Since(start)
		}
		late = append(late, now-due)
	}
	return late
}

func measurePacer(kind string, rate, seconds int) measurement {
	return func(ctx context.Context, h *harness, round int) (sample, error) {
		q := question{Pacer: &pacerLoad{Kind: kind, PerSecond: float64(rate), Arrivals: rate * seconds, Seed: uint64(round)}}
		var late calibration.Quantiles
		if err := h.ask(ctx, allCores(), q, &late); err != nil {
			return sample{}, err
		}
		return sample{Raw: late, Figures: map[string]float64{
			"p50": inMicros(late.P50), "p99": inMicros(late.P99), "p99.9": inMicros(late.P999), "max": inMicros(late.Max),
		}}, nil
	}
}
