package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/datasets"
	"benchtop/export/journal"
	"benchtop/internal/argv"
	"benchtop/internal/files"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/offline"
	"benchtop/internal/prompts"
	"benchtop/internal/server"
	"benchtop/internal/session"
	"benchtop/internal/sweep"
	"benchtop/internal/telemetry"
	"benchtop/internal/usage"
	"benchtop/loadgen"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/grid"
	"benchtop/metrics/live"
)

const latencyText = `
Measures how long a server takes for one batch of prompts, again and again. Takes the flags of
'vllm bench latency'.

  benchtop latency --base-url http://127.0.0.1:8000 --batch-size 8 --input-len 32 --output-len 128
  benchtop latency --model M --tensor-parallel-size 2

With --base-url, --host or --port the server is one that runs. Otherwise flags that are not listed here, or
--serve-cmd, start one: 'vllm serve M' with these flags, without prefix cache and in vLLM's development mode.
With neither it is the server at 127.0.0.1:8000. Ctrl-C prints what was measured.`

// latencyOptions are a batch and its iterations.
type latencyOptions struct {
	offlineOptions
	batch, warmups, iters int
	requests              string
	align, stream         bool

	inputLen, outputLen int // set by apply
	beam                bool
}

func newLatencyOptions() *latencyOptions {
	o := &latencyOptions{}
	f := o.begin("latency", latencyText)
	f.IntVar(&o.batch, "batch-size", 8, "prompts in the batch")
	f.IntVar(&o.warmups, "num-iters-warmup", 10, "iterations before those that are measured")
	f.IntVar(&o.iters, "num-iters", 30, "iterations that are measured")
	f.StringVar(&o.requests, "requests", "list",
		"list: one request with a list of prompts; simultaneous: a request for each prompt")
	argv.OneOf(f, "requests", "list", "simultaneous")
	f.BoolVar(&o.align, "align", false,
		"pause the server until it has the whole batch; vLLM needs VLLM_SERVER_DEV_MODE=1")
	f.BoolVar(&o.stream, "stream", false, "stream the answers of simultaneous requests, for their TTFT and TPOT")
	f.BoolVar(&o.beam, "use-beam-search", false,
		"search with --n beams; it is sent to the server, which has to know use_beam_search")
	o.Define()
	o.describe([3]string{"input-len", "32", "prompt length in tokens"},
		[3]string{"output-len", "128", "output length in tokens"},
		[3]string{"cache", "cold", o.Flags.All().Lookup("cache").Usage},
		[3]string{"vocab-size", strconv.Itoa(vocabulary), "draw the token ids from a vocabulary of this size"})
	headings := []string{"Latency", "Server to start", "Server", "Requests", "Accepted without effect"}
	others := []string{"input-len", "output-len", "seed", "vocab-size", "stall-timeout", "request-timeout", "progress",
		"no-tui", "result-dir", "no-save"}
	o.Flags.Keep(func(heading, name string) bool {
		return slices.Contains(headings, heading) && !strings.HasPrefix(name, "priorit") ||
			slices.Contains(others, name)
	})
	o.Spec.Fixed = o.apply
	return o
}

// apply sets what the command fixes, and checks its own flags.
func (o *latencyOptions) apply() (p usage.Problems) {
	all := o.Flags.All()
	if o.engine.serve == "" && len(o.others) > 0 && !slices.ContainsFunc(o.others,
		func(w string) bool { return strings.Contains(argv.Dashes(w), "enable-prefix-caching") }) {
		o.others = append(o.others, "--no-enable-prefix-caching")
	}
	p = append(p, o.Flags.Preset(argv.To("cache", "cold"), argv.To("backend", "vllm"))...)
	if o.beam {
		p = append(p, o.Flags.Preset(argv.To("temperature", 0))...)
	}
	p = append(p, o.offlineOptions.apply()...)
	number := func(flag string) int {
		p = append(p, o.Flags.Preset(argv.To(flag, all.Lookup(flag).DefValue))...)
		value, _ := strconv.Atoi(all.Lookup(flag).Value.String())
		p.BadIf(value < 1 || value > 1<<24, "--%s %d: must be at least 1", flag, value)
		return value
	}
	o.inputLen, o.outputLen = number("input-len"), number("output-len")
	p.BadIf(o.batch < 1 || o.batch > 1<<14, "--batch-size %d: must be from 1 to %d", o.batch, 1<<14)
	p.BadIf(o.warmups < 0, "--num-iters-warmup %d: must not be negative", o.warmups)
	p.BadIf(o.iters < 1 || o.iters > 1<<20, "--num-iters %d: must be at least 1", o.iters)
	p.BadIf(o.stream && o.requests == "list", "--stream: the answers to a list come mixed; add --requests simultaneous")
	p.BadIf(o.stream && o.beam, "--stream and --use-beam-search: a beam search is not streamed")
	if o.beam {
		o.Request.Preset = append(o.Request.Preset, protocol.Field{Name: "use_beam_search", JSON: "true"})
	}
	if !o.stream {
		o.whole()
	}
	return p
}

