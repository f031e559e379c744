package spec

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"benchtop/export"
	"benchtop/internal/argv"
	"benchtop/internal/secret"
	"benchtop/internal/text"
	"benchtop/internal/usage"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// Report say what the report contains.
type Report struct {
	metrics, percentiles string
	Goodput              argv.Objectives
	workloads            []metrics.Workload // of a mixture
	tiers                Tiers
	gates                []metrics.Gate
	label                string
	metadata             argv.Pairs
	steadyOff            bool
	steadyThreshold      float64
	steadyMinWindow      time.Duration
	timelineThresholds   string
	formats              string
	// Prometheus is the address of a page with the figures of the run while it is on, "" for none.
	Prometheus string
	addresses  []string
	// Whole: the command has answers come in one piece, unless --stream is given.
	Whole bool
	Pictures
	// GroupHeaders are headers of answers by which places are compared.
	GroupHeaders   []string
	groupByEngines bool

	parsedMetrics     []metrics.Latency
	parsedPercentiles []float64
	parsedMetadata    []metrics.Pair
}

const defaultMetrics = "ttft,tpot,itl"

func (o *Report) define(f *pflag.FlagSet) {
	f.StringVar(&o.metrics, "percentile-metrics", defaultMetrics,
		"latencies to report: "+strings.Join(metrics.LatencyKeys(), ", "))
	argv.Words(f, "percentile-metrics", metrics.LatencyKeys()...)
	f.StringVar(&o.percentiles, "metric-percentiles", "99", "percentiles to report, from 0 to 100")
	f.Var(&o.Goodput, "goodput", "objectives in milliseconds, as ttft:500 tpot:50 e2el:10000")
	_ = f.SetAnnotation("goodput", argv.Variadic, nil)
	o.tiers.Define(f)
	f.Var(argv.List(&o.gates, "condition", metrics.ParseGate), "fail-on",
		"exit with code 3 if this condition is met, as 'p99_ttft_ms>500' or 'goodput<90%'; repeatable")
	_ = f.SetAnnotation("fail-on", argv.Variadic, nil)
	_ = f.SetAnnotation("fail-on", argv.Repeatable, nil)
	f.Float64Var(&o.steadyThreshold, "steady-state-threshold", 0.95,
		"share of --max-concurrency above which a closed loop counts as fully loaded")
	f.Var((*argv.Seconds)(&o.steadyMinWindow), "steady-state-min-window",
		"shortest time at full load without a warning (default: 10s or a tenth of the run)")
	f.Lookup("steady-state-min-window").DefValue = "0" // pflag would show 0s
	f.BoolVar(&o.steadyOff, "no-steady-state", false, "omit the figures at full load")
	f.BoolVar(&o.Timeline, "plot-timeline", false, "write an HTML timeline of all requests beside the result")
	f.StringVar(&o.timelineThresholds, "timeline-itl-thresholds", "25,50",
		"two latencies in milliseconds at which the timeline changes colour")
	f.BoolVar(&o.Page, "html", false, "write the report as an HTML page beside the result")
	f.BoolVar(&o.DatasetStats, "plot-dataset-stats", false, "write a plot of the token counts beside the result")
	f.BoolVar(&o.NoPlots, "no-plots", false, "no text plots below the report")
	f.BoolVar(&o.JSON, "json", false,
		"print the result as JSON on standard output, all text on standard error; no dashboard")
	f.StringVar(&o.formats, "export", "",
		"write the figures beside the result as well: csv, md, or as junit the --fail-on conditions for programs of CI")
	argv.Words(f, "export", export.Formats...)
	f.Var(argv.List(&o.addresses, "[address]", parseAddress), "prometheus",
		"show the figures of the run, while it is on, to Prometheus at this address "+
			"(default "+usualAddress+" if none is given)")
	_ = f.SetAnnotation("prometheus", argv.Variadic, []string{"0"})
	f.Var(argv.List(&o.GroupHeaders, "header", argv.Text), "group-by-header",
		"compare the places that this header of answers names, such as x-served-by, and name the slow one; up to 3")
	_ = f.SetAnnotation("group-by-header", argv.Variadic, nil)
	f.BoolVar(&o.groupByEngines, "group-by-engine", false,
		"compare the engines of servers, such as data-parallel ranks, by their /metrics, and name the slow one")
	f.StringVar(&o.label, "label", "", "name of the run; prefix of the result's file name")
	f.Var(&o.metadata, "metadata", "your own keys for the result, as KEY=VALUE KEY=VALUE")
	_ = f.SetAnnotation("metadata", argv.Variadic, []string{"0"})
}

