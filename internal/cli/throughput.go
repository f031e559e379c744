package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"benchtop/internal/argv"
	"benchtop/internal/files"
	"benchtop/internal/offline"
	"benchtop/internal/run"
	"benchtop/internal/session"
	"benchtop/internal/telemetry"
	"benchtop/internal/usage"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

const throughputText = `
Sends a whole set of requests at once and measures how long the server takes for it. Takes the flags of
'vllm bench throughput'.

  benchtop throughput --base-url http://127.0.0.1:8000 --dataset-name random --num-prompts 1000
  benchtop throughput --model M --tensor-parallel-size 2 --dataset-name sharegpt --dataset-path s.json

With --base-url, --host or --port the server is one that runs. Otherwise flags that are not listed here, or
--serve-cmd, start one: 'vllm serve M' with these flags, in vLLM's development mode. With neither it is the
server at 127.0.0.1:8000.`

// throughputOptions are a preset of serve: all requests at once, answered in one piece and in full length.
type throughputOptions struct {
	offlineOptions
	perRequest int
	prequeue   bool
	async      bool
	stream     bool
	loraPath   string
	prefixLen  int
	hfBatch    int
	hfCompile  bool
	mm         string
	resumed    atomic.Int64 // when the pause ended, an offset of the run; metrics.Never for not yet
	requests   int
}

func newThroughputOptions() *throughputOptions {
	o := &throughputOptions{}
	o.resumed.Store(int64(metrics.Never))
	f := o.begin("throughput", throughputText)
	f.BoolVar(&o.prequeue, "prequeue-requests", false,
		"pause the server until it has all requests; vLLM needs VLLM_SERVER_DEV_MODE=1")
	f.IntVar(&o.perRequest, "prompts-per-request", 1, "send lists of so many prompts instead of a request for each")
	f.BoolVar(&o.stream, "stream", false,
		"stream the answers, which shows tokens as they come and costs the client and the server more")
	f.StringVar(&o.mm, "preset", "",
		"mm: images of random noise in chat messages, as 'vllm bench mm-processor' sends them")
	f.StringVar(&o.loraPath, "lora-path", "",
		"start the server with this adapter, under a name for each of its --max-loras")
	f.BoolVar(&o.async, "async-engine", false, "no effect: requests are sent one by one, as that engine gets them")
	f.IntVar(&o.hfBatch, "hf-max-batch-size", 0, "not possible: see --backend")
	f.BoolVar(&o.hfCompile, "hf-enable-torch-compile", false, "not possible: see --backend")
	f.IntVar(&o.prefixLen, "prefix-len", 0, "no effect, as with vLLM; use --random-prefix-len")
	for _, name := range []string{"async-engine", "hf-max-batch-size", "hf-enable-torch-compile", "prefix-len"} {
		f.Lookup(name).Hidden = true
	}
	o.Define()
	o.describe([3]string{"dataset-name", "sharegpt", o.Flags.All().Lookup("dataset-name").Usage +
		"; one that needs a file is random without it"},
		[3]string{"input-len", "", "no effect, as with vLLM; use --random-input-len"},
		[3]string{"output-len", "",
			"output length in tokens; no effect on random prompts, as with vLLM: use --random-output-len"})
	without := []string{"Load", "Several runs", "Conversations"}
	others := []string{"num-prompts", "seed", "num-warmups", "stall-timeout", "request-timeout", "drain-timeout",
		"keep-going"}
	timing := []string{"mix", "time-scale", "max-gap", "sample", "turn-timing", "group-by-header", "group-by-engine",
		"metrics-url"}
	o.Flags.Keep(func(heading, name string) bool {
		return !slices.Contains(without, heading) && !slices.Contains(timing, name) || slices.Contains(others, name)
	})
	o.Spec.Fixed = o.apply
	return o
}

