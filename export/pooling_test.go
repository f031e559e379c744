package export

import (
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// poolingReport is the report of three requests: two with two prompts each, and a failed one.
func poolingReport(t *testing.T, change func(*metrics.Plan)) metrics.Report {
	t.Helper()
	plan := metrics.Plan{Backend: "openai-embeddings", Pooling: true, ModelID: "org/E", Rate: 4, Burstiness: 1,
		MaxConcurrency: 2, NumPrompts: 5,
		Metrics: []metrics.Latency{metrics.TTFT, metrics.E2EL}, Percentiles: []float64{99}, Detailed: true}
	if change != nil {
		change(&plan)
	}
	var all []metrics.Request
	for i, took := range []time.Duration{100 * ms, 300 * ms, 0} {
		q := metrics.NewRequest(i)
		q.Scheduled, q.Due, q.Admitted, q.Sent, q.Inputs = 0, 0, 0, 0, 2
		q.InputTokens, q.InputSource = 50, metrics.TokensFromUsage
		if q.Done = took; took == 0 {
			q.Failure, q.Status, q.Error = metrics.FailedStatus, 400, "no"
		} else {
			q.Add(metrics.Chunk{At: took})
		}
		all = append(all, q)
	}
	return summarize(t, metrics.Run{Plan: plan, End: metrics.End{Ended: 2 * time.Second}}, all)
}

// The table and the keys are those of vLLM 0.33 for a pooling backend.
func TestPoolingReport(t *testing.T) {
	r := poolingReport(t, nil)
	const want = `============ Serving Benchmark Result ============
Successful requests:                     2         
Failed requests:                         1         
Maximum request concurrency:             2         
Request rate configured (RPS):           4.00      
Benchmark duration (s):                  2.00      
Total input tokens:                      100       
Request throughput (req/s):              1.00      
Input throughput (inputs/s):             2.00      
Total token throughput (tok/s):          50.00     
----------------End-to-end Latency----------------
Mean E2EL (ms):                          200.00    
Median E2EL (ms):                        200.00    
P99 E2EL (ms):                           298.00    
==================================================
`
	assert.Equal(t, Text(r), want, "report")
	result := resultJSON(t, r)
	const keys = `"duration": 2.0, "completed": 2, "total_input_tokens": 100, "total_input_sequences": 4, ` +
		`"request_throughput": 1.0, ` +
		`"input_sequence_throughput": 2.0, "total_token_throughput": 50.0, "input_lens": [50, 50, 0], "latencies": ` +
		`[0.1, 0.3, 0.0], ` +
		`"queue_times": [0.0, 0.0, 0.0], "errors": ["", "", "no"], "mean_e2el_ms": 200.0, "median_e2el_ms": 200.0, ` +
		`"std_e2el_ms": 99.99999999999999, "p99_e2el_ms": 298.0, "failed_requests": [{"index": 2, "error": "no", ` +
		`"prompt_len": 50, "start_time": 0.0, "latency": 0.0, ` +
		`"ttft": 0.0, "output_tokens": 0, "itl": []}], "benchtop": `
	assert.Has(t, result, keys)
	back, err := ReadResult([]byte(result))
	if err != nil || !back.Plan.Pooling || back.Inputs != 4 || back.InputThroughput != 2 {
		t.Errorf("read back: %v, %+v", err, back)
	}
}

// Objectives are on the whole answer; the report does not mention output tokens.
func TestPoolingObjectives(t *testing.T) {
	r := poolingReport(t, func(p *metrics.Plan) { p.Goodput = metrics.SLO{{Metric: metrics.E2EL, LimitMS: 200}} })
	text, answer := Text(r), Answer(r)
	if !strings.Contains(text, "Request goodput (req/s):                 0.50") ||
		!strings.Contains(answer, "E2EL p99 298 ms; 33.3 % within SLO") {
		t.Errorf("%s\n%s", text, answer)
	}
	if all := text + Remarks(r) + answer; strings.Contains(all, "TTFT") || strings.Contains(all, "NaN") ||
		strings.Contains(all, "utput tokens") {
		t.Error(all)
	}
	if r.Histograms[metrics.TTFT].Count() != 0 || r.Statistics[metrics.TTFT].N != 0 || len(r.OutputSources) != 0 {
		t.Errorf("%d first tokens, statistic of %d, %v", r.Histograms[metrics.TTFT].Count(),
			r.Statistics[metrics.TTFT].N, r.OutputSources)
	}
}
