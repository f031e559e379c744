package cli

import (
	"time"

	"benchtop/internal/run"
	"benchtop/internal/simulator"
	"benchtop/metrics"
)

// scenario is a run in virtual time against a simulated server.
type scenario struct {
	name string
	args []string // of serve
	// server changes the profile of the server, which is slowed down by a factor of four before; nil changes nothing.
	server func(*simulator.Profile)
	faults []string
	// acts are commands at some moments of the run. No moment is one at which something happens by itself.
	acts []act
	// killed is when the process dies, 0 for a run that ends.
	killed time.Duration
}

type act struct {
	at time.Duration
	do func(*run.Run)
}

func order(at time.Duration, o metrics.Command) act {
	return act{at, func(s *run.Run) { s.Command(o) }}
}

func objectivesAt(at time.Duration, slo ...metrics.Objective) act {
	return act{at, func(s *run.Run) { s.Command(metrics.Command{Do: metrics.SetObjectives, Objectives: slo}) }}
}

const msec = time.Millisecond

// scenarios cover each kind of load and each way to end. Their gaps between arrivals are random, so that no two things
// happen at one instant that could swap.
func scenarios() []scenario {
	const slo = "ttft:400"
	return []scenario{
		{
			name: "ramp",
			args: []string{"--ramp-up-strategy", "linear", "--ramp-up-start-rps", "2", "--ramp-up-end-rps", "14",
				"--ramp-over", "10s",
				"--random-prefix-len", "64", "--goodput", slo, "tpot:150", "e2el:3000", "--seed", "1",
				"--save-detailed",
				"--fail-on", "goodput<20%", "--probe-request-rate", "1.3"},
			server: func(p *simulator.Profile) { p.RequestMetrics = true },
		},
		{
			name: "stages",
			args: []string{"--stages", "3:4s,6:4s,12:4s", "--warmup", "2s", "--goodput", slo, "tpot:120", "--seed", "2",
				"--random-range-ratio", "0.5"},
		},
		{
			name: "search",
			args: []string{"--find", "--find-from", "8", "--find-most", "24", "--find-step", "1s", "--find-hold", "2s",
				"--goodput", "ttft:900", "--seed", "7"},
		},
		{
			name: "users",
			args: []string{"--max-concurrency", "6", "--num-prompts", "72", "--goodput", slo, "tpot:100", "--seed", "4",
				"--metric-percentiles", "50,99", "--steady-state-min-window", "2s", "--backend", "openai-chat"},
			server: func(p *simulator.Profile) { p.RequestMetrics, p.SpecTokens = true, 2 },
		},
		{
			name:   "killed",
			args:   []string{"--request-rate", "6", "--num-prompts", "80", "--goodput", slo, "--seed", "5"},
			killed: 7_310 * msec,
		},
		{
			name: "faults",
			args: []string{"--request-rate", "9", "--num-prompts", "90", "--max-concurrency", "12", "--goodput", slo,
				"e2el:2500", "--seed", "6"},
			faults: []string{"status=503,every=7", "reset,after=4,every=9", "truncate,after=6,every=11",
				"error-in-stream,after=3,every=13",
				"close-header,from=20,to=21", "no-usage,every=17"},
		},
		{
			name: "cancelled",
			args: []string{"--request-rate", "8", "--num-prompts", "400", "--goodput", slo, "--seed", "7"},
			acts: []act{
				{4_870 * msec, func(s *run.Run) { s.Command(metrics.Command{Do: metrics.Drain}) }},
				{5_130 * msec, func(s *run.Run) { s.Command(metrics.Command{Do: metrics.Abort}) }},
			},
		},
		{
			name: "habits",
			args: []string{"--request-rate", "7", "--num-prompts", "80", "--goodput", slo, "e2el:2500", "--seed", "10",
				"--abandon", "25%,ttft>1700ms", "--retry", "backoff,tries=3,most=4s", "--read-rate", "9tok/s"},
			faults: []string{"status=429,share=0.3", "status=503,share=0.1", "stall=9s,after=0,every=13"},
		},
		{
			name: "steered",
			args: []string{"--request-rate", "5", "--duration", "16s", "--goodput", slo, "--seed", "8"},
			acts: []act{
				order(3_170*msec, metrics.Command{Do: metrics.SetLoad, Value: 9}),
				objectivesAt(4_630*msec, metrics.Objective{Metric: metrics.TTFT, LimitMS: 250},
					metrics.Objective{Metric: metrics.TPOT, LimitMS: 90}),
				order(6_290*msec, metrics.Command{Do: metrics.Pause}),
				order(8_410*msec, metrics.Command{Do: metrics.Resume}),
				order(10_070*msec, metrics.Command{Do: metrics.RampLoad, Value: 3, Over: 3 * time.Second}),
				objectivesAt(14_710 * msec),
			},
		},
		{
			name: "steered-users",
			args: []string{"--concurrency-stages", "2:4100ms,4:8s", "--goodput", slo, "--seed", "9"},
			acts: []act{
				order(2_370*msec, metrics.Command{Do: metrics.Pause}),
				order(3_130*msec, metrics.Command{Do: metrics.Resume}),
				order(6_590*msec, metrics.Command{Do: metrics.SetLoad, Value: 7}),
				order(8_830*msec, metrics.Command{Do: metrics.RampLoad, Value: 2, Over: 2 * time.Second}),
			},
		},
		{
			name: "answers",
			args: []string{"--stages", "1:5s,5:10s", "--goodput", slo, "--seed", "10", "--random-input-len", "600",
				"--random-output-len", "50", "--check-answers", "6", "--fail-on", "changed_answers>1%"},
			faults: []string{"loop=4,after=3"},
		},
	}
}

// common are the flags that all scenarios have.
func (c *scenario) common(dir string) []string {
	return append([]string{"--base-url", "http://simulated:80", "--vocab-size", "3000", "--random-input-len", "96",
		"--random-output-len", "12",
		"--request-id-prefix", "r", "--gpu", "none", "--timestamps", metrics.UserStamps, "--pacer", "timer",
		"--save-result", "--result-dir", dir, "--result-filename", "run.json", "--label", c.name}, c.args...)
}

// profile is the server of a scenario.
func (c *scenario) profile() (simulator.Profile, error) {
	p := simulator.Defaults()
	p.StepBase, p.PrefillToken, p.DecodeSequence, p.ContextToken = 4*p.StepBase, 4*p.PrefillToken, 4*p.DecodeSequence,
		4*p.ContextToken
	p.MaxSequences = 8
	if c.server != nil {
		c.server(&p)
	}
	for _, text := range c.faults {
		f, err := simulator.ParseFault(text)
		if err != nil {
			return p, err
		}
		p.Faults = append(p.Faults, f)
	}
	return p, p.Validate()
}
