package simulator

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// metrics writes the state of the engine under vLLM's names, as Prometheus text.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) *apiError {
	var page metricsPage
	page.labels = fmt.Sprintf(`engine="0",model_name="%s"`, labelValue(s.profile.Model))
	page.write(s.engine.snapshot())
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = io.WriteString(w, page.text.String()) // a client that has gone is no error of ours
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
	p.single("counter", "vllm:num_preemptions_total", "Cumulative number of preemption from the engine.", float64(s.preemptions))
	p.single("counter", "vllm:prompt_tokens_total", "Number of prefill tokens processed.", float64(s.promptTokens))
	p.single("counter", "vllm:generation_tokens_total", "Number of generation tokens processed.", float64(s.generationTokens))

	p.single("counter", "vllm:prefix_cache_queries_total", "Prefix cache queries, in terms of number of queried tokens.",
		float64(s.prefixQueries))
	p.single("counter", "vllm:prefix_cache_hits_total", "Prefix cache hits, in terms of number of cached tokens.", float64(s.prefixHits))

	p.speculation(s.speculation)

	p.head("counter", "vllm:request_success_total", "Count of successfully processed requests.")
	for _, reason := range endReasons() {
		p.sample("vllm:request_success_total", `finished_reason="`+reason+`"`, float64(s.ends[reason]))
	}

	p.histogram("vllm:time_to_first_token_seconds", "Histogram of time to first token in seconds.", s.firstToken)
	p.histogram("vllm:inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", s.interToken)
	p.histogram("vllm:e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", s.endToEnd)
	p.histogram("vllm:request_queue_time_seconds", "Histogram of time spent in WAITING phase for request.", s.queued)
	p.histogram("vllm:request_prefill_time_seconds", "Histogram of time spent in PREFILL phase for request.", s.prefill)
}

// speculation writes nothing for a server that does not draft, as vLLM does.
func (p *metricsPage) speculation(s speculation) {
	if len(s.accepted) == 0 {
		return
	}
	p.single("counter", "vllm:spec_decode_num_drafts_total", "Number of spec decoding drafts.", float64(s.drafts))
	p.single("counter", "vllm:spec_decode_num_draft_tokens_total", "Number of draft tokens.", float64(s.draftTokens))
	p.single("counter", "vllm:spec_decode_num_accepted_tokens_total", "Number of accepted tokens.", float64(s.acceptedTokens()))
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

func (p *metricsPage) histogram(name, help string, h histogram) {
	p.head("histogram", name, help)
	below := 0
	for i, n := range h.counts {
		below += n
		bound := "+Inf"
		if i < len(h.bounds) {
			bound = number(h.bounds[i])
		}
		p.sample(name+"_bucket", `le="`+bound+`"`, float64(below))
	}
	p.sample(name+"_count", "", float64(below))
	p.sample(name+"_sum", "", h.sum.Seconds())
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
