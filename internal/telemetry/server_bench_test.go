package telemetry

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// vllmPage resembles the page of vLLM with four engines: 2,000 lines, most of them buckets of histograms.
func vllmPage() string {
	var b strings.Builder
	for _, name := range []string{"python_gc_objects_collected_total", "process_resident_memory_bytes",
		"http_requests_total"} {
		fmt.Fprintf(&b, "# HELP %s Something else.\n# TYPE %s counter\n", name, name)
		for i := range 8 {
			fmt.Fprintf(&b, "%s{generation=\"%d\"} 12131.0\n", name, i)
		}
	}
	const labels = `engine="%d",model_name="meta-llama/Llama-3.1-70B-Instruct"`
	for _, name := range []string{"num_requests_running", "num_requests_waiting", "kv_cache_usage_perc",
		"num_preemptions_total",
		"prefix_cache_queries_total", "prefix_cache_hits_total", "prompt_tokens_total", "generation_tokens_total",
		"spec_decode_num_draft_tokens_total", "spec_decode_num_accepted_tokens_total"} {
		fmt.Fprintf(&b, "# HELP vllm:%s What it is in a few words.\n# TYPE vllm:%s gauge\n", name, name)
		for e := range 4 {
			fmt.Fprintf(&b, "vllm:%s{"+labels+"} 0.123456789\n", name, e)
		}
	}
	for _, name := range []string{"time_to_first_token_seconds", "inter_token_latency_seconds",
		"e2e_request_latency_seconds",
		"request_queue_time_seconds", "request_inference_time_seconds", "request_prefill_time_seconds",
		"request_decode_time_seconds", "request_prompt_tokens", "request_generation_tokens", "iteration_tokens_total",
		"request_max_num_generation_tokens", "request_params_n", "request_params_max_tokens",
		"request_time_per_output_token_seconds"} {
		fmt.Fprintf(&b, "# HELP vllm:%s Histogram of something.\n# TYPE vllm:%s histogram\n", name, name)
		for e := range 4 {
			for i := range 32 {
				fmt.Fprintf(&b, "vllm:%s_bucket{"+labels+",le=\"%d.0\"} %d.0\n", name, e, 1<<i, 100*i)
			}
			fmt.Fprintf(&b, "vllm:%s_count{"+labels+"} 3200.0\nvllm:%s_sum{"+labels+"} 12345.678\n", name, e, name, e)
		}
	}
	return b.String()
}

// BenchmarkServerPoll includes the server's half of the work, over loopback; BenchmarkServerPage is the client's half
// alone.
func BenchmarkServerPoll(b *testing.B) {
	page := vllmPage()
	s := http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, page) })}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	defer func() { _ = s.Close(); <-done }()
	w := NewServerWatch(Page{Client: http.DefaultClient, URL: "http://" + l.Addr().String() + "/metrics"})
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Poll(b.Context(), time.Second); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkServerPage(b *testing.B) {
	page := vllmPage()
	b.Logf("%d lines, %d bytes", strings.Count(page, "\n"), len(page))
	known := kinds()
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		r := newReading(known)
		if err := eachLine(limited(strings.NewReader(page)), func(line []byte) { r.add(0, line) }); err != nil ||
			r.values[ttftCount].n != 4 {
			b.Fatal(err)
		}
	}
}
