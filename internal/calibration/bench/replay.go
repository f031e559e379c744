package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// A trace of traceLength is replayed in replayLength. The mean lengths in tokens are about those of traces of code.
const (
	traceRows               = 18_000
	traceLength             = 2 * time.Hour
	replayLength            = time.Minute
	traceInput, traceOutput = 2_000, 28
)

// replay measures how late benchtop's program sends the requests of a trace.
func replay(quick bool) table {
	n := scaled(quick, traceRows, traceRows/12)
	return table{name: "replay", rounds: 3, rows: []row{
		{"benchtop", measureReplay(n)},
		{busyLoop, measurePacer(busyLoop, traceRows/replayLength.Seconds(), n, firstCore())},
	}, columns: []column{{"p50", "late p50, µs", 1}, {"p99", "p99", 1}, {"max", "most", 0}}, limits: []limit{
		{text: "benchtop: p99 ≤ 1000 µs", row: "benchtop", column: "p99", most: 1000, unit: " µs", decimals: 1},
	}}
}

func measureReplay(n int) measurement {
	return func(ctx context.Context, h *harness, round int) (sample, error) {
		place, err := os.MkdirTemp(h.folder, "replay")
		if err != nil {
			return sample{}, err
		}
		trace := filepath.Join(place, "trace.csv")
		if err := os.WriteFile(trace, drawTrace(n, uint64(round)), 0o600); err != nil {
			return sample{}, err
		}
		l := peerLoad{ttft: 50 * time.Millisecond, itl: 10 * time.Millisecond}
		c, err := l.command(ctx, h, "", place, "--dataset-name", "trace", "--dataset-path", trace,
			"--num-prompts", "0", "--trace-speed", strconv.Itoa(int(traceLength/replayLength)))
		if err == nil {
			err = perform(c)
		}
		if err != nil {
			return sample{}, err
		}
		text, err := os.ReadFile(filepath.Join(place, resultName))
		if err != nil {
			return sample{}, err
		}
		return replayed(text, n)
	}
}

// replayed has the lateness in a result, which is in milliseconds.
func replayed(text []byte, n int) (sample, error) {
	var r struct {
		Completed int
		Benchtop  struct {
			Client struct {
				Why      []string
				Lateness struct{ Median, P99, Max float64 } `json:"lateness_ms"`
			}
		}
	}
	err := json.Unmarshal(text, &r)
	late := r.Benchtop.Client.Lateness
	s := sample{Figures: map[string]float64{"p50": 1000 * late.Median, "p99": 1000 * late.P99, "max": 1000 * late.Max}}
	s.note(n-r.Completed, "requests did not succeed")
	s.limited(r.Benchtop.Client.Why)
	return s, err
}

// drawTrace writes a trace of the first n rows, which come at random times.
func drawTrace(n int, seed uint64) []byte {
	draws := rand.New(rand.NewPCG(seed, 0))
	length := func(mean float64) int { return 1 + int(min(mean*draws.ExpFloat64(), 8_000)) }
	b := bytes.NewBufferString("TIMESTAMP,ContextTokens,GeneratedTokens\n")
	for at := 0.0; n > 0; n-- {
		at += draws.ExpFloat64() * traceLength.Seconds() / traceRows
		fmt.Fprintf(b, "%.6f,%d,%d\n", at, length(traceInput), length(traceOutput))
	}
	return b.Bytes()
}
