package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"benchtop/datasets"
	"benchtop/datasets/numpy"
	"benchtop/datasets/tokenizer"
	"benchtop/export"
	"benchtop/internal/telemetry"
	"benchtop/loadgen"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

const serveText = `
Loads a server and reports what its users would feel. The flags are those of 'vllm bench serve'.
On a terminal a dashboard shows the run; q ends it and keeps the report.

  benchtop serve --model M --dataset-name random --num-prompts 200 --max-concurrency 16
  benchtop serve --backend openai-chat --dataset-name sharegpt --dataset-path s.json --request-rate 4
  benchtop serve --stages 8:30s,16:30s,32:1m --goodput ttft:500 tpot:50 --fail-on 'goodput<90%'

Exit codes: 0 fine, also after one Ctrl-C, which lets requests in flight finish; 1 the run failed,
2 wrong usage, 3 a condition of --fail-on holds, 129 the terminal was lost, 130 aborted, 143 SIGTERM.
Whatever ends a run, what was measured is kept. --help=WORD shows only what has to do with a word.`

func runServe(env *environment, args []string) int {
	o := newServeOptions()
	err := o.parse(args)
	if asked := (errHelp{}); errors.As(err, &asked) {
		o.groups.help(env.stdout, "serve [flags]", serveText, asked.word)
		return exitFine
	}
	env.warn(o.warnings)
	if err != nil {
		return env.fail(exitUsage, err)
	}
	o.save.unasked = isTerminal(env.stdout)
	telemetry.TuneMemory()
	old, err := o.old.load(env)
	if err != nil {
		return env.fail(exitUsage, err)
	}

	// Until the run starts, a signal simply ends the program.
	signals := watchSignals()
	ctx, stop := untilSignal(signals, o.screen.onHangup == hangupContinue)
	s, err := o.prepare(ctx, env)
	sig, lost := stop()
	if sig != nil {
		if s != nil {
			s.closeSide()
		}
		return env.fail(signalCode(sig), fmt.Errorf("stopped before the first request (%s)", sig))
	}
	if err != nil {
		var usage usageError
		if errors.As(err, &usage) {
			return env.fail(exitUsage, err)
		}
		return env.fail(exitFailed, err)
	}
	s.signals, s.lost, s.baseline = signals, lost, old
	return s.run()
}

// prepare turns options into a session: it looks at the server, draws the prompts and the arrivals.
func (o *serveOptions) prepare(ctx context.Context, env *environment) (*session, error) {
	t := o.server.target
	client := t.Client()
	ready := o.server.readiness(env)
	m, err := o.server.find(ctx, client, ready)
	if err != nil {
		return nil, err
	}

	streams := numpy.NewStreams(uint32(o.load.seed))
	var offsets []time.Duration
	if o.load.inTime() {
		if offsets = o.load.arrivals(streams.Legacy); len(offsets) == 0 {
			return nil, usageError{errors.New("not one request would be sent: the rate is too low for the length of the run")}
		}
		o.prompts.random.Prompts, o.prompts.sharegpt.Prompts = len(offsets), len(offsets)
	}
	prompts, err := o.draw(ctx, client, t, m, streams)
	if err != nil {
		return nil, err
	}
	source, first, err := peek(prompts.source)
	if err != nil {
		return nil, usageError{err}
	}

	s := &session{env: env, source: source, save: o.save, screen: o.screen}
	s.notes, s.remarks = slices.Concat(o.warnings, o.notes, prompts.notes), o.content.remarks
	s.load = loadgen.Options{
		Target: t, Endpoint: o.server.endpoint, Backend: loadgen.Backend(o.server.backend), Model: m.id,
		Extra: o.content.bodyFields(o.prompts.ignoreEOS), InputSource: prompts.counted, Pacer: o.client.pacer, Timestamps: o.client.source(),
		ProbeRate: o.load.probeRate, Probe: datasets.Turn{Text: "Hi", InputTokens: 1, MaxTokens: 1},
		Drain: o.load.drain, StallTimeout: o.load.stall, RequestTimeout: o.load.timeout, KeepText: o.save.detailed,
	}
	if !o.load.promptsGiven {
		s.load.More = prompts.more
	}
	requests := o.load.schedule(&s.load, prompts.n, offsets, streams.Legacy)
	switch {
	case len(o.content.lora) == 0:
	case o.content.loraAssignment == "random":
		s.load.ModelFor = loadgen.RandomModels(o.content.lora, streams.Python)
	default:
		s.load.ModelFor = loadgen.RoundRobinModels(o.content.lora)
	}
	ahead := o.client.ahead(&o.load, requests)
	if err := room(max(ahead, o.load.atOnce(requests))); err != nil {
		return nil, usageError{err}
	}
	beyond := calibrationWarnings(o.load.heaviest(requests, o.prompts.outputs()))
	env.warn(beyond)
	s.notes = append(s.notes, beyond...)
	s.plan = o.plan(m, prompts, requests)
	s.charts = chartOptions{o.report.timeline, o.report.parsedThresholds, o.report.datasetStats}
	s.noPlots, s.arguments = o.report.noPlots, o.arguments()
	if err := o.rehearse(ctx, env, s.load, first, ready); err != nil {
		return nil, err
	}
	s.connect(ctx, ahead)
	s.side = &sideline{client: client, target: t, profile: o.server.profile}
	s.gpus = o.gpus
	s.gpus.settle(ctx, t)
	s.notes = append(s.notes, s.side.begin(ctx)...)
	return s, nil
}

