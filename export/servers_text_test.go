package export

import (
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// Each of several servers has a line of its own in report and result, one that nothing came from as well.
func TestServers(t *testing.T) {
	run := metrics.Run{
		Plan: metrics.Plan{
			BaseURL:  "http://one:8000",
			Servers:  []string{"http://one:8000", "http://two:8000", "unix:///" + strings.Repeat("x", 40) + ".sock"},
			Strategy: "least-in-flight", Requests: 5, Rate: 1, Metrics: []metrics.Latency{metrics.TTFT},
		},
		End: metrics.End{Ended: 10 * time.Second},
	}
	var qs []metrics.Request
	for i, server := range []int{0, 1, 0, 1, 2} {
		q := sampleRequest(i, 10, 4, 0, time.Duration(i)*time.Second, time.Duration(i+1)*100*ms, time.Second,
			time.Second, time.Second)
		q.Server = server
		qs = append(qs, q)
	}
	qs[3] = refused(3, 10, 3*time.Second, 3*time.Second, "no")
	qs[3].Server = 1
	qs[4] = metrics.NewRequest(4)
	qs[4].Server, qs[4].Failure, qs[4].Scheduled, qs[4].Due, qs[4].Done = 2, metrics.FailedConnect, 4*time.Second,
		4*time.Second, 5*time.Second
	cut := metrics.NewRequest(5) // which got no server
	cut.Failure, cut.Scheduled, cut.Due, cut.Done = metrics.Cancelled, 4*time.Second, 4*time.Second, 5*time.Second
	r := summarize(t, run, append(qs, cut))
	// 3.1 s and 3.3 s in flight at the first, 3.2 s and 10 ms at the second, in 10 s; 4 tokens for each success.
	want := `
Servers, least-in-flight                   done failed in flight   req/s    tok/s  TTFT p50   p99 ms
http://one:8000                               2      0      0.64    0.20     0.80    200.00   298.00
http://two:8000                               1      1      0.32    0.10     0.40    200.00   200.00
unix:///xxxxxxxxxxx…xxxxxxxxxxxxxxx.sock      0      1      0.00    0.00     0.00         -        -
`
	assert.Equal(t, Servers(r), want, "Servers")
	result := resultJSON(t, r)
	assert.Has(t, result,
		`"url_strategy": "least-in-flight"`,
		`{"url": "http://two:8000", "completed": 1, "failed": 1, "mean_in_flight": 0.321`,
		`"request_throughput": 0.0, "output_throughput": 0.0, "p50_ttft_ms": null, "p99_ttft_ms": null}`)
	r.Servers = nil
	assert.Equal(t, Servers(r), "", "one server")
}

// A proxy is told in report and result.
func TestProxyIsReported(t *testing.T) {
	run, qs := sampleRun()
	run.Plan.Proxy = "http://p:3128 (HTTP_PROXY)"
	r := summarize(t, run, qs)
	if got := Remarks(r); !strings.Contains(got,
		"Proxy: requests went through http://p:3128 (HTTP_PROXY), so its time is in all") {
		t.Error(got)
	}
	if got := resultJSON(t, r); !strings.Contains(got, `"proxy": "http://p:3128 (HTTP_PROXY)"`) {
		t.Error(got)
	}
}