func runLatency(env *session.Environment, args []string) int {
	o := newLatencyOptions()
	if err := o.parse(env, args); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	if forms := o.Server.Protocol.Traits().Forms; !forms.Overlap(datasets.AsTokenIDs) ||
		!forms.Overlap(datasets.AsBatch) || !o.Server.Protocol.Traits().Streams {
		return env.Fail(session.ExitUsage,
			fmt.Errorf("--backend %s: the prompts are lists of token ids, which completions take; use --backend vllm",
				o.Server.Backend))
	}
	telemetry.TuneMemory()
	return env.Failed(o.measure(env))
}

// measure measures, on a screen if there is one, and prints and saves the result. An error leaves what was measured
// before it.
func (o *latencyOptions) measure(env *session.Environment) error {
	b := &batch{latencyOptions: o, stop: func() {}, unfollow: func() {}}
	iterations := o.iters
	if o.Server.Profile {
		iterations = 1
	}
	_, failed := env.Series(&o.Screen, true, func(run *session.Runner, _ io.Writer) *sweep.Sweep {
		return sweep.New(sweep.Options{
			Title: "latency", Runs: iterations, Whole: true, Out: io.Discard,
			Pairs: []sweep.Combination{{Load: fmt.Sprintf("batches of %d prompts", o.batch)}},
			Measure: func(ctx context.Context, r sweep.Run) (grid.Figures, error) {
				defer func() { b.ended = time.Now() }()
				if r.Number == 0 {
					b.env = run.Environment(session.StepServer, prompts.StepWarmups)
					if err := b.prepare(ctx); err != nil {
						return grid.Figures{}, err
					}
				}
				return b.iterate(ctx, r.Number)
			},
		})
	})
	defer b.stop()
	defer o.Server.Target.Token().Stop(0)
	b.unfollow()
	if b.env == nil {
		return failed
	}
	b.env = env
	if b.pauser != nil {
		if err := b.pauser.Resume(); err != nil {
			env.Warn([]string{err.Error()})
		}
	}
	if failed == nil && o.Server.Profile {
		env.Say(fmt.Sprintf("one iteration was profiled, after %d warm-ups; the trace is where the server's profiler "+
			"writes it. There are no figures and no --output-json, as with vLLM", o.warmups))
	}
	if len(b.result.Times) == 0 {
		b.discard()
		return failed
	}
	b.result.Interrupted = len(b.result.Times) < o.iters
	slices.Sort(b.result.TTFT)
	slices.Sort(b.result.TPOT)
	return errors.Join(failed, b.result.Text(env.Stdout), b.finish(failed))
}

// prepare starts the server if it is to, asks it for its model, opens the files and warms up.
func (b *batch) prepare(ctx context.Context) (err error) {
	o := b.latencyOptions
	if b.stop, err = o.startServer(ctx, b.env); err != nil {
		b.stop = func() {}
		return err
	}
	client := o.Server.Target.Client()
	m, err := session.FindModel(ctx, b.env, &o.Spec, client, o.Server.Patience(b.env))
	if err != nil {
		return o.helped(err)
	}
	if m.Context > 0 && o.inputLen+o.outputLen > m.Context {
		return usage.Errorf("--input-len %d and --output-len %d: the model's context is %d tokens", o.inputLen,
			o.outputLen, m.Context)
	}
	b.model, b.draws = m, rand.New(rand.NewPCG(uint64(o.Load.Seed), 0))
	b.pauser = &offline.Pauser{Client: client, Base: o.Server.Target.URL("")}
	b.result = offline.Latency{Model: m.Root, Batch: o.batch, List: o.requests == "list", Aligned: o.align,
		Server: o.about(), Command: o.Command}
	b.load = loadgen.Options{Model: m.ID, InputSource: metrics.TokensFromIDs}
	o.Server.Send(&b.load)
	o.Request.Send(&b.load, true, numpy.NewStreams(uint32(o.Load.Seed)).Python)
	o.Client.Send(&b.load)
	o.Load.Send(&b.load, shape.Arrivals{})
	b.load.ProbeRate = 0
	if err := b.open(ctx); err != nil {
		return err
	}
	b.env.Step(prompts.StepWarmups)
	b.progress = time.Now()
	for i := range b.warmups {
		b.env.Count(i, b.warmups, "")
		took, err := b.once(ctx, false)
		if err != nil {
			return b.failure(ctx, i, err)
		}
		b.tell(i, took)
	}
	b.unfollow = b.env.Follow(b.view)
	return nil
}