// plan is what is known about the run beforehand.
func (o *serveOptions) plan(m model, prompts drawn, requests int) metrics.Plan {
	p := metrics.Plan{
		Version: version(), Command: o.command,
		BaseURL: o.server.target.String(), Backend: o.server.backend, Label: o.report.label,
		ModelID: m.root, Tokenizer: prompts.tokenizer, SkipTokenizer: o.prompts.skipTokenizer,
		Dataset: prompts.description, InputSource: prompts.counted, Seed: o.load.seed,
		IgnoreEOS:  o.content.ignoreEOS || o.prompts.ignoreEOS,
		NumPrompts: o.load.planned(), Requests: requests, Duration: o.load.length(),
		Rate: metrics.Rate(o.load.rate), Burstiness: float64(o.load.burstiness), MaxConcurrency: o.load.mostUsers(),
		Ramp: o.load.plannedRamp(), Stages: o.load.plannedStages(), Warmup: o.load.warmup, Load: o.load.inWords(prompts.n),
		Metrics: o.report.parsedMetrics, Percentiles: o.report.parsedPercentiles,
		GPUPrice: o.gpus.price, GPUs: o.gpus.asked(),
		Goodput: o.report.goodput.slo, Gates: o.report.gates, Metadata: o.report.parsedMetadata,
		SteadyState: metrics.SteadyStateRule{
			Off: o.report.steadyOff, Threshold: o.report.steadyThreshold, MinWindow: o.report.steadyMinWindow,
		},
		Detailed: o.save.detailed, Timestamps: o.client.source(), Definitions: definitions(o.client.source()),
		Find: o.load.find.planned(),
	}
	switch {
	case p.Find != nil:
		p.Load = o.load.find.inWords(p.Goodput)
		if !p.Find.Users {
			p.Rate = metrics.Rate(p.Find.From)
		}
	case o.load.inTime() && !o.load.promptsGiven:
		p.NumPrompts = requests
	case p.Ramp != nil && !o.load.inTime():
		p.Ramp.Requests = prompts.n // though the clock may end it before
	}
	return p
}

