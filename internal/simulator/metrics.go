package simulator

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// metrics writes the state of the engine under vLLM's names, as Prometheus text.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) *apiError {
	var page metricsPage
	page.labels = fmt.Sprintf(`engine="0",model_name="%s"`, labelValue(s.profile.Model))
	page.write(s.engine.snapshot())
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = io.WriteString(w, page.text.String()) // the client may be gone
	return nil
}

// metricsPage builds the text. Every series has the same labels, some have one more.
type metricsPage struct {
	text   strings.Builder
	labels string
}

func (p *metricsPage) write(s snapshot) {
	p.single("gauge", "vllm:num_requests_running", "Number of requests in model execution batches.", float64(s.running))
	p.single("gauge", "vllm:num_requests_waiting", "Number of requests waiting to be processed.", float64(s.waiting))
	p.single("gauge", "vllm:kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", s.cacheUsage)
	p.single("counter", "vllm:num_preemptions_total", "Cumulative number of preemption from the engine.",
		float64(s.preemptions))
	p.single("counter", "vllm:prompt_tokens_total", "Number of prefill tokens processed.", float64(s.promptTokens))
	p.single("counter", "vllm:generation_tokens_total", "Number of generation tokens processed.",
		float64(s.generationTokens))

	p.single("counter", "vllm:prefix_cache_queries_total",
		"Prefix cache queries, in terms of number of queried tokens.",
		float64(s.prefixQueries))
	p.single("counter", "vllm:prefix_cache_hits_total", "Prefix cache hits, in terms of number of cached tokens.",
		float64(s.prefixHits))

	p.speculation(s.speculation)

	p.head("counter", "vllm:request_success_total", "Count of successfully processed requests.")
	for _, reason := range []string{"stop", "length", "abort"} {
		p.sample("vllm:request_success_total", `finished_reason="`+reason+`"`, float64(s.ends[reason]))
	}

	for _, h := range s.times {
		p.histogram(h)
	}
}

// speculation writes nothing for a server that does not draft, as in vLLM.
func (p *metricsPage) speculation(s speculation) {
	if len(s.accepted) == 0 {
		return
	}
	p.single("counter", "vllm:spec_decode_num_drafts_total", "Number of spec decoding drafts.", float64(s.drafts))
	p.single("counter", "vllm:spec_decode_num_draft_tokens_total", "Number of draft tokens.", float64(s.draftTokens))
	p.single("counter", "vllm:spec_decode_num_accepted_tokens_total", "Number of accepted tokens.",
		float64(s.acceptedTokens()))
	const perPosition = "vllm:spec_decode_num_accepted_tokens_per_pos_total"
	p.head("counter", perPosition, "Accepted tokens per draft position.")
	for position, n := range s.accepted {
		p.sample(perPosition, fmt.Sprintf(`position="%d"`, position), float64(n))
	}
}

