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

// pacers asks how late arrivals are when nothing else is to do.
func pacers(quick bool) table {
	t := table{name: "pacers", rounds: 7, columns: []column{
		{"p50", "late p50, µs", 1}, {"p99", "p99", 1}, {"p99.9", "p99.9", 1}, {"max", "most", 0},
	}}
	kinds := slices.DeleteFunc(pace.Kinds(), func(kind string) bool { return kind == "timer" }) // late by design
	for _, kind := range append(kinds, sleepless) {
		for _, rate := range []int{100, 1_000, 5_000} {
			name := fmt.Sprintf("%s, %d/s", kind, rate)
			t.rows = append(t.rows, row{name, measurePacer(kind, rate, scaled(quick, 2, 1))})
			if most := lateMost(kind, rate); most > 0 {
				t.bars = append(t.bars, bar{
					text: fmt.Sprintf("%s: p99 ≤ %g µs", name, most), row: name, column: "p99", most: most, unit: " µs", decimals: 1,
				})
			}
		}
	}
	return t
}

// lateMost is the bar of a pacer in microseconds, 0 if it has none. It goes by the name and not by which pacer is the default
// here, so that machines of all sizes are held to the same.
func lateMost(kind string, rate int) float64 {
	switch {
	case strings.Contains(kind, "spin"):
		return 50
	case kind == "timerfd" && rate <= 100: // the processor sleeps deeper between arrivals
		return 1_000
	case kind == "timerfd":
		return 100
	}
	return 0
}

// sleepless is the yardstick: a loop that does nothing but look at the clock. What it is late, the machine took from it.
const sleepless = "no sleep at all"

// pacerLoad is arrivals at random times without any requests.
type pacerLoad struct {
	Kind      string
	PerSecond float64
	Arrivals  int
	Seed      uint64
}

// lateness is how late a pacer is for the arrivals.
func (p *pacerLoad) lateness(ctx context.Context) (calibration.Quantiles, error) {
	if p.Kind == sleepless {
		return calibration.QuantilesOf(p.sleepless()), nil
	}
	late, err := pace.Lateness(ctx, p.Kind, p.PerSecond, p.Arrivals, p.Seed)
	return calibration.QuantilesOf(late), err
}

// sleepless is how late a loop that never sleeps is for arrivals as those of pace.Lateness.
func (p *pacerLoad) sleepless() []time.Duration {
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
	return func(ctx context.Context, l *lab, round int) (sample, error) {
		q := question{Pacer: &pacerLoad{Kind: kind, PerSecond: float64(rate), Arrivals: rate * seconds, Seed: uint64(round)}}
		var late calibration.Quantiles
		if err := l.ask(ctx, allCores(), q, &late); err != nil {
			return sample{}, err
		}
		return sample{Whole: late, Figures: map[string]float64{
			"p50": inMicros(late.P50), "p99": inMicros(late.P99), "p99.9": inMicros(late.P999), "max": inMicros(late.Max),
		}}, nil
	}
}
