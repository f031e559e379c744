package main

import (
	"context"
	"fmt"
	"strings"

	"benchtop/internal/calibration"
	"benchtop/loadgen"
)

// pacers asks how late arrivals are when nothing else is to do.
func pacers(quick bool) table {
	t := table{name: "pacers", rounds: 3, columns: []column{
		{"p50", "late p50, µs", 1}, {"p99", "p99", 1}, {"p99.9", "p99.9", 1}, {"max", "most", 0},
	}}
	for i, kind := range loadgen.PacerKinds() {
		for _, rate := range []int{100, 1_000, 5_000} {
			name := fmt.Sprintf("%s, %d/s", kind, rate)
			t.rows = append(t.rows, row{name, measurePacer(kind, rate, scaled(quick, 4, 1))})
			most := 0.0
			switch {
			case strings.Contains(kind, "spin"):
				most = 50
			case i == 0 && rate == 100:
				most = 1_000
			case i == 0:
				most = 100
			}
			if most > 0 {
				t.bars = append(t.bars, bar{
					text: fmt.Sprintf("%s: p99 ≤ %g µs", name, most), row: name, column: "p99", most: most, unit: " µs", decimals: 1,
				})
			}
		}
	}
	return t
}

func measurePacer(kind string, rate, seconds int) measurement {
	return func(ctx context.Context, l *lab, round int) (sample, error) {
		q := pacerQuestion{Kind: kind, PerSecond: float64(rate), Arrivals: rate * seconds, Seed: uint64(round)}
		var late calibration.Quantiles
		if err := l.ask(ctx, allCores(), rolePacer, q, &late); err != nil {
			return sample{}, err
		}
		return sample{Whole: late, Figures: map[string]float64{
			"p50": inMicros(late.P50), "p99": inMicros(late.P99), "p99.9": inMicros(late.P999), "max": inMicros(late.Max),
		}}, nil
	}
}
