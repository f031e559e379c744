package session

import (
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"time"

	"benchtop/internal/answers"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/prometheus"
	"benchtop/internal/prompts"
	"benchtop/internal/run/watch"
	"benchtop/internal/server"
	"benchtop/internal/spec"
	"benchtop/internal/telemetry"
	"benchtop/internal/usage"
	"benchtop/loadgen"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// Look decides whether the result is saved unasked, and says why its files cannot be made.
func (e *Environment) Look(o *spec.Spec) error {
	o.Save.Unasked = e.SavesUnasked()
	return o.Save.Look(o.Report.Timeline || o.Report.Page || o.Report.DatasetStats || len(o.Report.Formats) > 0)
}

// The steps of a preparation, as the dashboard calls them.
const (
	stepBaseline    = "baseline"
	StepServer      = "server"
	stepConnections = "connections"
	stepCache       = "prefix cache"
	stepProfiler    = "profiler"
	stepWorkers     = "workers"
	stepAnswers     = "known answers"
)

// StepsOf are the expected steps of the preparation.
func StepsOf(o *spec.Spec) (steps []string) {
	add := func(due bool, name string) {
		if due {
			steps = append(steps, name)
		}
	}
	add(o.Baseline.File != "", stepBaseline)
	add(true, StepServer)
	add(!o.Prompts.Tokens.Skip, prompts.StepTokenizer)
	add(true, prompts.StepPrompts)
	add(o.Server.Ready > 0, prompts.StepReady)
	add(o.Load.Warmups > 0, prompts.StepWarmups)
	add(o.Load.Answers > 0, stepAnswers)
	add(o.Server.Reset, stepCache)
	add(o.Server.Profile && o.Server.ProfileThreshold == 0, stepProfiler)
	add(o.Fleet.Size > 0, stepWorkers)
	return steps
}

// openPage opens the page of the figures of a run, nil where none is asked for.
func openPage(env *Environment, at string) (*prometheus.Page, error) {
	if at == "" {
		return nil, nil
	}
	page, err := prometheus.Listen(at)
	switch {
	case err != nil:
		return nil, usage.Wrap(err)
	case page.Public:
		env.Warn([]string{page.String()})
	default:
		env.Tell(page.String())
	}
	return page, nil
}

// preparation makes a run from what is asked for: it asks the server, draws the prompts and the arrivals. Each step
// fills its fields.
type preparation struct {
	*spec.Spec
	env      *Environment
	client   *http.Client
	patience *server.Patience
	streams  *numpy.Streams
	fetching *prompts.Prefetchers

	model   server.Model
	watched *watch.Server   // nil where another machine does that
	times   []time.Duration // of a load that depends on time alone or on a trace, else nil
	drawn   *prompts.Supply
	ahead   int // connections to open before the run
}

// Prepare makes a run.
func Prepare(ctx context.Context, env *Environment, o *spec.Spec) (*Run, error) {
	old, err := LoadBaseline(ctx, env, &o.Baseline)
	if err != nil {
		return nil, err
	}
	page, err := openPage(env, o.Report.Prometheus)
	if err != nil {
		return nil, err
	}
	p := &preparation{
		Spec: o, env: env, client: o.Server.Target.Client(), patience: o.Server.Patience(env),
		streams: numpy.NewStreams(uint32(o.Load.Seed)), fetching: prompts.NewPrefetchers(),
	}
	run, err := p.prepare(ctx)
	if err != nil {
		p.fetching.Close()
		p.client.CloseIdleConnections()
		page.Close()
		return nil, err
	}
	run.baseline, run.page = old, page
	if page != nil {
		run.Remarks = append(run.Remarks, page.String())
	}
	return run, nil
}

func (o *preparation) prepare(ctx context.Context) (p *Run, err error) {
	if err := o.ask(ctx); err != nil {
		return nil, err
	}
	if o.times, err = o.sendTimes(); err != nil {
		return nil, err
	}
	if err := o.draw(ctx); err != nil {
		return nil, err
	}
	if p, err = o.run(); err != nil {
		return nil, err
	}
	return p, o.rehearse(ctx, p)
}

// ask finds the model and checks that the server can do what is asked for.
func (o *preparation) ask(ctx context.Context) (err error) {
	if o.model, err = FindModel(ctx, o.env, o.Spec, o.client, o.patience); err != nil {
		return err
	}
	odd, err := o.Server.CheckServer(ctx, o.client, o.model, o.Request.LoRA, o.Request.Fields(o.FullLength()))
	if err != nil {
		return err
	}
	if o.Load.Leads() {
		pages := watch.Pages{At: o.Server.Pages.Targets, Apart: o.Server.Pages.Apart()}
		o.watched = watch.NewServer(o.client, o.Server.All(), pages, watch.Profiling{
			On: o.Server.Profile, Threshold: o.Server.ProfileThreshold,
			Duration: time.Duration(o.Server.ProfileDuration),
		})
		notes, err := o.watched.Check(ctx)
		if err != nil {
			return err
		}
		odd = append(odd, notes...)
	}
	o.env.Warn(odd)
	o.Notes = append(o.Notes, odd...)
	return nil
}

// draw draws the prompts.
func (o *preparation) draw(ctx context.Context) (err error) {
	drawing := prompts.Drawing{
		Options: &o.Prompts, Server: &o.Server, Client: o.client, Model: o.model, AskServer: true, Patience: o.patience,
		Draws: o.streams, IDPrefix: o.Request.IDPrefix, To: o.env, GoesOn: o.Load.Confirm.Time > 0,
	}
	o.drawn, err = drawing.Draw(ctx, o.fetching, o.Load.Shape(), o.Load.PromptsGiven, o.Load.Searching())
	telemetry.TuneMemory()
	if err != nil {
		return err
	}
	if err := o.drawn.Fit(o.Prompts.Name, o.Server.Protocol.Traits()); err != nil {
		return err
	}
	if o.Load.SelfTimed {
		o.times = o.drawn.Times()
	}
	o.drawn.Prioritize(o.Request.Priorities, o.Request.PriorityHeader, o.Load.Seed)
	o.drawn.Group(o.PerRequest)
	o.env.Tell(o.drawn.About)
	o.env.Warn(o.drawn.Notes)
	return nil
}

// run is the run of what was drawn, with its plan.
func (o *preparation) run() (*Run, error) {
	env, drawn := o.env, o.drawn
	salt, cold, err := o.Request.Salt(o.model, drawn)
	if err != nil {
		return nil, err
	}
	load, conversations := o.loadOf(salt)
	requests := drawn.Requests(conversations)
	demand := o.Load.Shape().Peak(conversations).Share(o.Load.Part.Part)
	if o.ahead = o.Client.Ahead(demand); o.Fleet.Size > 0 {
		demand, o.ahead = shape.Demand{}, 0 // of the other machines
	}
	if err := spec.CheckLimits(max(o.ahead, demand.Streams), o.Server.Target.Sources()); err != nil {
		return nil, usage.Wrap(err)
	}
	beyond := CalibrationWarnings(planned(demand, o.Prompts.Needs().OutputLen))
	if salt.Mode != loadgen.NoSalt && !salt.PerRequest && o.Load.Part.N > 1 {
		beyond = append(beyond, "each machine has a salt of its own: what its prompts share with those of others does "+
			"not hit the prefix cache")
	}
	env.Warn(beyond)
	p := &Run{Save: o.Save, Screen: o.Screen, Plots: o.Report.Pictures, fetching: o.fetching}
	p.Plots.Arguments = o.Arguments
	p.Prompts, p.Load, p.Count, p.KeepGoing = drawn.Flow, load, drawn.Tokenizing.CountAnswer(), o.Load.KeepGoing
	p.Notes = slices.Concat(o.Warnings, o.Notes, drawn.Notes, beyond)
	p.Remarks = slices.Concat(o.Server.Remarks(), o.Request.Remarks, drawn.Tokenizing.Remarks())
	p.Server = o.watched
	p.Plan = o.plan(requests, &load)
	if o.Load.Answers > 0 {
		p.Plan.Finishes = load.Protocol.Traits().Finishes
		plan := p.Plan
		p.Load.Garbage = plan.Garbage
	}
	host, _ := os.Hostname()
	p.Worker = metrics.Worker{Part: p.Plan.Part.K, Host: host, Bound: metrics.Never}
	if cold == "" && (o.Server.Reset || o.Server.ResetElsewhere) {
		cold = "cache reset (before the run)"
	}
	if p.Plan.Cache = cold; cold != "" {
		p.Remarks = append(p.Remarks, cold)
	}
	env.About(p.Plan)
	return p, nil
}

// rehearse does what comes right before the first request: the warm-ups, whose prompts must not stay in a cache that is
// to be empty, so many connections ahead, and what watches the run.
func (o *preparation) rehearse(ctx context.Context, p *Run) error {
	env := o.env
	warmUp := prompts.WarmUp{
		Load: p.Load, First: o.drawn.First, Patience: o.patience, Requests: o.Load.Warmups,
		Calibrate: o.Prompts.Calibrate, Command: o.Command, To: env,
	}
	warmed, err := warmUp.Do(ctx, o.Load.Shape().Peak(0).Streams)
	env.Warn(warmed)
	if err != nil {
		return err
	}
	if n := o.Load.Answers; n > 0 {
		env.Step(stepAnswers)
		p.Answers = answers.New(p.Load, o.Request.LoRA, n, o.Load.Seed)
		if note := p.Answers.Alone(ctx, func(done, total int) { env.Count(done, total, "") }); note != "" {
			warmed = append(warmed, note)
			env.Warn([]string{note})
		}
	}
	if o.Server.Reset {
		env.Step(stepCache)
		if err := o.Server.ResetCache(ctx, o.client); err != nil {
			return err
		}
		env.Show("reset")
	}
	if o.CacheHit.Share > 0 {
		words, ok := prompts.Prime(ctx, p.Load, o.drawn.Prefix, o.Request.LoRA)
		if !ok {
			p.Notes = append(p.Notes, words+"; --cache-hit is not reached")
			env.Warn(p.Notes[len(p.Notes)-1:])
		} else {
			p.Remarks = append(p.Remarks, words)
			env.Show(words)
		}
	}
	missing := connect(ctx, env, &p.Load, o.ahead)
	p.Notes = slices.Concat(p.Notes, warmed, missing)
	if p.Server == nil {
		p.GPUs = watch.GPUs{Off: "another machine of the run monitors them"}
		return nil
	}
	p.GPUs = watchedGPUs(ctx, &o.GPUs, o.Server.Target)
	if o.Server.Profile && o.Server.ProfileThreshold == 0 {
		env.Step(stepProfiler)
	}
	begun := p.Server.Begin(ctx)
	env.Warn(begun)
	p.Notes = append(p.Notes, begun...)
	if o.Fleet.Size > 0 {
		return o.muster(ctx, p)
	}
	return nil
}

// FindModel asks the server for the model and shows the progress.
func FindModel(ctx context.Context, env *Environment, o *spec.Spec, client *http.Client,
	ready *server.Patience) (server.Model, error) {
	load := o.Load.Shape().Describe(o.Prompts.Prompts, metrics.RequestsPerSecond)
	about := metrics.Plan{ModelID: o.Server.Model, Load: load}
	o.Server.Plan(&about)
	env.About(about)
	env.Step(StepServer)
	if o.Server.Model == "" {
		env.Show("asking " + about.Address() + " for its models")
	} else {
		env.Show("connecting to " + about.Address())
	}
	m, err := o.Server.Find(ctx, client, ready)
	if err == nil {
		err = o.Server.ResetCache(ctx, client) // a server that cannot is refused before anything else is prepared
	}
	if err != nil {
		return m, err
	}
	env.Show("ready, model " + m.ID)
	about.ModelID = m.Root
	env.About(about)
	return m, nil
}

// sendTimes are those of a load that depends on time alone, nil for others. They set the number of prompts.
func (o *preparation) sendTimes() ([]time.Duration, error) {
	s, ok := o.Load.Shape().(shape.Timetable)
	if !ok {
		return nil, nil
	}
	times := s.Times(o.streams.Legacy)
	if len(times) == 0 {
		return nil, usage.Wrap(errors.New("no request would be sent: the rate is too low for the length of the run"))
	}
	if s.Requests() > 0 { // otherwise each row is sent
		o.Prompts.Prompts = len(times)
	}
	return times, nil
}

// loadOf is the load of the run and its number of conversations.
func (o *preparation) loadOf(salt loadgen.Salt) (loadgen.Options, int) {
	drawn := o.drawn
	load := loadgen.Options{
		Model: o.model.ID, Salt: salt, Sharing: drawn.Sharing, InputSource: drawn.Tokenizing.Counted,
		CountText: drawn.Tokenizing.CountText(), KeepText: o.Save.Detailed,
		GroupHeaders: o.Report.GroupHeaders, EchoHeader: o.Prompts.EchoHeader(),
	}
	if o.Load.PromptsGiven && o.Load.Confirm.Time == 0 {
		drawn.More = nil
	}
	if o.Load.Part.Split() { // it does not see the prompts of the others
		load.Sharing = nil
	}
	o.Server.Send(&load)
	o.Request.Send(&load, o.FullLength(), o.streams.Python)
	o.Client.Send(&load)
	arrivals := o.Load.Shape().Arrivals(drawn.Count(), o.times, o.streams.Legacy)
	o.Load.Send(&load, arrivals)
	if load.Until == 0 && o.Prompts.Conversations(drawn) != nil && !o.Load.Searching() {
		load.Until = o.Load.Shape().End() // later turns have no place in the schedule
	}
	return load, arrivals.Requests
}

// plan describes the run beforehand.
func (o *preparation) plan(requests int, load *loadgen.Options) metrics.Plan {
	m, drawn := o.model, o.drawn
	p := metrics.Plan{
		Version: Version(), Command: o.Command, Spec: o.Settings(),
		ModelID: m.Root, Context: m.Context, Tokenizer: drawn.Tokenizing.Name, SkipTokenizer: o.Prompts.Tokens.Skip,
		Dataset: drawn.About, LeftOut: drawn.LeftOut, InputSource: drawn.Tokenizing.Counted,
		IgnoreEOS: load.IgnoresEOS(), OptionalFields: load.Optional(&drawn.First.Turns[0]),
		Detailed: o.Save.Detailed, CacheHit: o.CacheHit.Share,
	}
	o.Server.Plan(&p)
	o.Request.Plan(&p)
	o.Report.Plan(&p)
	o.GPUs.Plan(&p)
	o.Preset.Plan(&p)
	o.Client.Plan(&p, o.Server.Protocol)
	if p.Conversations = o.Prompts.Conversations(drawn); p.Conversations != nil {
		p.Conversations.Active = o.Load.Active
	}
	o.Load.Plan(&p, drawn.Count(), requests)
	return p
}
