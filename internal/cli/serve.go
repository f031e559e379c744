package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"time"

	"benchtop/datasets"
	"benchtop/datasets/numpy"
	"benchtop/datasets/tokenizer"
	"benchtop/export"
	"benchtop/loadgen"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

const serveText = `
Loads a server and reports what its users would feel. The flags are those of 'vllm bench serve'.
On a terminal a dashboard shows the run; q ends it and keeps the report.

  benchtop serve --model M --dataset-name random --num-prompts 200 --max-concurrency 16
  benchtop serve --backend openai-chat --dataset-name sharegpt --dataset-path s.json --request-rate 4`

func runServe(env *environment, args []string) int {
	o := newServeOptions()
	switch err := o.parse(args); {
	case errors.Is(err, errHelp):
		o.groups.help(env.stdout, "serve [flags]", serveText)
		return exitFine
	case err != nil:
		return env.fail(exitUsage, err)
	}
	o.save.unasked = isTerminal(env.stdout)

	// Until the run starts, Ctrl-C simply ends the program.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s, err := o.prepare(ctx, env)
	if err != nil {
		var usage usageError
		switch {
		case ctx.Err() != nil:
			return env.fail(exitAborted, errors.New("interrupted before the first request"))
		case errors.As(err, &usage):
			return env.fail(exitUsage, err)
		}
		return env.fail(exitFailed, err)
	}
	stop()
	return s.run()
}

// prepare turns options into a session: it looks at the server, draws the prompts and the arrivals.
func (o *serveOptions) prepare(ctx context.Context, env *environment) (*session, error) {
	t := o.target
	err := reach(ctx, t)
	if err != nil {
		return nil, err
	}
	client := t.Client()
	defer client.CloseIdleConnections()
	m := model{id: o.servedName, root: o.model}
	if o.model == "" {
		if m, err = discover(ctx, client, t); err != nil {
			return nil, err
		}
	} else if m.id == "" {
		m.id = o.model
	}

	s := &session{env: env, save: o.save, screen: o.screen}
	s.load = loadgen.Options{
		Target: t, Endpoint: o.endpoint, Backend: loadgen.Backend(o.backend), Model: m.id,
		Limit: o.concurrency, Pacer: o.pacer,
		Drain: o.drain, StallTimeout: o.stall, RequestTimeout: o.timeout, KeepText: o.save.detailed,
	}
	if o.ignoreEOS {
		s.load.Extra = append(s.load.Extra, loadgen.Field{Name: "ignore_eos", JSON: "true"})
	}
	streams := numpy.NewStreams(uint32(o.seed))
	prompts, err := o.draw(ctx, client, t, m, streams)
	if err != nil {
		return nil, err
	}
	s.source, s.load.InputSource, s.notes = prompts.source, prompts.counted, prompts.notes
	requests := o.schedule(&s.load, prompts.n, streams)

	s.plan = metrics.Plan{
		Version: version(), Command: o.command,
		BaseURL: t.String(), Backend: o.backend, Label: o.label, ModelID: m.root, Tokenizer: prompts.tokenizer,
		Dataset: prompts.description, InputSource: prompts.counted, Seed: o.seed, IgnoreEOS: o.ignoreEOS,
		NumPrompts: o.prompts, Requests: requests, Duration: o.duration,
		Rate: metrics.Rate(o.rate), Burstiness: float64(o.burstiness), MaxConcurrency: o.concurrency, Load: o.loadInWords(),
		Metrics: o.parsedMetrics, Percentiles: o.parsedPercentiles, Goodput: o.goodput.slo, Detailed: o.save.detailed,
		Definitions: definitions(),
	}
	return s, nil
}

// definitions are the rules in force, in words for whoever reads a result later.
func definitions() map[string]string {
	return map[string]string{
		"ttft":    "first byte of the request written on an open connection, to the arrival of the first chunk with a choice",
		"itl":     "gap between the arrivals of two chunks, however many tokens each holds",
		"e2el":    "first byte of the request written, to the arrival of the last chunk with a choice",
		"tpot":    "(e2el - ttft) / (output tokens - 1)",
		"success": "status 200, at least one chunk, a finish_reason or [DONE], and no error in the stream",
		"stamps":  "user: when the read of the socket returned",
	}
}