// open reserves the files of the measurement and opens its journal, so that little is lost if it is killed.
func (b *batch) open(ctx context.Context) (err error) {
	b.load.Start = time.Now()
	p := metrics.Plan{
		Version: session.Version(), Command: b.Command, Started: b.load.Start, ModelID: b.model.Root,
		InputSource: metrics.TokensFromIDs,
		Dataset: fmt.Sprintf("batches of %d prompts of %d tokens, %d output tokens", b.batch, b.inputLen,
			b.outputLen),
		Load: "one batch after the other", IgnoreEOS: b.load.IgnoresEOS(), Requests: b.iters * b.batch,
		MaxConcurrency: b.batch, Rate: metrics.Rate(math.Inf(1)), Burstiness: 1,
	}
	if b.requests == "list" {
		p.Requests, p.MaxConcurrency = b.iters, 1
	}
	b.Server.Plan(&p)
	b.Report.Plan(&p)
	b.Client.Plan(&p, b.Server.Protocol)
	b.view = live.NewView(b.load.Start, &p)
	b.events = event.NewStream(b.load.Start, b.view)
	b.env.About(p)
	if b.Server.Profile { // without a result
		return nil
	}
	b.Save.Form = func(w io.Writer, _ metrics.Report) error { return b.result.JSON(w, session.Version()) }
	if b.files, err = session.Reserve(ctx, &b.Save, p); err != nil || b.files == nil {
		return err
	}
	b.env.Warn(b.files.Notes())
	if b.journal, err = journal.NewWriter(b.files.Journal, p); err != nil {
		b.files.Discard()
		return err
	}
	b.events.Add(b.journal, event.Done, event.Fact)
	return nil
}

// finish saves the result. What no file takes is in the text that was printed.
func (b *batch) finish(stopped error) error {
	if b.files == nil {
		return nil
	}
	end := metrics.End{Ended: b.ended.Sub(b.load.Start).Round(time.Microsecond)}
	if stopped != nil {
		end.Reason = metrics.StoppedByUser
	}
	b.events.Tell(end)
	_ = b.journal.Close() // Finish saves whatever the file lacks
	path, err := b.files.Finish(metrics.Report{}, b.journal, nil)
	if path != "" {
		fmt.Fprintf(b.env.Stderr, "result saved to %s\n", path)
	}
	if err != nil {
		return fmt.Errorf("saving: %w", err)
	}
	return errors.Join(b.files.Pack(b.journal), writePyTorch(path,
		func(w io.Writer, file string) error { return b.result.PyTorch(w, b.Arguments(), file) }))
}

// discard removes the files of a measurement without a figure.
func (b *batch) discard() {
	if b.journal != nil {
		_ = b.journal.Close()
	}
	b.files.Discard()
}

// batch is a batch while it is measured.
type batch struct {
	*latencyOptions
	env     *session.Environment
	model   server.Model
	draws   *rand.Rand
	load    loadgen.Options // its Start is that of the one clock
	pauser  *offline.Pauser
	turns   []datasets.Turn
	result  offline.Latency
	files   *files.Saving   // nil where nothing is saved
	journal *journal.Writer // of the requests that are measured; nil where nothing is saved
	events  *event.Stream   // to the journal and the view
	view    *live.View      // for the dashboard
	sent    int             // requests that were measured
	ended   time.Time       // of the last iteration, however long the screen stays
	// progress is when a line of progress was last told; stop ends the server, unfollow the dashboard's snapshots.
	progress       time.Time
	stop, unfollow func()
}

// iterate measures the batch once more. With --profile it is profiled instead.
func (b *batch) iterate(ctx context.Context, n int) (grid.Figures, error) {
	if b.Server.Profile {
		return grid.Unknown(), b.profile(ctx)
	}
	took, err := b.once(ctx, true)
	if err != nil {
		return grid.Figures{}, b.failure(ctx, b.warmups+n, err)
	}
	b.result.Times = append(b.result.Times, took)
	b.events.Tell(metrics.LogEntry{Level: metrics.Info, Text: fmt.Sprintf("iteration %d: %.6f s", n+1, took.Seconds())})
	b.tell(b.warmups+n, took)
	if len(b.result.Times) == b.iters {
		b.result.OneToken = oneToken(ctx, b.load)
	}
	f := grid.Unknown()
	f.Completed, f.MedianE2EL, f.P99E2EL = b.batch, took.Seconds()*1e3, took.Seconds()*1e3
	f.OutputThroughput = float64(b.batch*b.outputLen*b.n) / took.Seconds()
	f.TotalThroughput = f.OutputThroughput + float64(b.batch*b.inputLen)/took.Seconds()
	f.RequestThroughput = float64(b.batch) / took.Seconds()
	return f, nil
}