// apply sets what the command and its presets fix, and checks its own flags.
func (o *throughputOptions) apply() (p usage.Problems) {
	all := o.Flags.All()
	p = append(p, o.offlineOptions.apply()...)
	p.OneOf("preset", o.mm, "", "mm")
	if o.mm == "mm" {
		p = append(p, o.Flags.Preset(argv.To("dataset-name", "random-mm"), argv.To("backend", "openai-chat"),
			argv.To("num-prompts", 10), argv.To("num-warmups", 1))...)
	}
	o.backend(&p)
	o.dataset(all)
	p.BadIf(o.perRequest < 1, "--prompts-per-request %d: must be at least 1", o.perRequest)
	p.BadIf(o.perRequest > 1 && o.Server.Backend != "vllm" && o.Server.Backend != "openai",
		"--prompts-per-request: chat takes one prompt per request; use --backend vllm")
	p.BadIf(o.hfBatch != 0 || o.hfCompile,
		"--hf-max-batch-size, --hf-enable-torch-compile: they are for the backend hf, which runs in the client's "+
			"process; "+inProcess)
	p.BadIf(slices.ContainsFunc(o.others, func(w string) bool { return strings.HasSuffix(w, "external_launcher") }),
		"external_launcher: with it each process of the engine takes its share of the requests; a server shares them "+
			"out itself, by --data-parallel-size")
	if o.perRequest > 1 {
		o.Spec.PerRequest = o.perRequest
	}
	if o.loraPath != "" {
		p = append(p, o.adapters()...)
	}
	if !o.stream {
		o.whole()
	}
	if o.async {
		o.note("--async-engine has no effect: requests are sent one by one, as that engine gets them")
	}
	if o.prefixLen != 0 {
		o.note("--prefix-len has no effect, as with vLLM; use --random-prefix-len")
	}
	requests := (o.Load.Prompts-1)/max(1, o.perRequest) + 1
	return append(p, o.Flags.Preset(argv.To("preconnect", min(max(1, requests), mostAhead)))...)
}

// mostAhead bounds the connections that are opened before the first request.
const mostAhead = 1000

// backend maps vLLM's names, which are those of engines.
func (o *throughputOptions) backend(p *usage.Problems) {
	*p = append(*p, o.Flags.Preset(argv.To("backend", "vllm"))...)
	switch backend := &o.Server.Backend; *backend {
	case "vllm-chat":
		*backend = "openai-chat"
	case "hf", "mii":
		p.Bad("--backend %s: it runs in the client's process; %s", *backend, inProcess)
		*backend = "vllm"
	}
}

// inProcess says what to do instead of a measurement inside an engine's process.
const inProcess = "benchtop measures servers: start one, such as 'transformers serve', and name it with --base-url"

// withFiles are the data sets that are random without a file, as with vLLM.
var withFiles = []string{"sharegpt", "burstgpt", "hf", "custom_audio"}

// ownLengths are the data sets whose lengths are those of their own flags alone, with the beginning of these.
var ownLengths = map[string]string{
	"random": "random-", "random-mm": "random-", "random-rerank": "random-", "prefix-repetition": "prefix-repetition-",
	"custom-audio": "custom-",
}

// dataset follows vLLM: sharegpt is the default, and a data set without its file is random. Lengths of random prompts
// are those of its own flags.
func (o *throughputOptions) dataset(all *pflag.FlagSet) {
	if !all.Changed("dataset-name") && o.mm == "" {
		o.Prompts.Name = "sharegpt"
	}
	name := o.Prompts.Name
	if slices.Contains(withFiles, strings.ReplaceAll(name, "-", "_")) && !all.Changed("dataset-path") {
		o.note("no --dataset-path: the data set is random instead of " + usage.Quote(name) + ", as with vLLM")
		name = "random"
		o.Prompts.Name = name
	}
	own := ownLengths[argv.Dashes(name)]
	for _, length := range []string{"input-len", "output-len"} {
		if f := all.Lookup(length); own != "" && f.Changed {
			o.note(fmt.Sprintf("--%s has no effect on %s prompts, as with vLLM; their lengths are those of --%s*",
				length, name, own))
			_ = f.Value.Set(f.DefValue)
			f.Changed = false
		}
	}
}

// adapters starts the server with names for the adapter, and has each request use one of them.
func (o *throughputOptions) adapters() (p usage.Problems) {
	if o.engine.command == nil || o.engine.serve != "" {
		p.Bad("--lora-path: a server has its adapters under names; start it with --lora-modules, and give the names " +
			"with --lora-modules")
		return p
	}
	n := 1
	if text := flagValue(o.engine.command, "--max-loras"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 1 {
			p.Bad("--max-loras %s: expected a number of at least 1", usage.Quote(text))
			return p
		}
	}
	o.engine.command = append(o.engine.command, "--lora-modules")
	var names []string
	for i := range min(n, mostAhead) {
		names = append(names, fmt.Sprintf("lora-%d", i+1))
		o.engine.command = append(o.engine.command, names[i]+"="+o.loraPath)
	}
	return o.Flags.Preset(argv.Value{Name: "lora-modules", Texts: names, Listed: true})
}