// usualAddress is that of --prometheus unless one is given. The port is that of exporters of OpenTelemetry.
const usualAddress = "127.0.0.1:9464"

// parseAddress reads HOST:PORT, or a port of this machine alone.
func parseAddress(s string) (string, error) {
	if !strings.Contains(s, ":") {
		s = "127.0.0.1:" + s
	}
	_, port, err := net.SplitHostPort(s)
	if _, wrong := strconv.ParseUint(port, 10, 16); err != nil || wrong != nil {
		return "", errors.New("expected an address to listen at, as " + usualAddress + ", or a port; the URL of the " +
			"server goes in front of --prometheus")
	}
	return s, nil
}

// workloadsJudged reports whether a workload of a mixture has objectives of its own.
func (o *Report) workloadsJudged() bool {
	return slices.ContainsFunc(o.workloads, func(w metrics.Workload) bool { return len(w.Goodput) > 0 })
}

// checkGroupHeaders checks the names of headers of answers.
func (o *Report) checkGroupHeaders(p *usage.Problems, given *pflag.FlagSet) {
	p.BadIf(len(o.GroupHeaders) > metrics.MostAxisHeaders, "--group-by-header: %d headers; use at most %d",
		len(o.GroupHeaders), metrics.MostAxisHeaders)
	echo, _ := given.GetString("echo-header")
	for i, name := range o.GroupHeaders {
		if err := target.CheckHeader(http.Header{name: nil}); err != nil {
			p.Bad("--group-by-header: %w", err)
		}
		p.BadIf(slices.ContainsFunc(o.GroupHeaders[:i], func(s string) bool { return strings.EqualFold(s, name) }),
			"--group-by-header %s: given twice", usage.Quote(name))
		p.BadIf(strings.EqualFold(name, "Set-Cookie") || strings.EqualFold(name, echo),
			"--group-by-header %s: its values are secrets, which no report shows; use another header",
			usage.Quote(name))
	}
}