func (p *metricsPage) head(kind, name, help string) {
	fmt.Fprintf(&p.text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (p *metricsPage) single(kind, name, help string, value float64) {
	p.head(kind, name, help)
	p.sample(name, "", value)
}

func (p *metricsPage) sample(name, label string, value float64) {
	labels := p.labels
	if label != "" {
		labels += "," + label
	}
	fmt.Fprintf(&p.text, "%s{%s} %s\n", name, labels, number(value))
}

func (p *metricsPage) histogram(h histogram) {
	p.head("histogram", h.name, h.help)
	below := 0
	for i, n := range h.counts {
		below += n
		bound := "+Inf"
		if i < len(h.bounds) {
			bound = number(h.bounds[i])
		}
		p.sample(h.name+"_bucket", `le="`+bound+`"`, float64(below))
	}
	p.sample(h.name+"_count", "", float64(below))
	p.sample(h.name+"_sum", "", h.sum.Seconds())
}

// number writes whole numbers with ".0", as Python's client does.
func number(v float64) string {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

func labelValue(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s)
}

// observations are the engine's counts since its start, for the metrics page. Guarded by engine.mu.
type observations struct {
	promptTokens     int
	generationTokens int
	ends             map[string]int // sequences ended, by reason
	speculation      speculation

	// Tokens of prompts looked up in the prefix cache, and those of them that were there.
	prefixQueries, prefixHits int

	times [numTimes]histogram
}

// Times of sequences, in the order of the page.
const (
	firstToken = iota
	interToken
	endToEnd
	queueTime
	prefillTime
	numTimes
)

func newObservations(specTokens int) observations {
	// The bounds are vLLM's, so that dashboards made for it fit.
	request := []float64{
		0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680,
	}
	return observations{
		ends:        make(map[string]int),
		speculation: speculation{accepted: make([]int, specTokens)},
		times: [numTimes]histogram{
			firstToken: newHistogram("vllm:time_to_first_token_seconds", "Histogram of time to first token in seconds.",
				0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160,
				640, 2560),
			interToken: newHistogram("vllm:inter_token_latency_seconds", "Histogram of inter-token latency in seconds.",
				0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80),
			endToEnd: newHistogram("vllm:e2e_request_latency_seconds",
				"Histogram of e2e request latency in seconds.", request...),
			queueTime: newHistogram("vllm:request_queue_time_seconds",
				"Histogram of time spent in WAITING phase for request.", request...),
			prefillTime: newHistogram("vllm:request_prefill_time_seconds",
				"Histogram of time spent in PREFILL phase for request.", request...),
		},
	}
}

// admitted counts the cache hits of a sequence at its first admission.
func (o *observations) admitted(seq *sequence) {
	if seq.names != nil {
		o.prefixQueries += seq.prompt
		o.prefixHits += seq.cached
	}
}

// tokens counts n tokens of seq at the end of a step, before seq.lastToken moves.
func (o *observations) tokens(seq *sequence, n int, end time.Time) {
	if !seq.pooled {
		o.generationTokens += n
	}
	if !seq.lastToken.IsZero() {
		o.times[interToken].add(end.Sub(seq.lastToken))
		return
	}
	o.promptTokens += seq.prompt
	o.times[firstToken].add(end.Sub(seq.arrived))
}

// finished counts a sequence that was not aborted. As in vLLM, its waits are observed only now.
func (o *observations) finished(seq *sequence, end time.Time) {
	o.times[endToEnd].add(end.Sub(seq.arrived))
	o.times[queueTime].add(seq.admitted.Sub(seq.arrived))
	o.times[prefillTime].add(seq.firstToken.Sub(seq.admitted))
	o.ended(seq.reason)
}

func (o *observations) ended(reason string) { o.ends[reason]++ }

// snapshot is the state of the engine at one moment.
type snapshot struct {
	observations
	running, waiting int
	cacheUsage       float64 // 0 to 1
	preemptions      int
}

// snapshot copies the state for the metrics page. Sequences that arrived during the current step count as waiting.
func (e *engine) snapshot() snapshot {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := snapshot{
		observations: e.observed,
		running:      len(e.sched.running),
		waiting:      len(e.sched.waiting) + len(e.pending),
		cacheUsage:   e.sched.pool.usage(),
		preemptions:  e.sched.preemptions,
	}
	s.speculation.accepted = slices.Clone(e.observed.speculation.accepted)
	s.ends = maps.Clone(e.observed.ends)
	for i := range s.times {
		s.times[i].counts = slices.Clone(s.times[i].counts)
	}
	return s
}

// histogram counts durations as a Prometheus histogram does: each bucket up to and including its bound in seconds.
type histogram struct {
	name, help string
	bounds     []float64 // seconds, ascending
	counts     []int     // one per bound and one above all
	sum        time.Duration
}

func newHistogram(name, help string, bounds ...float64) histogram {
	return histogram{name: name, help: help, bounds: bounds, counts: make([]int, len(bounds)+1)}
}

func (h *histogram) add(d time.Duration) {
	h.counts[sort.SearchFloat64s(h.bounds, d.Seconds())]++
	h.sum += d
}