func runThroughput(env *session.Environment, args []string) int {
	o := newThroughputOptions()
	if err := o.parse(env, args); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	telemetry.TuneMemory()
	env.Divert(&o.Report)
	return env.Perform(&o.Screen, session.StepsOf(&o.Spec),
		func(ctx context.Context) (*session.Run, error) { return o.prepare(ctx, env) })
}

// prepare makes the run: it starts the server if it is to, prepares it as serve does, and pauses it.
func (o *throughputOptions) prepare(ctx context.Context, env *session.Environment) (p *session.Run, err error) {
	stop, err := o.startServer(ctx, env)
	if err != nil {
		return nil, err
	}
	pauser := &offline.Pauser{Client: o.Server.Target.Client(), Base: o.Server.Target.URL("")}
	leave := func() {
		if err := pauser.Resume(); err != nil {
			env.Warn([]string{err.Error()})
		}
		stop()
	}
	defer func() {
		if err != nil {
			leave()
		}
	}()
	if p, err = session.Prepare(ctx, env, &o.Spec); err != nil {
		return p, o.helped(err)
	}
	o.requests = p.Plan.Requests
	span := &offline.SpanSink{Requests: p.Plan.Requests}
	if o.prequeue {
		if p.Plan.Requests == 0 {
			return p, usage.Errorf("--prequeue-requests: the number of requests is not known beforehand")
		}
		if err := pauser.Pause(ctx); err != nil {
			return p, fmt.Errorf("--prequeue-requests: %w", err)
		}
		span.AllSent = func() { go o.resume(env, pauser, span, time.Now()) }
	}
	p.Leave, p.Sinks = leave, []event.Sink{span}
	p.Print = func(out run.Outcome) error { return o.print(env.Stdout, &out.Report, span) }
	if p.Save.Output != "" {
		p.Save.Form = func(w io.Writer, r metrics.Report) error { return o.result(&r, span).JSON(w, session.Version()) }
		p.Plots.Pytorch = func(w io.Writer, r metrics.Report, file string) error {
			return o.result(&r, span).PyTorch(w, o.Arguments(), file)
		}
	}
	return p, nil
}

// resume ends the pause once the server had the time to read the requests.
func (o *throughputOptions) resume(env *session.Environment, pauser *offline.Pauser, span *offline.SpanSink,
	sent time.Time) {
	time.Sleep(max(time.Second, time.Duration(o.requests)*2*time.Millisecond))
	o.resumed.Store(int64(span.Span().LastSent + time.Since(sent)))
	if err := pauser.Resume(); err != nil {
		env.Warn([]string{err.Error()})
	}
}

// result is that of the run.
func (o *throughputOptions) result(r *metrics.Report, span *offline.SpanSink) *offline.Throughput {
	t := offline.ThroughputOf(r, span.Span(), time.Duration(o.resumed.Load()))
	t.Server, t.Streamed, t.PerList, t.Command = o.about(), o.stream, max(1, o.perRequest), o.Command
	t.Pictures = o.Prompts.Name == "random-mm"
	if r.Interrupted != nil {
		t.Interrupted = r.Interrupted.Reason
	}
	return &t
}

// print prints the result, and writes it to --output-json where the run is saved in another place.
func (o *throughputOptions) print(w io.Writer, r *metrics.Report, span *offline.SpanSink) error {
	t := o.result(r, span)
	if err := t.Text(w); err != nil || o.json == "" || o.Save.Output != "" {
		return err
	}
	err := files.Write(o.json, func(w io.Writer) error { return t.JSON(w, session.Version()) })
	if err == nil {
		err = writePyTorch(o.json, func(w io.Writer, file string) error { return t.PyTorch(w, o.Arguments(), file) })
	}
	if err != nil {
		return fmt.Errorf("--output-json: %w", err)
	}
	return nil
}