func (o *Report) check(given *pflag.FlagSet, to protocol.Protocol) (p usage.Problems) {
	switch {
	case to != nil && !to.Traits().Streams:
		p = o.checkWhole(given, "backend "+to.Traits().Name+" does not stream, so only e2el exists")
	case o.Whole:
		p = o.checkWhole(given, "answers come in one piece, so only e2el exists; add --stream")
	}
	if o.metrics == "" {
		o.metrics = defaultMetrics // as with vLLM
	}
	for name := range strings.SplitSeq(o.metrics, ",") {
		l, known := metrics.LatencyOf(strings.TrimSpace(name))
		p.BadIf(!known, "--percentile-metrics %s: unknown; use %s", usage.Quote(strings.TrimSpace(name)),
			strings.Join(metrics.LatencyKeys(), ", "))
		o.parsedMetrics = append(o.parsedMetrics, l)
	}
	o.add(parsePercentiles(&p, "metric-percentiles", o.percentiles))
	o.tiers.Check(&p)
	p.BadIf(len(o.tiers) > 0 && o.workloadsJudged(),
		"--tier and a workload with goodput of its own: choose one; tiers judge all requests alike")
	p.BadIf(len(o.tiers) > 0 && len(o.Goodput) > 0,
		"--goodput and --tier: choose one; the first tier stands for --goodput")
	for _, g := range o.gates {
		p.BadIf(g.NeedsObjectives() && len(o.slo()) == 0 && !o.workloadsJudged(),
			"--fail-on %s: give the objectives with --goodput, as --goodput ttft:500", usage.Quote(g.String()))
	}
	o.checkGroupHeaders(&p, given)
	p.BadIf(len(o.addresses) > 1, "--prometheus %s: one address is enough", strings.Join(o.addresses, " "))
	if given.Changed("prometheus") {
		o.Prometheus = append(o.addresses, usualAddress)[0]
	}
	o.Formats = strings.FieldsFunc(o.formats, func(r rune) bool { return r == ',' || r == ' ' })
	for _, name := range o.Formats {
		p.OneOf("export", name, export.Formats...)
	}
	var err error
	if o.parsedMetadata, err = o.metadata.Split("metadata"); err != nil {
		p = append(p, err)
	}
	for i, m := range o.parsedMetadata {
		if secret.Name.MatchString(m.Key) {
			o.parsedMetadata[i].Value = secret.Mask
		}
		p.BadIf(m.Key == "benchtop",
			"--metadata benchtop=...: the result already has a key of that name; choose another")
	}
	p.BadIf(!(o.steadyThreshold > 0 && o.steadyThreshold <= 1),
		"--steady-state-threshold %g: must be more than 0 and at most 1", o.steadyThreshold)
	p.BadIf(o.steadyMinWindow < 0, "--steady-state-min-window %s: must not be negative", o.steadyMinWindow)
	if o.Thresholds, err = parseThresholds(o.timelineThresholds); err != nil {
		p = append(p, err)
	}
	return p
}

// parsePercentiles reads the numbers of a flag.
func parsePercentiles(p *usage.Problems, flag, list string) (all []float64) {
	for text := range strings.SplitSeq(list, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		p.BadIf(err != nil || !(v >= 0 && v <= 100), "--%s %s: expected numbers from 0 to 100, as 50,90,99.9", flag,
			usage.Quote(text))
		all = append(all, v)
	}
	return all
}

// add adds percentiles to those of the report.
func (o *Report) add(percentiles []float64) {
	for _, v := range percentiles {
		if !slices.Contains(o.parsedPercentiles, v) {
			o.parsedPercentiles = append(o.parsedPercentiles, v)
		}
	}
}

// checkWhole checks a report of answers that come in one piece, for this reason.
func (o *Report) checkWhole(given *pflag.FlagSet, reason string) (p usage.Problems) {
	if !given.Changed("percentile-metrics") {
		o.metrics = metrics.E2EL.Key() // as with vLLM
	}
	for name, all := range map[string]metrics.SLO{"goodput": metrics.SLO(o.Goodput), "tier": o.tiers.limits()} {
		for _, x := range all {
			p.BadIf(x.Metric.Streams(), "--%s %s: %s", name, x.Metric, reason)
		}
	}
	for _, g := range o.gates {
		l, ok := g.Latency()
		p.BadIf(ok && l.Streams(), "--fail-on %s: %s", usage.Quote(g.String()), reason)
	}
	return p
}

// slo are the objectives of the run: those of the first tier, where there are tiers.
func (o *Report) slo() metrics.SLO {
	if len(o.tiers) > 0 {
		return o.tiers[0].SLO
	}
	return metrics.SLO(o.Goodput)
}

// within are the objectives of a search for a person, "" for none.
func (o *Report) within() string {
	switch slo := o.slo(); {
	case len(slo) == 0:
		return ""
	case len(o.tiers) == 0:
		return strings.ReplaceAll(slo.String(), " ", ", ") + " (ms)"
	}
	return text.Join(metrics.Each(o.tiers, func(t metrics.Tier) string { return t.Name }), " and ")
}

