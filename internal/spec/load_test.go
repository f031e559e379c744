package spec

import (
	"fmt"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/loadgen"
	"benchtop/metrics"
)

// Flags make the load that they ask for, beside any other flags.
func TestShape(t *testing.T) {
	const ramp = "--ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 2"
	const trace = "--dataset-name timed_trace --dataset-path load_test.go "
	for args, want := range map[string]string{
		"":                                  "shape.Rate all at once",
		"--request-rate 5 --duration 4s":    "shape.Rate 5 req/s (Poisson)",
		"--max-concurrency 4":               "shape.Rate all at once, at most 4 in flight",
		"--max-concurrency 4 --duration 4s": "shape.Users closed loop of 4 users for 4s",
		"--stages 4:1s --max-concurrency 4": "shape.Stages stages of 4 req/s, at most 4 in flight",
		"--concurrency-stages 4:1s,9:1s":    "shape.UserStages stages of 4, 9 users",
		"--find --goodput ttft:500 tpot:50": "shape.Search search 1 to 1000 req/s for the highest load within " +
			"ttft:500, tpot:50 (ms), held for 2m",
		trace + "--request-rate 5":                  "shape.Trace at the times of the trace",
		trace + "--no-self-timed --request-rate 5":  "shape.Rate 5 req/s (Poisson)",
		trace + "--max-concurrency 4 --duration 4s": "shape.Trace at the times of the trace, at most 4 in flight",
		ramp:                     "shape.Ramp linear ramp 1 to 2 req/s over 7 requests",
		ramp + " --ramp-over 1m": "shape.TimedRamp linear ramp 1 to 2 req/s over 1m",
	} {
		o := New()
		assert.Fails(t, args, o.Parse(strings.Fields(args)), "")
		s := o.Load.Shape()
		assert.Equal(t, fmt.Sprintf("%T %s", s, s.Describe(7, metrics.RequestsPerSecond)), want, "%s", args)
	}
}

// Each limit holds by itself, also where both have the same value.
func TestLimitsOfConversations(t *testing.T) {
	for args, want := range map[string][2]int{
		"":                             {0, 0},
		"--max-concurrency 4":          {4, 0},
		"--multi-turn-concurrency 4":   {4, 0},
		"--max-active-conversations 4": {0, 4},
		"--max-concurrency 4 --max-active-conversations 4":           {4, 4},
		"--multi-turn-concurrency 2 --max-active-conversations 2":    {2, 2},
		"--max-active-conversations 4 --duration 4s --num-prompts 8": {0, 4},
	} {
		o := New()
		assert.Fails(t, args, o.Parse(strings.Fields("--multi-turn --backend openai-chat "+args)), "")
		load, bounds := loadgen.Options{Protocol: o.Server.Protocol}, o.Load.Shape()
		o.Load.Send(&load, bounds.Arrivals(8, nil, nil))
		assert.Equal(t, [2]int{load.Limit, load.Active}, want, "%s: at most requests and conversations", args)
	}
}

// The time of a confirmation may be left out.
func TestConfirmTime(t *testing.T) {
	for args, want := range map[string]string{
		"":                             "",
		"--confirm":                    "2m",
		"--confirm 90s":                "1m30s",
		"--confirm=90s --confirm":      "2m",
		"--confirm --confirm 5m":       "5m",
		"--confirm --num-prompts 3000": "2m",
	} {
		o := New()
		if err := o.Parse(
			strings.Fields("--model m --ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 9 " +
				"--goodput ttft:500 " + args)); err != nil || o.Load.Confirm.String() != want {
			t.Errorf("%s: %s, %v; want %s", args, &o.Load.Confirm, err, want)
		}
	}
}

// A share of hits has all prompts begin with a prefix that only this run has.
func TestCacheHit(t *testing.T) {
	for text, want := range map[string]string{"60%": "0.6", "0.25": "0.25", "60% --random-input-len 100 " +
		"--random-cache-block 16": "0.6"} {
		o := New()
		assert.Fine(t, o.Parse(strings.Fields("--cache-hit "+text)))
		if got := o.Flags.All().Lookup("random-cache-ratio").Value.String(); got != want || !o.Request.Cold() {
			t.Errorf("%s: a prefix of %s, cold: %t", text, got, o.Request.Cold())
		}
	}
}

// A user's flags replace those of a preset.
func TestPreset(t *testing.T) {
	o := New()
	assert.Fine(t, o.Parse(
		strings.Fields("--preset prefix-caching --random-input-len 99 --num-prompts 7 --no-control")))
	if o.Series.Many() || o.Load.Prompts != 7 || o.Flags.All().Changed("random-isl-dist") || !o.Request.Cold() {
		t.Errorf("many %v, %d prompts", o.Series.Many(), o.Load.Prompts)
	}
}
