package cli

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"benchtop/internal/argv"
	"benchtop/internal/files"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/prompts"
	"benchtop/internal/run/watch"
	"benchtop/internal/secret"
	"benchtop/internal/server"
	"benchtop/internal/telemetry"
	"benchtop/internal/usage"
	"benchtop/loadgen"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

const serveText = `
Load-tests a server and reports the latency its users would see. Takes the flags of 'vllm bench serve'.
On a terminal, a dashboard shows the run; q ends the run and prints the report.

  benchtop serve --model M --dataset-name random --num-prompts 200 --max-concurrency 16
  benchtop serve --backend openai-chat --dataset-name sharegpt --dataset-path s.json --request-rate 4
  benchtop serve --stages 8:30s,16:30s,32:1m --goodput ttft:500 tpot:50 --fail-on 'goodput<90%'

Exit codes, highest rank first: 130 aborted; 143 SIGTERM; 129 terminal lost; 1 run failed (more than half of
the requests failed, the server did not answer at the end, or the result was not written); 3 a --fail-on
condition is met; 0 success. The first Ctrl-C lets requests in flight finish and gives 0, 1 or 3. Wrong usage
gives 2. Measurements are saved however a run ends. --help=WORD lists the flags that mention WORD.`

func runServe(env *environment, args []string) int {
	o := newServeOptions()
	err := o.parse(args)
	env.warn(o.warnings)
	if err != nil {
		return env.fail(exitUsage, err)
	}
	if o.points.many() {
		o.save.Unasked = isTerminal(env.stdout)
		return runPoints(env, o, args)
	}
	if err := env.look(o); err != nil {
		return env.fail(exitUsage, err)
	}
	telemetry.TuneMemory()
	return env.perform(&o.screen, stepsOf(o), func(ctx context.Context) (*prepared, error) { return prepare(ctx, env, o) })
}

// look decides whether the result is saved unasked, and says why its files cannot be made.
func (e *environment) look(o *serveOptions) error {
	o.save.Unasked = isTerminal(e.stdout)
	return o.save.Look(o.report.timeline || o.report.datasetStats)
}

// The steps of a preparation, as the dashboard calls them.
const (
	stepBaseline    = "baseline"
	stepServer      = "server"
	stepConnections = "connections"
	stepCache       = "prefix cache"
	stepProfiler    = "profiler"
)

// stepsOf are the expected steps of the preparation.
func stepsOf(o *serveOptions) (steps []string) {
	add := func(due bool, name string) {
		if due {
			steps = append(steps, name)
		}
	}
	add(o.old.file != "", stepBaseline)
	add(true, stepServer)
	add(!o.prompts.Tokens.Skip, prompts.StepTokenizer)
	add(true, prompts.StepPrompts)
	add(o.server.Ready > 0, prompts.StepReady)
	add(o.load.warmups > 0, prompts.StepWarmups)
	add(o.server.Reset, stepCache)
	add(o.server.Profile && o.server.ProfileThreshold == 0, stepProfiler)
	return steps
}

// preparation makes a run from what is asked for: it asks the server, draws the prompts and the arrivals.
type preparation struct {
	*serveOptions
	env *environment
}

// prepare makes a run.
func prepare(ctx context.Context, env *environment, o *serveOptions) (*prepared, error) {
	return (&preparation{o, env}).prepare(ctx)
}