// definitions are the rules in force, in words for whoever reads a result later.
func definitions(stamps string) map[string]string {
	return map[string]string{
		"ttft":    "first byte of the request written on an open connection, to the arrival of the first chunk with a choice",
		"itl":     "gap between the arrivals of two chunks, however many tokens each holds",
		"e2el":    "first byte of the request written, to the arrival of the last chunk with a choice",
		"tpot":    "(e2el - ttft) / (output tokens - 1)",
		"success": "status 200, at least one chunk, a finish_reason or [DONE], and no error in the stream",
		"stamps":  stampsInWords(stamps),
	}
}

// drawn is what the data set gave.
type drawn struct {
	source      loadgen.Source
	n           int // conversations in it, 0 for no end
	description string
	counted     metrics.TokenSource
	tokenizer   string // "" for none
	// more gives prompts when there are no more of these; nil where they never end.
	more  func() (loadgen.Source, error)
	notes []string
}

// draw prepares the prompts.
func (o *serveOptions) draw(ctx context.Context, client *http.Client, t *target.Target, m model, streams *numpy.Streams) (drawn, error) {
	prefix := o.content.idPrefix
	if prefix == "" {
		// The ids tell runs apart in the server's log, so they must not come from the seed.
		prefix = fmt.Sprintf("bench-%08x-", rand.Uint32())
	}
	if o.prompts.dataset == "sharegpt" {
		return o.drawShareGPT(ctx, client, m, prefix, streams)
	}
	random := o.prompts.random
	random.IDPrefix = prefix
	random.Vocabulary = datasets.AssumedVocabulary()
	if o.prompts.vocabulary > 0 {
		random.Vocabulary = datasets.Vocabulary{Size: o.prompts.vocabulary}
	}
	if o.load.endless() {
		b, err := datasets.NewBlocks(random, nil)
		if err != nil {
			return drawn{}, usageError{err}
		}
		return drawn{source: b, n: math.MaxInt, description: b.Description(), counted: metrics.TokensFromIDs}, nil
	}
	r, err := datasets.NewRandom(random, nil)
	if err != nil {
		return drawn{}, usageError{err}
	}
	return drawn{source: r, n: random.Prompts, description: r.Description(), counted: metrics.TokensFromIDs, more: moreRandom(random)}, nil
}

func (o *serveOptions) drawShareGPT(ctx context.Context, client *http.Client, m model, prefix string, streams *numpy.Streams) (drawn, error) {
	d := drawn{counted: metrics.TokensFromServer, tokenizer: m.root}
	counter, why := o.counter(client, m)
	if why != "" {
		counter, d.counted, d.tokenizer = tokenizer.Estimate{}, metrics.TokensFromEstimate, ""
		d.notes = append(d.notes, "prompt lengths are estimates: "+why)
	}
	options := o.prompts.sharegpt
	options.IDPrefix = prefix
	source, err := datasets.NewShareGPT(ctx, options, counter, streams)
	if err != nil {
		return d, usageError{err}
	}
	d.source, d.n, d.description = source, source.Len(), source.Description()
	if !o.load.promptsGiven && (o.load.find.searching() || o.load.length() > 0) {
		d.source = &again{rest: source} // a higher rate may need more than there are
		if o.load.find.searching() {
			d.notes = append(d.notes, fmt.Sprintf("the search repeats the data set's %d prompts; the server's prefix cache may know them then", source.Len()))
		}
	}
	if d.counted == metrics.TokensFromEstimate {
		d.description += ", lengths estimated"
	}
	return d, nil
}

// counter is the server's tokenizer, under the name the requests use or the model's own; or why there is none.
func (o *serveOptions) counter(client *http.Client, m model) (counter tokenizer.Counter, why string) {
	if o.prompts.skipTokenizer {
		return nil, "--skip-tokenizer-init"
	}
	for _, name := range []string{m.id, m.root} {
		server := tokenizer.NewServer(client, o.server.target.String(), name, nil)
		_, err := server.Count("ready?")
		if err == nil {
			return server, ""
		}
		if why == "" {
			why = export.Clean(o.server.target.Hide(err.Error()))
		}
	}
	return nil, why
}
