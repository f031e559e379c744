package export

import (
	"strings"
	"testing"
	"time"

	"benchtop/metrics"
)

// Places have a table for each axis but for servers, which have one already, and engines that of the server's figures.
func TestPlaceTables(t *testing.T) {
	run := metrics.Run{
		Plan: metrics.Plan{Requests: 5, Rate: 1, Metrics: []metrics.Latency{metrics.TTFT},
			Percentiles: []float64{50, 99}, Servers: []string{"http://a:1", "http://b:1"}, Engines: true,
			Axes: []metrics.Axis{{By: metrics.AxisServer}, {By: metrics.AxisHeader, Header: "x-served-by"}}},
		End: metrics.End{Ended: 10 * time.Second},
	}
	run.Server = []metrics.ServerSecond{{At: time.Second, Took: time.Second, Engines: []metrics.Engine{
		{Name: "0", Running: 3, KVUsage: .5, PromptTokens: 120, OutputTokens: 40,
			TTFT: metrics.ServerLatency{N: 2, Mean: 30 * time.Millisecond}},
		{Server: 1, Name: "0", Running: 1, Waiting: 2, KVUsage: .25, PromptTokens: metrics.Unsaid()}}}}
	var qs []metrics.Request
	for i, pod := range []string{"pod 10", "", "pod 2\x1b[31m", "pod 10"} {
		q := sampleRequest(i, 10, 4, 0, time.Duration(i)*time.Second, time.Duration(i+1)*100*ms, time.Second,
			time.Second, time.Second)
		if q.Server = i % 2; pod != "" {
			q.Served = []string{pod}
		}
		qs = append(qs, q)
	}
	r := summarize(t, run, qs)
	want := `
TTFT: too few requests to tell a slow place from chance; a run 15 times as long
  may do.
TPOT: too few requests to tell a slow place from chance; a run 15 times as long
  may do.

Requests by x-served-by, latencies in ms
x-served-by  done  failed  req/s  tok/s  TTFT p50     p99  TPOT p50      p99  good  E2EL p50      p99
`
	if got := Groups(r); !strings.HasPrefix(got, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
	for _, want := range []string{"\npod 2", "\npod 10 ", "\nnone ", `
Engines by /metrics, means
engine      running  waiting    KV  tok/s in  tok/s  TTFT ms
http://a:1     3.00     0.00  50 %    120.00  40.00    30.00
http://b:1     1.00     2.00  25 %         -   0.00        -
`} {
		if got := Groups(r); !strings.Contains(got, want) || strings.Contains(got, "\x1b") {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
	for _, want := range []string{`"by": "server", "header": null, "places": [{"place": "http://a:1", "completed": 2`,
		`"by": "engine", "header": null, "engines": [{"name": "http://a:1", "role": null, "running": 3`,
		`"pieces": 0, "longer": 15`} {
		if got := resultJSON(t, r); !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	if n := len(Tables(r)); n < 4 {
		t.Errorf("%d tables", n)
	}
}
