package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"time"

	"benchtop/datasets"
	"benchtop/datasets/numpy"
	"benchtop/export"
	"benchtop/internal/simulator"
	"benchtop/loadgen"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

const demoText = `
Starts a simulated server in a process of its own and puts it under a load that grows until it bends:
time to first token takes off when requests come faster than the server can serve them.
The result is always saved. q ends the run and keeps the report.`

// The demo's ramp crosses what the simulated server can do with these lengths, 31 requests/s, at two thirds.
const (
	demoInput, demoOutput = 256, 64
	demoFrom, demoTo      = 4, 44
	longestDemo           = 12 * time.Hour
	// What its users would put up with, in milliseconds.
	demoTTFT, demoTPOT = 500, 50
)

func runDemo(env *environment, args []string) int {
	var groups flagGroups
	f := groups.group("Load")
	duration := f.Duration("duration", time.Minute, "length of the ramp")
	seed := f.Int64("seed", 0, "seed of all draws, 0 to 4294967295")
	pacer := f.String("pacer", "", "how to wait for arrivals: "+strings.Join(loadgen.PacerKinds(), " or "))
	f = groups.group("Report")
	save := savingOptions{unasked: true}
	save.define(f)
	noPlots := f.Bool("no-plots", false, "no text plots below the report")
	var screen screenOptions
	screen.define(groups.group("Screen"))

	rest, warnings, err := parseFlags(groups.set(), args)
	env.warn(warnings)
	if asked := (errHelp{}); errors.As(err, &asked) {
		groups.help(env.stdout, "demo [flags]", demoText, asked.word)
		return exitFine
	}
	problems := []error{err, noArguments("demo", rest), save.check(), screen.check()}
	if *duration < time.Second || *duration > longestDemo {
		problems = append(problems, fmt.Errorf("--duration %s: must be from 1s to %s", *duration, longestDemo))
	}
	if *seed < 0 || *seed > 1<<32-1 {
		problems = append(problems, fmt.Errorf("--seed %d: seeds are from 0 to 4294967295", *seed))
	}
	if err := errors.Join(problems...); err != nil {
		return env.fail(exitUsage, err)
	}

	server, err := startSimulator(*seed)
	if err != nil {
		return env.fail(exitFailed, err)
	}
	defer server.stop()
	t, err := target.New(target.Options{BaseURL: server.url})
	if err != nil {
		return env.fail(exitFailed, err)
	}
	if err := reach(context.Background(), t); err != nil {
		return env.fail(exitFailed, err)
	}

	streams := numpy.NewStreams(uint32(*seed))
	ramp := metrics.Ramp{Strategy: "linear", From: demoFrom, To: demoTo, Over: *duration}
	offsets := loadgen.RampInTime(ramp, *duration, 1, streams.Legacy)
	random := datasets.RandomDefaults()
	random.Prompts, random.InputLen, random.OutputLen = max(1, len(offsets)), demoInput, demoOutput
	random.Seed, random.IDPrefix, random.Vocabulary = *seed, "demo-", datasets.AssumedVocabulary()
	source, err := datasets.NewRandom(random, nil)
	if err != nil {
		return env.fail(exitFailed, err)
	}

	s := &session{env: env, source: source, save: save, screen: screen, leave: server.stop, noPlots: *noPlots}
	s.load = loadgen.Defaults()
	s.load.Target, s.load.Model, s.load.InputSource = t, server.model, metrics.TokensFromIDs
	s.load.Extra = []loadgen.Field{{Name: "ignore_eos", JSON: "true"}}
	s.load.Schedule, s.load.Pacer, s.load.KeepText = loadgen.At(offsets), *pacer, save.detailed
	s.plan = metrics.Plan{
		Version: version(), Command: hideSecrets(append([]string{"demo"}, args...), nil),
		BaseURL: t.String(), Backend: string(s.load.Backend), Label: "demo", ModelID: server.model,
		Dataset: source.Description(), InputSource: metrics.TokensFromIDs, Seed: *seed, IgnoreEOS: true,
		NumPrompts: len(offsets), Requests: len(offsets), Duration: *duration,
		Rate: metrics.Rate(math.Inf(1)), Burstiness: 1, Ramp: &ramp,
		Load:    fmt.Sprintf("ramp %d to %d req/s over %s", demoFrom, demoTo, export.Duration(*duration)),
		Metrics: []string{metrics.TTFT, metrics.TPOT, metrics.ITL, metrics.E2EL}, Percentiles: []float64{50, 90, 99},
		Goodput:  metrics.SLO{{Metric: metrics.TTFT, LimitMS: demoTTFT}, {Metric: metrics.TPOT, LimitMS: demoTPOT}},
		Detailed: save.detailed, Definitions: definitions(),
	}
	return s.run()
}

// child is the simulated server in its own process, so that it cannot disturb the clocks of the client. It lives no longer
// than we do: its standard input is a pipe that closes with us, however we end.
type child struct {
	url, model string
	process    *exec.Cmd
	lifeline   interface{ Close() error }
}

func startSimulator(seed int64) (*child, error) {
	trouble := func(err error) error { return fmt.Errorf("starting the simulated server: %w", err) }
	self, err := os.Executable()
	if err != nil {
		return nil, trouble(err)
	}
	c := exec.Command(self, "simulate", "--port", "0", "--exit-with-stdin", fmt.Sprintf("--seed=%d", seed))
	detach(c)
	c.Stderr = os.Stderr
	lifeline, err := c.StdinPipe()
	if err != nil {
		return nil, trouble(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, trouble(err)
	}
	if err := c.Start(); err != nil {
		return nil, trouble(err)
	}
	s := &child{model: simulator.Defaults().Model, process: c, lifeline: lifeline}
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ok := strings.CutPrefix(line, listening)
	if err != nil || !ok {
		s.stop()
		return nil, trouble(fmt.Errorf("it said %q instead of its address", line))
	}
	s.url = strings.Fields(address)[0]
	return s, nil
}

// stop ends the server and waits for it. It may be called again.
func (c *child) stop() {
	_ = c.lifeline.Close()
	killer := time.AfterFunc(3*time.Second, func() { _ = c.process.Process.Kill() })
	defer killer.Stop()
	_ = c.process.Wait()
}
