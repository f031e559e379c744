// Command arrivals prints the planned arrival offsets that benchtop computes, in seconds, as a JSON array.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"benchtop/datasets/numpy"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

func main() {
	n := flag.Int("n", 60, "requests")
	rate := flag.Float64("rate", 10, "requests per second")
	burstiness := flag.Float64("burstiness", 1, "shape of the gaps")
	seed := flag.Uint("seed", 0, "seed")
	var ramp metrics.Ramp
	flag.StringVar(&ramp.Strategy, "ramp", "", "linear or exponential, over the requests")
	flag.Float64Var(&ramp.From, "from", 1, "first rate of the ramp")
	flag.Float64Var(&ramp.To, "to", 10, "last rate of the ramp")
	flag.Parse()

	draws := numpy.NewStreams(uint32(*seed)).Legacy
	var offsets []time.Duration
	if ramp.Strategy != "" {
		offsets = shape.Ramp{Line: ramp, Burstiness: *burstiness}.Offsets(*n, draws)
	} else {
		offsets = shape.Rate{PerSecond: metrics.Rate(*rate), Burstiness: *burstiness}.Offsets(*n, draws)
	}
	seconds := make([]float64, len(offsets))
	for i, at := range offsets {
		seconds[i] = float64(at) / float64(time.Second)
	}
	if err := json.NewEncoder(os.Stdout).Encode(seconds); err != nil {
		fmt.Fprintln(os.Stderr, "arrivals:", err)
		os.Exit(1)
	}
}
