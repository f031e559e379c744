package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"benchtop/datasets"
	"benchtop/datasets/numpy"
	"benchtop/internal/cli/argv"
	"benchtop/internal/cli/prompts"
	"benchtop/internal/cli/server"
	"benchtop/internal/files"
	"benchtop/internal/simulator"
	"benchtop/internal/telemetry"
	"benchtop/internal/usage"
	"benchtop/loadgen"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/shape"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

const demoText = `
Starts a simulated server in a process of its own and puts it under a load that grows until it saturates:
time to first token takes off when requests come faster than the server can serve them.
The result is always saved. q ends the run and keeps the report.`

// With these lengths the profiles of the simulated server say what they can do.
const (
	demoInput, demoOutput = 256, 64
	// A part of the input is the same in all prompts, so that the server's prefix cache has something to find.
	demoPrefix  = 64
	longestDemo = 12 * time.Hour
	// What its users would put up with, in milliseconds.
	demoTTFT, demoTPOT = 500, 50
)

// demoRamp goes from where nobody waits, in requests per second, across what the server can do at two thirds of the way: its
// capacity, and a tenth more thanks to the common prefix.
func demoRamp(p simulator.Profile) (from, to float64) {
	return math.Round(p.Capacity / 8), math.Round(p.Capacity * 1.6)
}

func runDemo(env *environment, args []string) int {
	flags := argv.Flags{Synopsis: "demo [flags]", Text: demoText}
	f := flags.Group("Load")
	duration := f.Duration("duration", time.Minute, "length of the ramp")
	seed := f.Int64("seed", 0, "seed of all draws, 0 to 4294967295")
	profile := f.String("profile", simulator.Defaults().Name, "which server to simulate: "+strings.Join(simulator.Names(), ", "))
	var client clientOptions
	client.define(flags.Group("Client"))
	f = flags.Group("Report")
	save := files.Options{Unasked: true}
	save.Define(f)
	noPlots := f.Bool("no-plots", false, "no text plots below the report")
	var gpus gpuOptions
	gpus.define(flags.Group("Server and GPUs"))
	var screen screenOptions
	var old baselineOptions
	f = flags.Group("Screen")
	screen.define(f)
	old.define(f)

	rest, err := env.parse(&flags, args)
	problems := []error{err, noArguments("demo", rest), client.check(), save.Check(), screen.check(), gpus.check()}
	if *duration < time.Second || *duration > longestDemo {
		problems = append(problems, fmt.Errorf("--duration %s: must be from 1s to %s", *duration, longestDemo))
	}
	if *seed < 0 || *seed > 1<<32-1 {
		problems = append(problems, fmt.Errorf("--seed %d: seeds are from 0 to 4294967295", *seed))
	}
	p, err := simulator.Named(*profile)
	if err != nil {
		problems = append(problems, fmt.Errorf("--profile %s: %w", usage.Quote(*profile), err))
	}
	if err := errors.Join(problems...); err != nil {
		return env.fail(exitUsage, err)
	}

	telemetry.TuneMemory()
	var simulated *child
	defer func() {
		if simulated != nil {
			simulated.stop()
		}
	}()
	return env.perform(&screen, []string{stepServer, prompts.StepPrompts}, func(ctx context.Context) (*session, error) {
		baseline, err := old.load(ctx, env)
		if err != nil {
			return nil, err
		}
		env.step(stepServer)
		if simulated, err = startSimulator(p.Name, *seed); err != nil {
			return nil, err
		}
		t, err := target.New(target.Options{BaseURL: simulated.url})
		if err != nil {
			return nil, err
		}
		if err := server.Reach(ctx, t); err != nil {
			return nil, err
		}
		env.show("simulated, model " + p.Model)

		env.step(prompts.StepPrompts)
		streams := numpy.NewStreams(uint32(*seed))
		from, to := demoRamp(p)
		ramp := metrics.Ramp{Strategy: "linear", From: from, To: to, Over: *duration}
		offsets := shape.NewTimedRamp(shape.Bounds{}, ramp, 1).Times(streams.Legacy)
		random := datasets.RandomDefaults()
		random.Prompts, random.InputLen, random.OutputLen = max(1, len(offsets)), demoInput-demoPrefix, demoOutput
		random.PrefixLen = demoPrefix
		random.Seed, random.IDPrefix, random.Vocabulary = *seed, "demo-", datasets.AssumedVocabulary()
		source, err := datasets.NewRandom(random, nil)
		if err != nil {
			return nil, err
		}
		env.show(source.Description())

		s := &session{env: env, source: source, save: save, screen: screen, leave: simulated.stop, noPlots: *noPlots, baseline: baseline, gpus: gpus}
		s.side = &sideline{client: t.Client(), target: t}
		if gpus.which == gpuAuto {
			s.gpus.off = "the demo's server is simulated; --gpu all watches the GPUs of this machine all the same"
		}
		s.load = loadgen.Defaults()
		s.load.Target, s.load.Model, s.load.InputSource = t, p.Model, metrics.TokensFromIDs
		s.load.Extra = []protocol.Field{{Name: "ignore_eos", JSON: "true"}}
		s.load.Schedule, s.load.KeepText = shape.At(offsets), save.Detailed
		s.load.More = func() (loadgen.Source, error) { return source.More()() }
		client.send(&s.load)
		s.connect(ctx, max(0, client.preconnect))
		s.plan = metrics.Plan{
			Version: version(), Command: argv.HideSecrets(append([]string{"demo"}, args...), nil),
			BaseURL: t.String(), Backend: s.load.Protocol.Traits().Name, Label: "demo", ModelID: p.Model,
			Dataset: source.Description(), InputSource: metrics.TokensFromIDs, Seed: *seed, IgnoreEOS: true,
			NumPrompts: len(offsets), Requests: len(offsets), Duration: *duration,
			Rate: metrics.Rate(math.Inf(1)), Burstiness: 1, Ramp: &ramp,
			Load:    fmt.Sprintf("ramp %v to %v req/s over %s", from, to, metrics.Duration(*duration)),
			Metrics: []metrics.Latency{metrics.TTFT, metrics.TPOT, metrics.ITL, metrics.E2EL}, Percentiles: []float64{50, 90, 99},
			Goodput:  metrics.SLO{{Metric: metrics.TTFT, LimitMS: demoTTFT}, {Metric: metrics.TPOT, LimitMS: demoTPOT}},
			Detailed: save.Detailed,
		}
		gpus.plan(&s.plan)
		client.plan(&s.plan, s.load.Protocol)
		env.about(s.plan)
		return s, nil
	})
}

// startSimulator starts the simulated server in a process of its own, so that it cannot disturb the clocks of the client. It
// tells with each answer where the time went.
func startSimulator(profile string, seed int64) (*child, error) {
	return startChild("the simulated server", "simulate", "--port", "0", "--exit-with-stdin", "--request-metrics", "--profile", profile, fmt.Sprintf("--seed=%d", seed))
}
