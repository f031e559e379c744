package prometheus

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	vm "github.com/VictoriaMetrics/metrics"

	"benchtop/internal/text"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// Figures are those of a run, and a sink of its events. docs/metrics.md defines them.
type Figures struct {
	plan *metrics.Plan
	run  string // as a label
	set  *vm.Set

	due, sent, completed, cancelled, in, out *vm.Counter
	good, abandoned, retries                 *vm.Counter // nil where the plan has no objectives, no such users
	queued, waiting, running                 *vm.Gauge
	// Histograms of latencies that the plan has, else nil.
	ttft, perToken, between, whole *vm.PrometheusHistogram

	mu         sync.Mutex
	objectives metrics.SLO // in force, guarded by mu
}

// The upper bounds of the buckets, in seconds, are those of vLLM's own histograms.
var (
	first = []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640,
		2560}
	each = []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	all  = []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
)

// New returns the figures of a run by its name and plan, which does not change any more.
func New(run string, plan *metrics.Plan) *Figures {
	s := vm.NewSet()
	f := &Figures{plan: plan, set: s, run: label("run", run), objectives: plan.Goodput}
	f.due, f.sent = s.NewCounter(f.name("requests_due_total")), s.NewCounter(f.name("requests_sent_total"))
	f.completed = s.NewCounter(f.name("requests_completed_total"))
	f.cancelled = s.NewCounter(f.name("requests_cancelled_total"))
	for _, kind := range metrics.Failures {
		f.failed(kind)
	}
	f.in, f.out = s.NewCounter(f.name("prompt_tokens_total")), s.NewCounter(f.name("generation_tokens_total"))
	f.queued = s.NewGauge(f.name("requests_queued"), nil)
	f.waiting = s.NewGauge(f.name("requests_in_flight", label("state", "waiting")), nil)
	f.running = s.NewGauge(f.name("requests_in_flight", label("state", "running")), nil)
	histogram := func(l metrics.Latency, name string, bounds []float64) *vm.PrometheusHistogram {
		if !plan.Measures(l) {
			return nil
		}
		return s.NewPrometheusHistogramExt(f.name(name), bounds)
	}
	f.ttft = histogram(metrics.TTFT, "time_to_first_token_seconds", first)
	f.between = histogram(metrics.ITL, "inter_token_latency_seconds", each)
	f.perToken = histogram(metrics.TPOT, "request_time_per_output_token_seconds", each)
	f.whole = histogram(metrics.E2EL, "e2e_request_latency_seconds", all)
	if plan.Judges(plan.Goodput) {
		f.good = s.NewCounter(f.name("requests_good_total"))
	}
	if plan.Abandon != "" {
		f.abandoned = s.NewCounter(f.name("requests_abandoned_total"))
	}
	if plan.Retry != "" {
		f.retries = s.NewCounter(f.name("retries_total"))
	}
	s.NewGauge(f.name("run_info", label("version", plan.Version), label("model", plan.ModelID),
		label("backend", plan.Backend), label("load", plan.Load)),
		func() float64 { return 1 })
	return f
}

// write writes the page. The library has no texts for its lines of help, which are left out.
func (f *Figures) write(w io.Writer) {
	var b bytes.Buffer
	f.set.WritePrometheus(&b)
	_, _ = w.Write(emptyHelp.ReplaceAll(b.Bytes(), nil)) // a reader that left
}

var emptyHelp = regexp.MustCompile(`(?m)^# HELP \S*\n`)

// name is that of a figure with its labels.
func (f *Figures) name(figure string, labels ...string) string {
	return "benchtop_" + figure + "{" + strings.Join(append([]string{f.run}, labels...), ",") + "}"
}

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// label is a label with its value, which may be foreign text.
func label(name, value string) string {
	const most = 300
	return name + `="` + escape.Replace(text.Clip(text.Clean(value), most)) + `"`
}

func (f *Figures) failed(kind metrics.Failure) *vm.Counter {
	return f.set.GetOrCreateCounter(f.name("requests_failed_total", label("failure", string(kind))))
}

// Take files an event.
func (f *Figures) Take(e *event.Event) {
	switch q := e.Request; e.Kind {
	case event.Due:
		f.due.Inc()
		f.queued.Inc()
	case event.Sent:
		f.sent.Inc()
		f.queued.Dec()
		f.waiting.Inc()
	case event.Chunk:
		f.chunk(q, len(q.Chunks)-1)
	case event.Done:
		f.left(q)
		if !f.plan.Warming(q) {
			f.done(q)
		}
	case event.Fact:
		f.fact(e.Value)
	}
}

// chunk counts the i-th chunk of a request, its newest. A request runs from its first chunk with output on.
func (f *Figures) chunk(q *metrics.Request, i int) {
	output := func(c metrics.Chunk) bool { return c.Tokens > 0 }
	c := q.Chunks[i]
	if output(c) && q.FirstToken == c.At && !slices.ContainsFunc(q.Chunks[:i], output) {
		f.waiting.Dec()
		f.running.Inc()
	}
	if !f.plan.Warming(q) {
		f.out.Add(int(c.Tokens))
	}
}

// left takes a request that ended from those in flight.
func (f *Figures) left(q *metrics.Request) {
	switch {
	case q.FirstToken != metrics.Never:
		f.running.Dec()
	case q.Sent != metrics.Never:
		f.waiting.Dec()
	case q.Due != metrics.Never:
		f.queued.Dec()
	}
}

// done counts a request that ended.
func (f *Figures) done(q *metrics.Request) {
	if f.retries != nil {
		f.retries.Add(q.Retries())
	}
	switch {
	case q.Failure == metrics.Abandoned:
		if f.abandoned != nil {
			f.abandoned.Inc()
		}
		f.early(q)
		return
	case q.Failure == metrics.Cancelled:
		f.cancelled.Inc()
		return
	case !q.OK():
		f.failed(q.Failure).Inc()
		return
	}
	f.completed.Inc()
	f.in.Add(q.InputTokens)
	more := q.OutputTokens // than came with the chunks
	for _, c := range q.Chunks {
		more -= int(c.Tokens)
	}
	f.out.Add(max(0, more))
	f.mu.Lock()
	objectives := f.objectives
	f.mu.Unlock()
	if f.good != nil && f.plan.Met(q, objectives).Good() {
		f.good.Inc()
	}
	update(f.perToken, q.TPOT())
	update(f.whole, q.E2EL())
	f.early(q)
}

// early takes the latencies of a request that need no success.
func (f *Figures) early(q *metrics.Request) {
	update(f.ttft, q.TTFT())
	for gap := range metrics.ITL.Plain(q) {
		update(f.between, gap)
	}
}

func update(h *vm.PrometheusHistogram, v time.Duration) {
	if h != nil {
		h.Update(v.Seconds()) // ignores what is negative, as Never
	}
}

func (f *Figures) fact(fact any) {
	switch x := fact.(type) {
	case metrics.LogEntry:
		if x.Objectives != nil {
			f.mu.Lock()
			f.objectives = *x.Objectives
			f.mu.Unlock()
		}
	case metrics.Steering:
		if load := x.LoadAt(0); load > 0 || x.Paused {
			f.set.GetOrCreateGauge(f.name("load", label("unit", x.Unit.String())), nil).Set(load)
		}
	}
}
