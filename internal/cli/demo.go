package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"benchtop/internal/argv"
	"benchtop/internal/files"
	"benchtop/internal/prompts"
	"benchtop/internal/secret"
	"benchtop/internal/session"
	"benchtop/internal/simulator"
	"benchtop/internal/spec"
	"benchtop/internal/telemetry"
	"benchtop/internal/usage"
	"benchtop/metrics/judge"
)

const demoText = `
Starts a simulated server in a separate process and ramps the load until it saturates: time to first token
climbs once requests arrive faster than the server can serve them. Then a load below that is held.
The result is always saved. q ends the run and prints the report.`

// With these lengths the profiles of the simulated server say what they can do.
const (
	demoInput, demoOutput = 256, 64
	// A part of the input is the same in all prompts, so that the server's prefix cache has something to find.
	demoPrefix  = 64
	longestDemo = 12 * time.Hour
	// Its latency objectives, in milliseconds.
	demoTTFT, demoTPOT = 500, 50
	// Nearly every text model has these ids.
	demoVocabulary = 32000
)

// demoRamp goes from a rate without waits, in requests per second, across what the server can do at two thirds of the
// way: its capacity, and a tenth more thanks to the common prefix.
func demoRamp(p simulator.Profile) (from, to float64) {
	return math.Round(p.Capacity / 8), math.Round(p.Capacity * 1.6)
}

// demoOptions are what a demo lets its user choose; all else of it is a preset of serve.
type demoOptions struct {
	duration time.Duration
	seed     int64
	profile  string
	client   spec.Client
	save     files.Options
	noPlots  bool
	gpus     spec.GPUs
	screen   spec.Screen
	old      spec.Baseline
	flags    argv.Flags
}

func newDemoOptions() *demoOptions {
	o := &demoOptions{save: files.Options{Unasked: true}, flags: argv.Flags{Synopsis: "demo [flags]", Text: demoText}}
	f := o.flags.Group("Load")
	f.DurationVar(&o.duration, "duration", time.Minute,
		"length of the run: a ramp in its first half, the confirmation in the second")
	f.Int64Var(&o.seed, "seed", 0, "random seed, 0 to 4294967295")
	f.StringVar(&o.profile, "profile", simulator.Defaults().Name,
		"server to simulate: "+strings.Join(simulator.Names(), ", "))
	o.client.Define(o.flags.Group("Client"))
	f = o.flags.Group("Report")
	o.save.Define(f)
	f.BoolVar(&o.noPlots, "no-plots", false, "no text plots below the report")
	o.gpus.Define(o.flags.Group("Server and GPUs"))
	f = o.flags.Group("Screen")
	o.screen.Define(f)
	o.old.Define(f)
	return o
}

func (o *demoOptions) check() error {
	problems := usage.Problems{o.client.Check(), o.save.Check(), o.screen.Check(), o.gpus.Check()}
	problems.BadIf(o.duration < time.Second || o.duration > longestDemo, "--duration %s: must be from 1s to %s",
		o.duration, longestDemo)
	problems.BadIf(o.seed < 0 || o.seed > 1<<32-1, "--seed %d: seeds are from 0 to 4294967295", o.seed)
	if _, err := simulator.Named(o.profile); err != nil {
		problems.Bad("--profile %s: %w", usage.Quote(o.profile), err)
	}
	return errors.Join(problems...)
}

// parts are the length of the ramp and that of the confirmation, 0 for a demo that is too short for one.
func (o *demoOptions) parts() (ramp, confirm time.Duration) {
	if half := o.duration / 2; half >= judge.FirstLook {
		return o.duration - half, half
	}
	return o.duration, 0
}

// preset is the demo as a command line of serve, against a server that listens at url.
func (o *demoOptions) preset(p simulator.Profile, url string) (*spec.Spec, error) {
	from, to := demoRamp(p)
	ramp, confirm := o.parts()
	s := spec.New()
	values := []argv.Value{
		argv.To("base-url", url), argv.To("model", p.Model), argv.To("label", "demo"), argv.To("ignore-eos", true),
		argv.To("request-id-prefix", "demo-"), argv.To("dataset-name", "random"), argv.To("vocab-size", demoVocabulary),
		argv.To("random-input-len", demoInput-demoPrefix), argv.To("random-prefix-len", demoPrefix),
		argv.To("random-output-len", demoOutput), argv.To("ramp-up-strategy", "linear"),
		argv.To("ramp-up-start-rps", from), argv.To("ramp-up-end-rps", to), argv.To("ramp-over", ramp),
		argv.To("seed", o.seed), argv.To("goodput", fmt.Sprintf("ttft:%d tpot:%d", demoTTFT, demoTPOT)),
		argv.To("percentile-metrics", "ttft,tpot,itl,e2el"), argv.To("metric-percentiles", "50,90,99"),
	}
	if confirm > 0 {
		values = append(values, argv.To("confirm", confirm))
	}
	err := s.Take(values)
	s.Client, s.Save, s.Report.NoPlots, s.GPUs, s.Screen, s.Baseline = o.client, o.save, o.noPlots, o.gpus, o.screen,
		o.old
	if s.GPUs.Which == spec.GpuAuto {
		s.GPUs.Off = "the demo's server is simulated; --gpu all monitors the GPUs of this machine anyway"
	}
	return s, err
}

func runDemo(env *session.Environment, args []string) int {
	o := newDemoOptions()
	rest, err := env.Parse(&o.flags, args)
	if err := errors.Join(err, noArguments("demo", rest), o.check()); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	telemetry.TuneMemory()
	profile, _ := simulator.Named(o.profile) // checked
	var server *child
	defer func() {
		if server != nil {
			server.stop()
		}
	}()
	return env.Perform(&o.screen, []string{session.StepServer, prompts.StepPrompts},
		func(ctx context.Context) (p *session.Run, err error) {
			env.Step(session.StepServer)
			if server, err = startSimulator(o.profile, o.seed); err != nil {
				return nil, err
			}
			s, err := o.preset(profile, server.url)
			if err != nil {
				return nil, err
			}
			s.Command = secret.HideWords(append([]string{"demo"}, args...), nil)
			if p, err = session.Prepare(ctx, env, s); p != nil {
				p.Leave, p.Plan.Spec = server.stop, o.flags.Settings(o.flags.Values(), nil)
			}
			return p, err
		})
}

// startSimulator starts the simulated server in a process of its own, so that it cannot disturb the clocks of the
// client. It tells with each answer where the time went.
func startSimulator(profile string, seed int64) (*child, error) {
	return startChild("the simulated server", "simulate", "--port", "0", "--exit-with-stdin", "--request-metrics",
		"--profile", profile, fmt.Sprintf("--seed=%d", seed))
}
