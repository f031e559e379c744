package session

import (
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/calibration"
	"benchtop/internal/spec"
)

// The demand of a load on the client follows from its flags.
func TestPlannedLoad(t *testing.T) {
	for _, c := range []struct {
		args     string
		requests int
		ahead    int
		planned  calibration.PlannedLoad
	}{
		{"--num-prompts 500", 500, 0, calibration.PlannedLoad{Streams: 500}},
		{"--request-rate 20", 1000, 0, calibration.PlannedLoad{RequestsPerSecond: 20, ChunksPerSecond: 2560}},
		{"--request-rate 20 --max-concurrency 7", 1000, 0,
			calibration.PlannedLoad{RequestsPerSecond: 20, ChunksPerSecond: 2560, Streams: 7}},
		{"--request-rate 20 --preconnect 9", 1000, 9,
			calibration.PlannedLoad{RequestsPerSecond: 20, ChunksPerSecond: 2560}},
		{"--max-concurrency 64", 1000, 64, calibration.PlannedLoad{Streams: 64}},
		{"--max-concurrency 64 --num-prompts 10", 10, 10, calibration.PlannedLoad{Streams: 10}},
		{"--max-concurrency 64 --duration 5s", 0, 64, calibration.PlannedLoad{Streams: 64}},
		{"--max-concurrency 64 --preconnect 0", 1000, 0, calibration.PlannedLoad{Streams: 64}},
		{"--concurrency-stages 4:1s,32:1s", 0, 4, calibration.PlannedLoad{Streams: 32}},
		{"--stages 5:1s,30:1s,9:1s --random-output-len 10", 44, 0,
			calibration.PlannedLoad{RequestsPerSecond: 30, ChunksPerSecond: 300}},
		{"--ramp-up-strategy linear --ramp-up-start-rps 50 --ramp-up-end-rps 2 --dataset-name sharegpt " +
			"--dataset-path x", 1000, 0, calibration.PlannedLoad{RequestsPerSecond: 50}},
	} {
		o := spec.New()
		if err := o.Parse(strings.Fields(c.args)); err != nil && !strings.Contains(c.args, "sharegpt") {
			t.Fatalf("%s: %v", c.args, err)
		}
		demand := o.Load.Shape().Peak(c.requests)
		assert.Equal(t, o.Client.Ahead(demand), c.ahead, "%s: connections ahead", c.args)
		assert.Equal(t, planned(demand, o.Prompts.Needs().OutputLen), c.planned, "%s: plans", c.args)
	}
}