// drawn is what the data set gave.
type drawn struct {
	source      loadgen.Source
	n           int // conversations in it, 0 for no end
	description string
	counted     metrics.TokenSource
	tokenizer   string // "" for none
	notes       []string
}

// draw prepares the prompts.
func (o *serveOptions) draw(ctx context.Context, client *http.Client, t *target.Target, m model, streams *numpy.Streams) (drawn, error) {
	prefix := o.idPrefix
	if prefix == "" {
		// The ids tell runs apart in the server's log, so they must not come from the seed.
		prefix = fmt.Sprintf("bench-%08x-", rand.Uint32())
	}
	server := tokenizer.NewServer(client, t.String(), m.id, nil)
	if o.dataset == "sharegpt" {
		return o.drawShareGPT(ctx, server, m, prefix, streams)
	}
	random := o.random
	random.IDPrefix = prefix
	random.Vocabulary = datasets.AssumedVocabulary()
	if o.vocabulary > 0 {
		random.Vocabulary = datasets.Vocabulary{Size: o.vocabulary}
	}
	if o.endless() {
		b, err := datasets.NewBlocks(random, nil)
		if err != nil {
			return drawn{}, usageError{err}
		}
		return drawn{source: b, description: b.Description(), counted: metrics.TokensFromIDs}, nil
	}
	r, err := datasets.NewRandom(random, nil)
	if err != nil {
		return drawn{}, usageError{err}
	}
	return drawn{source: r, n: o.prompts, description: r.Description(), counted: metrics.TokensFromIDs}, nil
}

func (o *serveOptions) drawShareGPT(ctx context.Context, server *tokenizer.Server, m model, prefix string, streams *numpy.Streams) (drawn, error) {
	d := drawn{counted: metrics.TokensFromServer, tokenizer: m.root}
	var counter tokenizer.Counter = server
	if _, err := server.Count("ready?"); err != nil {
		counter, d.counted, d.tokenizer = tokenizer.Estimate{}, metrics.TokensFromEstimate, ""
		d.notes = append(d.notes, "prompt lengths are estimates: "+export.Clean(o.target.Hide(err.Error())))
	}
	options := o.sharegpt
	options.IDPrefix = prefix
	source, err := datasets.NewShareGPT(ctx, options, counter, streams)
	if err != nil {
		return d, usageError{err}
	}
	d.source, d.n, d.description = source, source.Len(), source.Description()
	if d.counted == metrics.TokensFromEstimate {
		d.description += ", lengths estimated"
	}
	return d, nil
}

// schedule sets the arrivals of n conversations and returns how many requests they are, 0 if only the clock ends them.
func (o *serveOptions) schedule(load *loadgen.Options, n int, streams *numpy.Streams) int {
	if o.duration > 0 && o.concurrency > 0 {
		load.Until = o.duration
	}
	if o.endless() {
		load.Schedule, load.ClosedLoop = loadgen.Immediately(), true
		return 0
	}
	offsets := loadgen.Gamma(n, float64(o.rate), float64(o.burstiness), streams.Legacy)
	if o.duration > 0 && o.promptsGiven {
		offsets = before(offsets, o.duration)
	}
	load.Schedule = loadgen.At(offsets)
	return len(offsets)
}

// before keeps the offsets that come before a moment.
func before(offsets []time.Duration, end time.Duration) []time.Duration {
	for i, at := range offsets {
		if at >= end {
			return offsets[:i]
		}
	}
	return offsets
}

func (o *serveOptions) loadInWords() string {
	limit := ""
	if o.concurrency > 0 {
		limit = fmt.Sprintf(", at most %d in flight", o.concurrency)
	}
	switch {
	case o.endless():
		return fmt.Sprintf("%d users without pause for %s", o.concurrency, o.duration)
	case math.IsInf(float64(o.rate), 1):
		return "all at once" + limit
	}
	how := map[bool]string{true: "Poisson", false: "burstiness " + o.burstiness.String()}[o.burstiness == 1]
	return fmt.Sprintf("%s req/s (%s)%s", &o.rate, how, limit)
}