// Plan enters the contents of the report into a plan.
func (o *Report) Plan(p *metrics.Plan) {
	p.Label, p.Metrics, p.Percentiles, p.Metadata = o.label, o.parsedMetrics, o.parsedPercentiles, o.parsedMetadata
	p.Goodput, p.Tiers, p.Gates, p.Workloads, p.Whole = o.slo(), o.tiers, o.gates, o.workloads, o.Whole
	p.Engines = p.Engines || o.groupByEngines
	for _, name := range o.GroupHeaders {
		p.Axes = append(p.Axes, metrics.Axis{By: metrics.AxisHeader, Header: name})
	}
	p.SteadyState = metrics.SteadyStateRule{Off: o.steadyOff, Threshold: o.steadyThreshold,
		MinWindow: o.steadyMinWindow}
}

// parseThresholds reads the two limits that colour the gaps of a time line.
func parseThresholds(text string) ([2]float64, error) {
	low, high, _ := strings.Cut(text, ",")
	a, err1 := strconv.ParseFloat(strings.TrimSpace(low), 64)
	b, err2 := strconv.ParseFloat(strings.TrimSpace(high), 64)
	if err1 != nil || err2 != nil || !(a < b) || math.IsInf(a, 0) || math.IsInf(b, 0) {
		return [2]float64{},
			fmt.Errorf("--timeline-itl-thresholds %s: expected two numbers of milliseconds, the smaller first, as "+
				"25,50", usage.Quote(text))
	}
	return [2]float64{a, b}, nil
}

// Pictures choose the pictures of a run, below its report and beside its result.
type Pictures struct {
	NoPlots      bool // below the report
	Timeline     bool
	Page         bool       // of the report
	Thresholds   [2]float64 // milliseconds
	DatasetStats bool
	JSON         bool     // the result, on standard output
	Formats      []string // of export.Write, for files beside the result
	// Arguments are all flags and their values, for the result's file in PyTorch's form.
	Arguments func() []export.Arg
	// Pytorch writes that file for a result with a form of its own, whose name it is given; nil for that of serve.
	Pytorch func(w io.Writer, r metrics.Report, file string) error
}

// Arguments are all flags with their values under the names vLLM has for them.
func (o *Spec) Arguments() (all []export.Arg) {
	o.Flags.VisitAll(func(f *pflag.Flag) {
		all = append(all, export.Arg{Name: strings.ReplaceAll(f.Name, "-", "_"), Value: o.argument(f)})
	})
	return all
}

// Typed is the value of a flag from its text: a bool, a number or a string.
func Typed(f *pflag.Flag, text string) any {
	switch f.Value.Type() {
	case "bool":
		return text == "true"
	case "int", "int64":
		n, _ := strconv.ParseInt(text, 10, 64)
		return n
	case "float64", "number":
		v, _ := strconv.ParseFloat(text, 64)
		return v
	}
	return text
}

func (o *Spec) argument(f *pflag.Flag) any {
	switch f.Name {
	case "header":
		return secret.Mask
	case "endpoint":
		return o.Server.Path()
	}
	text := f.Value.String()
	if f.Name == "metadata" {
		text = strings.Join(secret.HideWords(strings.Split(text, " "), nil), " ")
	}
	if length := o.Prompts.LengthOver(f.Name); length > 0 {
		text = strconv.Itoa(length)
	}
	if !f.Changed && (f.DefValue == "" || f.DefValue == "0" && !slices.Contains(zeroByDefault, f.Name)) {
		return nil
	}
	switch v := Typed(f, text).(type) {
	case string:
	case float64:
		if strings.HasPrefix(f.Name, "ramp-up") && v == math.Trunc(v) { // whole numbers to vLLM
			return int64(v)
		}
		return v
	default:
		return v
	}
	for _, v := range o.Server.Secrets() {
		text = strings.ReplaceAll(text, v, secret.Mask)
	}
	return secret.HideWords([]string{"--" + f.Name, text}, nil)[1]
}

// zeroByDefault are vLLM's flags that are 0 and not nothing when they are not given.
var zeroByDefault = []string{"seed", "num-warmups", "ready-check-timeout-sec", "probe-request-rate",
	"random-prefix-len"}