// failure is why an iteration failed, counted from the first warm-up.
func (b *batch) failure(ctx context.Context, i int, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("iteration %d of %d: %w", i+1, b.warmups+b.iters, err)
}

// tell says every so often how far the iterations are.
func (b *batch) tell(i int, took time.Duration) {
	if time.Since(b.progress) >= b.Screen.Progress {
		b.progress = time.Now()
		b.env.Tell(fmt.Sprintf("iteration %d of %d, %.4f s", i+1, b.warmups+b.iters, took.Seconds()))
	}
}

// profile runs the server's profiler for one iteration.
func (b *batch) profile(ctx context.Context) error {
	base, client := b.Server.Target.URL(""), b.Server.Target.Client()
	if err := telemetry.Profiler(ctx, client, base, "start"); err != nil {
		return fmt.Errorf("--profile: %w", err)
	}
	_, err := b.once(ctx, false)
	return errors.Join(err, telemetry.Profiler(context.WithoutCancel(ctx), client, base, "stop"))
}

// settled is how long a paused server gets to read a batch.
const settled = 300 * time.Millisecond

// once sends the batch and waits for all of it. The journal has what is measured.
func (b *batch) once(ctx context.Context, measured bool) (time.Duration, error) {
	if err := b.draw(); err != nil {
		return 0, err
	}
	load := b.load
	if load.First = b.sent; measured {
		load.Observer = b.view
	}
	from := time.Duration(0)
	if b.align {
		if err := b.pauser.Pause(ctx); err != nil {
			return 0, fmt.Errorf("--align: %w", err)
		}
	}
	done := make(chan []metrics.Request, 1)
	go func() { done <- loadgen.Try(ctx, load, b.turns, 0) }()
	if b.align {
		select {
		case <-ctx.Done():
		case <-time.After(settled):
		}
		from = time.Since(load.Start)
		if err := b.pauser.Resume(); err != nil {
			return 0, err
		}
	}
	all := <-done
	for i := range all {
		if measured {
			b.sent++
			b.events.Take(&event.Event{At: all[i].Done, Kind: event.Done, Request: &all[i]})
		}
	}
	for i := range all {
		q := &all[i]
		if !q.OK() {
			return 0, fmt.Errorf("%s: %s%s", q.Failure, session.Harmless(q.FailureText()),
				server.Advice(q.Status, b.Server.Backend, b.Server.Target.Token() != nil))
		}
		b.result.Cached += q.CachedTokens
		if want := b.outputLen * b.n * max(1, q.Inputs); q.OutputTokens != want {
			return 0, fmt.Errorf("the server answered with %d tokens instead of %d; it must know ignore_eos",
				q.OutputTokens, want)
		}
		if b.stream {
			b.result.TTFT, b.result.TPOT = append(b.result.TTFT, q.FirstChunk-max(q.Sent, from)),
				append(b.result.TPOT, q.TPOT())
		}
	}
	return offline.LatencyOf(all, from), nil
}

// draw makes the prompts of an iteration: the same ones with a salt of their own where the server is vLLM, new ones
// where it is not, and the same ones again with --cache as-is.
func (b *batch) draw() error {
	cold, salted := b.Request.Cold(), b.model.Owner == "vllm"
	if b.turns == nil {
		b.turns = b.prompts()
	}
	switch {
	case !cold:
		b.result.Cold = ""
		return nil
	case !salted: // draws of a seed would be those of an earlier run
		b.draws = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
		b.turns = b.prompts()
		b.result.Cold = "new prompts in each iteration"
		return nil
	}
	var err error
	b.result.Cold = "a cache_salt for each iteration"
	b.load.Salt, err = loadgen.NewSalt(loadgen.SaltField, nil)
	return err
}

// vocabulary is that of vLLM's prompts, unless a flag says otherwise.
const vocabulary = 10000

// prompts draws a batch of token ids, uniformly from the vocabulary.
func (b *batch) prompts() []datasets.Turn {
	size := vocabulary
	if f := b.Flags.All().Lookup("vocab-size"); f.Changed {
		size, _ = strconv.Atoi(f.Value.String())
	}
	all := make([]datasets.Turn, b.batch)
	for i := range all {
		ids := make([]int, b.inputLen)
		for k := range ids {
			ids[k] = b.draws.IntN(max(1, size))
		}
		all[i] = datasets.Turn{TokenIDs: ids, InputTokens: len(ids), MaxTokens: b.outputLen}
	}
	if b.requests == "list" {
		return []datasets.Turn{{Batch: all, InputTokens: b.inputLen * b.latencyOptions.batch, MaxTokens: b.outputLen}}
	}
	return all
}