func (o *preparation) prepare(ctx context.Context) (_ *prepared, err error) {
	env := o.env
	old, err := loadBaseline(ctx, env, &o.old)
	if err != nil {
		return nil, err
	}
	client := o.server.Target.Client()
	ready := o.server.Patience(env)
	m, err := findModel(ctx, env, o.serveOptions, client, ready)
	if err != nil {
		return nil, err
	}
	odd, err := o.server.CheckServer(ctx, client, m, o.content.LoRA, o.content.Fields(o.fullLength()))
	if err != nil {
		return nil, err
	}
	env.warn(odd)
	o.notes = append(o.notes, odd...)
	streams := numpy.NewStreams(uint32(o.load.seed))
	times, err := o.times(streams.Legacy)
	if err != nil {
		return nil, err
	}
	fetching := prompts.NewPrefetchers()
	defer func() {
		if err != nil {
			fetching.Close()
		}
	}()
	drawing := prompts.Drawing{Options: &o.prompts, Server: &o.server, Client: client, Model: m, AskServer: true, Patience: ready,
		Draws: streams, IDPrefix: o.content.IDPrefix, To: env, GoesOn: o.load.confirm.time > 0}
	telemetry.SaveMemory() // nothing has to be punctual yet
	drawn, err := drawing.Draw(ctx, fetching, o.load.shape(), o.load.promptsGiven, o.load.searching())
	telemetry.TuneMemory()
	if err != nil {
		return nil, err
	}
	if err := drawn.Fit(o.prompts.Name, o.server.Protocol.Traits()); err != nil {
		return nil, err
	}
	if o.load.selfTimed {
		times = drawn.Times
	}
	drawn.Prioritize(o.content.Priorities, o.content.PriorityHeader, o.load.seed)
	drawn.Group(o.perRequest)
	env.Tell(drawn.Description)
	env.warn(drawn.Notes)
	salt, cold, err := o.content.Salt(m, drawn)
	if err != nil {
		return nil, err
	}
	load, conversations := o.loadOf(m, drawn, salt, times, streams)
	requests := drawn.Requests(conversations)
	demand := o.load.shape().Peak(conversations)
	ahead := o.client.ahead(demand)
	if err := checkLimits(max(ahead, demand.Streams)); err != nil {
		return nil, usage.Wrap(err)
	}
	beyond := calibrationWarnings(planned(demand, o.prompts.Needs().OutputLen))
	env.warn(beyond)
	p := &prepared{save: o.save, screen: o.screen, baseline: old, pictures: o.report.pictureOptions, fetching: fetching}
	p.pictures.arguments = o.arguments()
	p.Source, p.Load, p.Count, p.KeepGoing = drawn.Source, load, drawn.Tokenizing.CountAnswer(), o.load.keepGoing
	p.Notes = slices.Concat(o.warnings, o.notes, drawn.Notes, beyond)
	p.Remarks = slices.Concat(o.server.Remarks(), o.content.Remarks, drawn.Tokenizing.Remarks())
	p.Server = watch.NewServer(client, o.server.Target, watch.Profiling{On: o.server.Profile, Threshold: o.server.ProfileThreshold, Duration: time.Duration(o.server.ProfileDuration)}, o.server.Others...)
	p.Plan = o.plan(m, drawn, requests, &load)
	if cold == "" && o.server.Reset {
		cold = "cache reset (before the run)"
	}
	if p.Plan.Cache = cold; cold != "" {
		p.Remarks = append(p.Remarks, cold)
	}
	env.about(p.Plan)
	warmUp := prompts.WarmUp{Load: load, First: drawn.First, Patience: ready, Requests: o.load.warmups,
		Calibrate: o.prompts.Calibrate, Command: o.command, To: env}
	if err := o.rehearse(ctx, p, warmUp, client, ahead); err != nil {
		return nil, err
	}
	return p, nil
}

// rehearse does what comes right before the first request: the warm-ups, whose prompts must not stay in a cache that is to be empty,
// so many connections ahead, and what watches the run.
func (o *preparation) rehearse(ctx context.Context, p *prepared, warmUp prompts.WarmUp, client *http.Client, ahead int) error {
	env := o.env
	warmed, err := warmUp.Do(ctx, o.load.shape().Peak(0).Streams)
	env.warn(warmed)
	if err != nil {
		return err
	}
	if o.server.Reset {
		env.Step(stepCache)
		if err := o.server.ResetCache(ctx, client); err != nil {
			return err
		}
		env.Show("reset")
	}
	connections, missing := connect(ctx, env, &p.Load, ahead)
	p.Load.Connections = connections
	p.GPUs = watchedGPUs(ctx, &o.gpus, o.server.Target)
	if o.server.Profile && o.server.ProfileThreshold == 0 {
		env.Step(stepProfiler)
	}
	begun := p.Server.Begin(ctx)
	env.warn(begun)
	p.Notes = slices.Concat(p.Notes, warmed, missing, begun)
	return nil
}

