package cli

import (
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"benchtop/export"
	"benchtop/loadgen"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// problemList collects what is wrong, so that it is told at once.
type problemList []error

func (p *problemList) bad(format string, a ...any) { *p = append(*p, fmt.Errorf(format, a...)) }

func (o *serverOptions) check() (p problemList) {
	if !slices.Contains(loadgen.Backends(), loadgen.Backend(o.backend)) {
		p.bad("--backend %s: use vllm, openai or openai-chat", quoted(o.backend))
	} else if suffix := loadgen.Backend(o.backend).Suffix(); o.endpoint != "" && !strings.HasSuffix(o.endpoint, suffix) {
		p.bad("--endpoint %s: for backend %s it must end in %s", quoted(o.endpoint), o.backend, suffix)
	}
	pairs, err := o.headers.pairs("header")
	if err != nil {
		p = append(p, err)
	}
	header := http.Header{}
	for _, h := range pairs {
		header.Set(h.Key, h.Value)
	}
	o.target, err = target.New(target.Options{
		BaseURL: o.url(), APIKey: os.Getenv("OPENAI_API_KEY"), Insecure: o.insecure, Header: header,
	})
	if err != nil && strings.HasPrefix(err.Error(), "header") {
		p.bad("--header: %w", err)
	} else if err != nil {
		p.bad("--base-url: %w", err)
	}
	if o.port < 1 || o.port > 65535 {
		p.bad("--port %d: ports are from 1 to 65535", o.port)
	}
	if o.ready < 0 {
		o.ready = 0 // as with vLLM
	}
	return p
}

// url is the base URL of the server.
func (o *serverOptions) url() string {
	if o.baseURL != "" {
		return o.baseURL
	}
	return "http://" + net.JoinHostPort(strings.Trim(o.host, "[]"), strconv.Itoa(o.port))
}

// path of the API on the server.
func (o *serverOptions) path() string {
	if o.endpoint != "" {
		return o.endpoint
	}
	return loadgen.Backend(o.backend).Endpoint()
}

// secrets are the parts of the command line that must not be shown, as they were written.
func (o *serverOptions) secrets() []string { return o.headers.ever }

func (o *contentOptions) check(given *pflag.FlagSet, chat bool) (p problemList) {
	switch o.loraAssignment {
	case "random", "round-robin":
	default:
		p.bad("--lora-assignment %s: use random or round-robin", quoted(o.loraAssignment))
	}
	if o.cache != cacheAsIs && o.cache != cacheCold {
		p.bad("--cache %s: use cold or as-is", quoted(o.cache))
	}
	if o.cache == cacheCold && slices.ContainsFunc(o.extraBody.Fields(), func(f loadgen.Field) bool { return f.Name == "cache_salt" }) {
		p.bad("--cache cold and a cache_salt in --extra-body: choose one, since cold draws a salt of its own for each run")
	}
	if strings.ContainsFunc(o.idPrefix, func(r rune) bool { return r <= ' ' || r > '~' }) {
		p.bad("--request-id-prefix %q: it travels in a header, so it may hold only printable ASCII without blanks", o.idPrefix)
	}
	if given.Changed("logprobs") {
		switch {
		case o.logprobs < 0:
			p.bad("--logprobs %d: must be 0 or more", o.logprobs)
		case chat:
			o.notes = append(o.notes, "--logprobs has no effect: only completions carry it, as with vLLM; for chat use --extra-body")
		default:
			o.fields = append(o.fields, loadgen.Field{Name: "logprobs", JSON: strconv.Itoa(o.logprobs)})
		}
	}
	for _, x := range o.sampling.floats() {
		if given.Changed(x.flag) && (math.IsNaN(*x.value) || math.IsInf(*x.value, 0)) {
			p.bad("--%s: must be a finite number", x.flag)
		}
	}
	o.sampled = o.sampling.fields(given)
	if !given.Changed("temperature") {
		o.remarks = append(o.remarks, "no --temperature given: the server's default applies")
	}
	return p
}

// bodyFields are the members of the request body that do not depend on the prompt, in the order in which vLLM's client
// sets them.
func (o *contentOptions) bodyFields(ignoreEOS bool) []loadgen.Field {
	fields := slices.Clone(o.fields)
	if o.ignoreEOS || ignoreEOS {
		fields = append(fields, loadgen.Field{Name: "ignore_eos", JSON: "true"})
	}
	fields = append(fields, o.sampled...)
	return append(fields, o.extraBody.Fields()...)
}

func (o *loadOptions) check() (p problemList) {
	if !(o.rate > 0) {
		p.bad("--request-rate %s: must be more than 0", &o.rate)
	}
	if !(o.burstiness > 0) {
		p.bad("--burstiness %s: must be more than 0", &o.burstiness)
	}
	if o.concurrency < 0 {
		p.bad("--max-concurrency %d: must be more than 0, or 0 for no limit", o.concurrency)
	}
	p = append(p, o.checkDraws()...)
	if o.warmups < 0 {
		p.bad("--num-warmups %d: must not be negative", o.warmups)
	}
	if !(o.probeRate >= 0) || math.IsInf(o.probeRate, 0) {
		p.bad("--probe-request-rate %g: must be a number of 0 or more", o.probeRate)
	}
	for _, x := range []struct {
		name string
		d    time.Duration
		zero bool
	}{
		{"duration", o.duration, true}, {"warmup", o.warmup, true}, {"drain-timeout", o.drain, true}, {"ramp-over", o.rampOver, true},
		{"stall-timeout", o.stall, false}, {"request-timeout", o.timeout, false},
	} {
		switch {
		case x.d > longestRun:
			p.bad("--%s %s: more than a year", x.name, x.d)
		case x.d < 0:
			p.bad("--%s %s: must not be negative", x.name, x.d)
		case x.d == 0 && !x.zero:
			p.bad("--%s %s: must be more than 0", x.name, x.d)
		}
	}
	p = append(p, o.checkRamp()...)
	p = append(p, o.checkStages()...)
	p = append(p, o.checkTrace()...)
	if o.rampOver > 0 && o.everyRow() && o.duration == 0 {
		p.bad("--num-prompts 0 with --ramp-over: say with --duration when the run ends, as nobody knows yet how many rows there are")
	}
	if len(p) > 0 {
		return p
	}
	if rate := float64(o.rate); !math.IsInf(rate, 1) && float64(o.planned())/rate > longestRun.Seconds() {
		p.bad("--request-rate %s: %d requests would take more than a year", &o.rate, o.planned())
	}
	if n := max(o.expected(), float64(o.planned())); n > loadgen.MostArrivals {
		p.bad("about %.3g requests: more than %d are too many for one run", n, loadgen.MostArrivals)
	}
	if o.endless() && o.concurrency == 0 && len(o.users.stages) == 0 && !o.find.searching() {
		p.bad("--duration at an infinite rate sends without end: limit it with --max-concurrency, --request-rate or --num-prompts")
	}
	if end := o.length(); o.warmup > 0 && end > 0 && o.warmup >= end {
		p.bad("--warmup %s: the run is over after %s", export.Duration(o.warmup), export.Duration(end))
	}
	return p
}

// checkDraws is about what is drawn, whenever it is sent.
func (o *loadOptions) checkDraws() (p problemList) {
	switch {
	case o.prompts < 1 && !o.allRows:
		p.bad("--num-prompts %d: must be at least 1", o.prompts)
	case o.prompts < 0:
		p.bad("--num-prompts %d: must be at least 1, or 0 for every row once", o.prompts)
	}
	if o.seed < 0 || o.seed > math.MaxUint32 {
		p.bad("--seed %d: seeds are from 0 to 4294967295", o.seed)
	}
	return p
}

func (o *loadOptions) checkRamp() (p problemList) {
	from, to := o.rampFrom, o.rampTo
	if o.ramp == "" {
		if o.rampOver > 0 {
			p.bad("--ramp-over: needs --ramp-up-strategy, --ramp-up-start-rps and --ramp-up-end-rps")
		}
		return p
	}
	if o.ramp != "linear" && o.ramp != "exponential" {
		p.bad("--ramp-up-strategy %s: use linear or exponential", quoted(o.ramp))
	}
	if !math.IsInf(float64(o.rate), 1) {
		p.bad("--ramp-up-strategy and --request-rate: choose one; a ramp has rates of its own")
	}
	for _, x := range []struct {
		name string
		v    float64
	}{{"start", from}, {"end", to}} {
		switch {
		case math.IsNaN(x.v):
			p.bad("--ramp-up-strategy: needs --ramp-up-%s-rps, a number of requests per second", x.name)
		case x.v < 0 || math.IsInf(x.v, 0):
			p.bad("--ramp-up-%s-rps %g: must be a rate of 0 or more", x.name, x.v)
		}
	}
	switch {
	case from > to:
		p.bad("--ramp-up-start-rps %g: must not be more than --ramp-up-end-rps %g", from, to)
	case to == 0:
		p.bad("--ramp-up-end-rps 0: nothing would be sent")
	case from == 0 && o.ramp == "exponential":
		p.bad("--ramp-up-start-rps 0: an exponential ramp cannot start at 0")
	case from == 0 && o.rampOver == 0:
		p.bad("--ramp-up-start-rps 0: a ramp over the requests would never send the first; start from 1, or add --ramp-over 60s")
	}
	return p
}

func (o *loadOptions) checkStages() (p problemList) {
	rates, users := len(o.stages.stages) > 0, len(o.users.stages) > 0
	name := map[bool]string{true: "--stages", false: "--concurrency-stages"}[rates]
	if !rates && !users {
		return nil
	}
	if rates && users {
		p.bad("--stages and --concurrency-stages: choose one")
	}
	if o.ramp != "" {
		p.bad("%s and --ramp-up-strategy: choose one", name)
	}
	if !math.IsInf(float64(o.rate), 1) {
		p.bad("%s and --request-rate: choose one; stages have loads of their own", name)
	}
	if users && o.concurrency > 0 {
		p.bad("--concurrency-stages and --max-concurrency: choose one")
	}
	if rates && !slices.ContainsFunc(o.stages.stages, func(s metrics.Stage) bool { return s.Rate > 0 }) {
		p.bad("--stages %s: nothing would be sent", &o.stages)
	}
	return p
}

// checkTrace refuses loads beside the times of a trace. A rate is ignored, as with vLLM.
func (o *loadOptions) checkTrace() (p problemList) {
	for _, x := range []struct {
		name  string
		given bool
	}{
		{"stages", len(o.stages.stages) > 0}, {"concurrency-stages", len(o.users.stages) > 0},
		{"ramp-over", o.rampOver > 0}, {"find", o.find.searching()},
	} {
		if o.selfTimed && x.given {
			p.bad("--%s: the trace has times of its own; add --no-self-timed to send it otherwise", x.name)
		}
	}
	return p
}

// longestRun is beyond any run, and within what times can hold.
const longestRun = 365 * 24 * time.Hour

func (o *reportOptions) check() (p problemList) {
	known := []string{metrics.TTFT, metrics.TPOT, metrics.ITL, metrics.E2EL, metrics.ClientQueue, metrics.E2ELQueued}
	if o.metrics == "" {
		o.metrics = defaultMetrics // as with vLLM
	}
	for name := range strings.SplitSeq(o.metrics, ",") {
		if name = strings.TrimSpace(name); !slices.Contains(known, name) {
			p.bad("--percentile-metrics %s: unknown; use %s", quoted(name), strings.Join(known, ", "))
			continue
		}
		o.parsedMetrics = append(o.parsedMetrics, name)
	}
	for text := range strings.SplitSeq(o.percentiles, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(v >= 0 && v <= 100) {
			p.bad("--metric-percentiles %s: expected numbers from 0 to 100, as 50,90,99.9", quoted(text))
			continue
		}
		if !slices.Contains(o.parsedPercentiles, v) {
			o.parsedPercentiles = append(o.parsedPercentiles, v)
		}
	}
	for _, g := range o.gates {
		if g.NeedsObjectives() && len(o.goodput.slo) == 0 {
			p.bad("--fail-on %s: say with --goodput what is good, as --goodput ttft:500", quoted(g.String()))
		}
	}
	var err error
	if o.parsedMetadata, err = o.metadata.pairs("metadata"); err != nil {
		p = append(p, err)
	}
	for _, m := range o.parsedMetadata {
		if m.Key == "benchtop" {
			p.bad("--metadata benchtop=...: the result has a key of that name; choose another")
		}
	}
	if !(o.steadyThreshold > 0 && o.steadyThreshold <= 1) {
		p.bad("--steady-state-threshold %g: must be more than 0 and at most 1", o.steadyThreshold)
	}
	if o.steadyMinWindow < 0 {
		p.bad("--steady-state-min-window %s: must not be negative", o.steadyMinWindow)
	}
	if o.parsedThresholds, err = parseThresholds(o.timelineThresholds); err != nil {
		p = append(p, err)
	}
	return p
}

// parseThresholds reads the two numbers that part the gaps of a time line.
func parseThresholds(text string) ([2]float64, error) {
	low, high, _ := strings.Cut(text, ",")
	a, err1 := strconv.ParseFloat(strings.TrimSpace(low), 64)
	b, err2 := strconv.ParseFloat(strings.TrimSpace(high), 64)
	if err1 != nil || err2 != nil || !(a < b) || math.IsInf(a, 0) || math.IsInf(b, 0) {
		return [2]float64{}, fmt.Errorf("--timeline-itl-thresholds %s: expected two numbers of milliseconds, the smaller first, as 25,50", quoted(text))
	}
	return [2]float64{a, b}, nil
}
