package cli

import (
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"benchtop/datasets"
	"benchtop/loadgen"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// serveOptions is what the flags of serve fill.
type serveOptions struct {
	backend               string
	baseURL, host         string
	port                  int
	endpoint              string
	insecure              bool
	model, servedName     string
	idPrefix              string
	dataset, datasetPath  string
	prompts               int
	promptsGiven          bool
	seed                  int64
	inputLen, outputLen   int
	random                datasets.RandomOptions
	ratio                 string
	vocabulary            int
	sharegpt              datasets.ShareGPTOptions
	ignoreEOS             bool
	rate                  rateValue
	burstiness            rateValue
	concurrency           int
	duration              time.Duration
	pacer                 string
	drain, stall, timeout time.Duration
	metrics, percentiles  string
	goodput               objectives
	label                 string
	save                  savingOptions
	screen                screenOptions
	parsedMetrics         []string
	parsedPercentiles     []float64
	groups                flagGroups
	target                *target.Target
	command               []string
}

// newServeOptions defines the flags. Names, defaults and meanings are vLLM's where vLLM has the flag.
func newServeOptions() *serveOptions {
	o := &serveOptions{
		random: datasets.RandomDefaults(), sharegpt: datasets.ShareGPTDefaults(),
		rate: rateValue(math.Inf(1)), burstiness: 1,
	}
	d := loadgen.Defaults()

	f := o.groups.group("Server")
	f.StringVar(&o.backend, "backend", string(d.Backend), "request protocol: vllm, openai or openai-chat")
	f.StringVar(&o.baseURL, "base-url", "", "server to load; overrides host and port")
	f.StringVar(&o.host, "host", "127.0.0.1", "server's host")
	f.IntVar(&o.port, "port", 8000, "server's port")
	f.StringVar(&o.endpoint, "endpoint", "", "path of the API (default: follows the backend)")
	f.BoolVar(&o.insecure, "insecure", false, "accept any TLS certificate")
	f.StringVar(&o.model, "model", "", "model to ask for (default: the server's first)")
	f.StringVar(&o.servedName, "served-model-name", "", "name sent in requests instead of --model")
	f.StringVar(&o.idPrefix, "request-id-prefix", "", "prefix of request ids (default: bench- and 8 random digits)")

	f = o.groups.group("Prompts")
	f.StringVar(&o.dataset, "dataset-name", "random", "random or sharegpt")
	f.StringVar(&o.datasetPath, "dataset-path", "", "file of the data set")
	f.IntVar(&o.prompts, "num-prompts", 1000, "number of requests")
	f.Int64Var(&o.seed, "seed", 0, "seed of all draws, 0 to 4294967295")
	f.IntVar(&o.inputLen, "input-len", 0, "prompt length in tokens; overrides the data set's own flag")
	f.IntVar(&o.outputLen, "output-len", 0, "output length in tokens; overrides the data set's own flag")
	f.IntVar(&o.random.InputLen, "random-input-len", o.random.InputLen, "random: prompt length in tokens")
	f.IntVar(&o.random.OutputLen, "random-output-len", o.random.OutputLen, "random: output length in tokens")
	f.IntVar(&o.random.PrefixLen, "random-prefix-len", o.random.PrefixLen, "random: tokens all prompts begin with")
	f.StringVar(&o.ratio, "random-range-ratio", "0.0", `random: lengths vary by this share; or {"input": 0.1, "output": 0.5}`)
	f.IntVar(&o.vocabulary, "vocab-size", 0, "random: size of the vocabulary that token ids are drawn from (default: ids 1000 to 31999)")
	f.IntVar(&o.sharegpt.OutputLen, "sharegpt-output-len", 0, "sharegpt: output length in tokens (default: the recorded answer's)")
	f.BoolVar(&o.sharegpt.DisableShuffle, "disable-shuffle", false, "sharegpt: keep the order of the file")
	f.BoolVar(&o.sharegpt.NoOversample, "no-oversample", false, "sharegpt: send fewer requests rather than repeat prompts")
	f.BoolVar(&o.sharegpt.MultimodalChat, "enable-multimodal-chat", false, "sharegpt: send prompts as chat messages with their media")
	f.BoolVar(&o.ignoreEOS, "ignore-eos", false, "ask the server to go on to the full output length; always so with random")

	f = o.groups.group("Load")
	f.Var(&o.rate, "request-rate", "requests per second; inf sends everything at once")
	f.Var(&o.burstiness, "burstiness", "shape of the gaps: 1 Poisson, smaller burstier, inf constant")
	f.IntVar(&o.concurrency, "max-concurrency", 0, "most requests in flight; 0 for no limit")
	f.DurationVar(&o.duration, "duration", 0, "stop sending after this time; 0 for no limit")
	f.StringVar(&o.pacer, "pacer", "", "how to wait for arrivals: "+strings.Join(loadgen.PacerKinds(), " or "))
	f.DurationVar(&o.stall, "stall-timeout", d.StallTimeout, "give a request up when nothing came for this long after its first chunk")
	f.DurationVar(&o.timeout, "request-timeout", d.RequestTimeout, "give a request up after this time")
	f.DurationVar(&o.drain, "drain-timeout", d.Drain, "how long requests in flight may go on after you quit")

	f = o.groups.group("Report")
	f.StringVar(&o.metrics, "percentile-metrics", "ttft,tpot,itl", "latencies to report: ttft, tpot, itl, e2el, client_queue_time, e2el_including_client_queue")
	f.StringVar(&o.percentiles, "metric-percentiles", "99", "percentiles to report, from 0 to 100")
	f.Var(&o.goodput, "goodput", "objectives in milliseconds, as ttft:500 tpot:50 e2el:10000")
	_ = f.SetAnnotation("goodput", variadic, nil)
	f.StringVar(&o.label, "label", "", "name of the run; begins the result's file name")
	o.save.define(f)

	o.screen.define(o.groups.group("Screen"))
	return o
}

// parse reads a command line and checks everything that can be checked without the server.
func (o *serveOptions) parse(args []string) error {
	all := o.groups.set()
	rest, err := parseFlags(all, args)
	if errors.Is(err, errHelp) {
		return err
	}
	problems := []error{err}
	bad := func(format string, a ...any) { problems = append(problems, fmt.Errorf(format, a...)) }
	if len(rest) > 0 {
		bad("serve takes no arguments, got %q: 'vllm serve MODEL' starts a server, 'benchtop serve --model MODEL' loads one", rest)
	}
	o.command = hideSecrets(append([]string{"serve"}, args...))
	o.promptsGiven = all.Changed("num-prompts")
	if rate := float64(o.rate); o.duration > 0 && rate > 0 && !math.IsInf(rate, 1) && !o.promptsGiven {
		// The schedule decides how many there are.
		o.prompts = max(1, int(min(math.Round(rate*o.duration.Seconds()), math.MaxInt32)))
	}
	problems = append(problems, o.checkLoad()...)
	problems = append(problems, o.checkPrompts(all)...)
	problems = append(problems, o.checkReport()...)
	problems = append(problems, o.save.check(), o.screen.check())
	return errors.Join(problems...)
}

func (o *serveOptions) checkLoad() (problems []error) {
	bad := func(format string, a ...any) { problems = append(problems, fmt.Errorf(format, a...)) }
	if !slices.Contains(loadgen.Backends(), loadgen.Backend(o.backend)) {
		bad("--backend %s: use vllm, openai or openai-chat", quoted(o.backend))
	} else if suffix := loadgen.Backend(o.backend).Suffix(); o.endpoint != "" && !strings.HasSuffix(o.endpoint, suffix) {
		bad("--endpoint %s: for backend %s it must end in %s", quoted(o.endpoint), o.backend, suffix)
	}
	if o.dataset == "random" && !loadgen.Backend(o.backend).TakesTokenIDs() {
		bad("--dataset-name random draws token ids, which backend %s cannot send: use --backend openai, or --dataset-name sharegpt", o.backend)
	}
	var err error
	if o.target, err = target.New(target.Options{BaseURL: o.url(), APIKey: os.Getenv("OPENAI_API_KEY"), Insecure: o.insecure}); err != nil {
		bad("--base-url: %w", err)
	}
	if o.port < 1 || o.port > 65535 {
		bad("--port %d: ports are from 1 to 65535", o.port)
	}
	if !(o.rate > 0) {
		bad("--request-rate %s: must be more than 0", &o.rate)
	}
	if !(o.burstiness > 0) {
		bad("--burstiness %s: must be more than 0", &o.burstiness)
	}
	if o.concurrency < 0 {
		bad("--max-concurrency %d: must be more than 0, or 0 for no limit", o.concurrency)
	}
	if rate := float64(o.rate); rate > 0 && float64(o.prompts)/rate > longestRun.Seconds() {
		bad("--request-rate %s: %d requests would take more than a year", &o.rate, o.prompts)
	}
	if o.prompts < 1 {
		bad("--num-prompts %d: must be at least 1", o.prompts)
	}
	if o.seed < 0 || o.seed > math.MaxUint32 {
		bad("--seed %d: seeds are from 0 to 4294967295", o.seed)
	}
	for name, d := range map[string]time.Duration{"duration": o.duration, "drain-timeout": o.drain} {
		if d < 0 {
			bad("--%s %s: must not be negative", name, d)
		}
	}
	for name, d := range map[string]time.Duration{"stall-timeout": o.stall, "request-timeout": o.timeout} {
		if d <= 0 {
			bad("--%s %s: must be more than 0", name, d)
		}
	}
	if o.endless() && o.concurrency == 0 {
		bad("--duration at an infinite rate sends without end: limit it with --max-concurrency, --request-rate or --num-prompts")
	}
	if o.pacer != "" && !slices.Contains(loadgen.PacerKinds(), o.pacer) {
		bad("--pacer %s: this system has %s", quoted(o.pacer), strings.Join(loadgen.PacerKinds(), " and "))
	}
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return problems
}

// longestRun is beyond any run, and within what times can hold.
const longestRun = 365 * 24 * time.Hour

// endless says that only the clock ends the run.
func (o *serveOptions) endless() bool {
	return o.duration > 0 && math.IsInf(float64(o.rate), 1) && !o.promptsGiven
}

func (o *serveOptions) checkPrompts(given *pflag.FlagSet) (problems []error) {
	bad := func(format string, a ...any) { problems = append(problems, fmt.Errorf(format, a...)) }
	for _, name := range []string{"input-len", "output-len", "vocab-size", "sharegpt-output-len"} {
		if v, _ := given.GetInt(name); given.Changed(name) && v < 1 {
			bad("--%s %d: must be at least 1", name, v)
		}
	}
	switch o.dataset {
	case "random":
		if o.datasetPath != "" {
			bad("--dataset-path %s: the random data set takes no file", quoted(o.datasetPath))
		}
		ratio, err := datasets.ParseRangeRatio(o.ratio)
		if err != nil {
			bad("--random-range-ratio %s: %s", quoted(o.ratio), err)
		}
		// What is wrong with these two is told apart.
		o.random.Ratio, o.random.Seed, o.random.Prompts = ratio, max(0, o.seed), max(1, o.prompts)
		if o.inputLen > 0 {
			o.random.InputLen = o.inputLen
		}
		if o.outputLen > 0 {
			o.random.OutputLen = o.outputLen
		}
		o.ignoreEOS = true
		if err := o.random.Validate(); err != nil {
			problems = append(problems, err)
		}
	case "sharegpt":
		o.sharegpt.Path, o.sharegpt.Seed, o.sharegpt.Prompts = o.datasetPath, max(0, o.seed), max(1, o.prompts)
		if o.outputLen > 0 {
			o.sharegpt.OutputLen = o.outputLen
		}
		if o.datasetPath == "" {
			bad("--dataset-name sharegpt: needs a file; give one with --dataset-path")
		} else if _, err := os.Stat(o.datasetPath); err != nil {
			bad("--dataset-path %s: %w", quoted(o.datasetPath), errors.Unwrap(err))
		} else if err := o.sharegpt.Validate(); err != nil {
			problems = append(problems, err)
		}
		if o.endless() {
			bad("--duration at an infinite rate: with sharegpt say how many requests there may be with --num-prompts")
		}
	default:
		bad("--dataset-name %s: use random or sharegpt", quoted(o.dataset))
	}
	return problems
}

func (o *serveOptions) checkReport() (problems []error) {
	known := []string{metrics.TTFT, metrics.TPOT, metrics.ITL, metrics.E2EL, metrics.ClientQueue, metrics.E2ELQueued}
	for name := range strings.SplitSeq(o.metrics, ",") {
		if name = strings.TrimSpace(name); !slices.Contains(known, name) {
			problems = append(problems, fmt.Errorf("--percentile-metrics %s: unknown; use %s", quoted(name), strings.Join(known, ", ")))
			continue
		}
		o.parsedMetrics = append(o.parsedMetrics, name)
	}
	for text := range strings.SplitSeq(o.percentiles, ",") {
		p, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(p >= 0 && p <= 100) {
			problems = append(problems, fmt.Errorf("--metric-percentiles %s: expected numbers from 0 to 100, as 50,90,99.9", quoted(text)))
			continue
		}
		if !slices.Contains(o.parsedPercentiles, p) {
			o.parsedPercentiles = append(o.parsedPercentiles, p)
		}
	}
	return problems
}

// url is the base URL of the server.
func (o *serveOptions) url() string {
	if o.baseURL != "" {
		return o.baseURL
	}
	return "http://" + net.JoinHostPort(o.host, strconv.Itoa(o.port))
}

// rateValue is a flag of a positive number that may be inf.
type rateValue float64

func (v *rateValue) String() string {
	if math.IsInf(float64(*v), 1) {
		return "inf"
	}
	return strconv.FormatFloat(float64(*v), 'g', -1, 64)
}

func (v *rateValue) Type() string { return "number" }

func (v *rateValue) Set(s string) error {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) {
		return errors.New("expected a number or inf")
	}
	*v = rateValue(f)
	return nil
}

// objectives is the flag of goodput; each value adds one, a repeated metric replaces the earlier limit.
type objectives struct{ slo metrics.SLO }

func (v *objectives) String() string {
	var all []string
	for _, o := range v.slo {
		all = append(all, fmt.Sprintf("%s:%g", o.Metric, o.LimitMS))
	}
	return strings.Join(all, " ")
}

func (v *objectives) Type() string { return "name:ms" }

func (v *objectives) Set(s string) error {
	o, err := metrics.ParseObjective(s)
	if err == nil {
		v.slo = v.slo.With(o)
	}
	return err
}