// findModel asks the server for the model and shows the progress.
func findModel(ctx context.Context, env *environment, o *serveOptions, client *http.Client, ready *server.Patience) (server.Model, error) {
	about := metrics.Plan{ModelID: o.server.Model, Load: o.load.shape().Describe(o.prompts.Prompts)}
	o.server.Plan(&about)
	env.about(about)
	env.Step(stepServer)
	if o.server.Model == "" {
		env.Show("asking " + about.Address() + " for its models")
	} else {
		env.Show("connecting to " + about.Address())
	}
	m, err := o.server.Find(ctx, client, ready)
	if err == nil {
		err = o.server.ResetCache(ctx, client) // a server that cannot is refused before anything else is prepared
	}
	if err != nil {
		return m, err
	}
	env.Show("ready, model " + m.ID)
	about.ModelID = m.Root
	env.about(about)
	return m, nil
}

// times are the send times of a load that depends on time alone, nil for others. They set the number of prompts.
func (o *preparation) times(draws *numpy.Legacy) ([]time.Duration, error) {
	s, ok := o.load.shape().(shape.Timed)
	if !ok {
		return nil, nil
	}
	times := s.Times(draws)
	if len(times) == 0 {
		return nil, usage.Wrap(errors.New("no request would be sent: the rate is too low for the length of the run"))
	}
	if s.Requests() > 0 { // otherwise each row is sent
		o.prompts.Prompts = len(times)
	}
	return times, nil
}

// loadOf is the load of the run and its number of conversations.
func (o *preparation) loadOf(m server.Model, drawn prompts.Drawn, salt loadgen.Salt, times []time.Duration, streams *numpy.Streams) (loadgen.Options, int) {
	load := loadgen.Options{
		Model: m.ID, Salt: salt, Sharing: drawn.Sharing, InputSource: drawn.Tokenizing.Counted, CountText: drawn.Tokenizing.CountText(), KeepText: o.save.Detailed,
	}
	if !o.load.promptsGiven || o.load.confirm.time > 0 {
		load.More = drawn.More
	}
	o.server.Send(&load)
	o.content.Send(&load, o.fullLength(), streams.Python)
	o.client.send(&load)
	arrivals := o.load.shape().Arrivals(drawn.N, times, streams.Legacy)
	o.load.send(&load, arrivals)
	if load.Until == 0 && o.prompts.Conversations(drawn) != nil && !o.load.searching() {
		load.Until = o.load.shape().End() // later turns have no place in the schedule
	}
	return load, arrivals.Requests
}

// fullLength reports whether answers must have the length that is asked for.
func (o *serveOptions) fullLength() bool {
	return o.prompts.Needs().FullLength && o.server.Protocol.Traits().FullLength
}

// plan describes the run beforehand.
func (o *preparation) plan(m server.Model, drawn prompts.Drawn, requests int, load *loadgen.Options) metrics.Plan {
	p := metrics.Plan{
		Version: version(), Command: o.command,
		ModelID: m.Root, Context: m.Context, Tokenizer: drawn.Tokenizing.Name, SkipTokenizer: o.prompts.Tokens.Skip,
		Dataset: drawn.Description, InputSource: drawn.Tokenizing.Counted,
		IgnoreEOS: load.IgnoresEOS(), OptionalFields: load.Optional(&drawn.First.Turns[0]),
		Detailed: o.save.Detailed,
	}
	o.server.Plan(&p)
	o.report.plan(&p)
	o.gpus.plan(&p)
	o.client.plan(&p, o.server.Protocol)
	o.load.plan(&p, drawn.N, requests)
	if p.Conversations = o.prompts.Conversations(drawn); p.Conversations != nil {
		p.Conversations.Active = o.load.active
		p.Load = o.load.ofConversations(&p)
	}
	return p
}

// definitions are the measuring rules, for the readers of a result.
func definitions(of protocol.Protocol, stamps string) map[string]string {
	if !of.Traits().Streams {
		return map[string]string{
			"rule":    metrics.TimingRule,
			"e2el":    "from the first byte of the request to the last byte of the answer",
			"success": "status 200 and an answer in JSON with " + of.Traits().Member + ", and no error in it",
			"stamps":  describeStamps(stamps),
		}
	}
	return map[string]string{
		"rule":    metrics.TimingRule,
		"ttft":    "from the first byte of the request on an open connection to the first chunk. A chunk is " + of.Traits().Chunk,
		"itl":     "gap between two chunks, regardless of how many tokens each holds",
		"e2el":    "from the first byte of the request to the last chunk",
		"tpot":    "(e2el - ttft) / (output tokens - 1)",
		"success": "status 200, at least one chunk, " + of.Traits().Ending + ", and no error in the stream",
		"stamps":  describeStamps(stamps),
	}
}

// serveOptions are the flags of serve.
type serveOptions struct {
	server  server.Options
	content prompts.RequestOptions
	prompts prompts.Options
	load    loadOptions
	client  clientOptions
	report  reportOptions
	save    files.Options
	screen  screenOptions
	gpus    gpuOptions
	old     baselineOptions
	points  pointOptions
	// workload is the preset of serve.
	workload presetOptions
	// preset sets flags before they are checked; nil for nothing.
	preset func(all *pflag.FlagSet) usage.Problems
	// perRequest is the number of prompts in a request, as a list; 0 and 1 for one each.
	perRequest int
	// command is the command line without secrets, warnings are about likely mistakes in it.
	command  []string
	warnings []string
	notes    []string // about flags without effect, for the log
	flags    argv.Flags
}

// newServeOptions defines the flags. Names, defaults and meanings are vLLM's where vLLM has the flag.
func newServeOptions() *serveOptions {
	o := &serveOptions{flags: argv.Flags{Synopsis: "serve [flags]", Text: serveText}}
	o.workload.define(o.flags.Group("Workload"))
	o.define()
	o.preset = func(all *pflag.FlagSet) usage.Problems { return o.workload.apply(all, &o.points) }
	return o
}

// define adds the flags.
func (o *serveOptions) define() {
	o.server.Define(o.flags.Group("Server"))
	o.prompts.Define(&o.flags)
	o.content.Define(o.flags.Group("Requests"))
	o.load.define(o.flags.Group("Load"))
	o.points.define(o.flags.Group("Several runs"))
	o.client.define(o.flags.Group("Client"))
	report := o.flags.Group("Report")
	o.report.define(report)
	o.save.Define(report)
	o.gpus.define(o.flags.Group("Server and GPUs"))
	screen := o.flags.Group("Screen")
	o.screen.define(screen)
	o.old.define(screen)
	argv.DefineInert(o.flags.Group("Accepted without effect"), o.flags.All())
}

// parse reads a command line and checks everything that can be checked without the server.
func (o *serveOptions) parse(args []string) error {
	rest, warnings, err := o.flags.Parse(args)
	if errors.As(err, new(argv.Help)) {
		return err
	}
	all := o.flags.All()
	o.warnings = warnings
	problems := usage.Problems{err}
	if o.preset != nil {
		problems = append(problems, o.preset(all)...)
	}
	problems = append(problems, o.points.check()...)
	problems = append(problems, o.points.apply(all)...)
	o.points.name(&o.save)
	url := server.PositionalURL(rest)
	problems.BadIf(url != "", "%s takes no arguments; use --base-url %s", o.flags.Command(), url)
	problems.BadIf(url == "" && len(rest) > 0,
		"%s takes no arguments, got %q: 'vllm serve MODEL' starts a server, 'benchtop serve --model MODEL' loads one",
		o.flags.Command(), rest)
	problems = append(problems, o.server.Check()...)
	o.client.unstamped = o.server.Target != nil && o.server.Target.Local() && len(o.server.Others) == 0
	o.load.allRows = o.prompts.Needs().AllRows
	o.load.selfTimed = o.prompts.SelfTiming()
	problems = append(problems, o.load.check(all, o.report.within())...)
	problems = append(problems, o.content.Check(all, o.server.Protocol)...)
	o.server.Hide(o.content.Secrets())
	o.warnings = append(o.warnings, o.server.Warnings...)
	problems = append(problems, o.prompts.Check(all, o.load.shape(), o.load.seed, o.load.searching(), o.server.Protocol)...)
	o.report.workloads = o.prompts.Workloads()
	problems = append(problems, o.report.check(all, o.server.Protocol)...)
	o.report.add(o.points.extra)
	problems = append(problems, o.client.check(), o.save.Check(), o.screen.check(), o.gpus.check())
	problems.BadIf(o.screen.onHangup == hangupContinue && o.save.Never, "--on-hangup continue with --no-save: the result would be lost")
	o.command = secret.HideWords(append([]string{o.flags.Command()}, args...), o.server.Secrets())
	o.notes = slices.Concat(argv.InertNotes(all), o.prompts.LengthNotes(all), o.content.Notes)
	return errors.Join(problems...)
}
