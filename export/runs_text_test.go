package export

import (
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// runOf is a run with some figures; with a steady state if its throughput is given.
func runOf(throughput, steady float64) metrics.Report {
	r := metrics.Report{RequestThroughput: throughput, OutputThroughput: 10 * throughput,
		TotalThroughput: 30 * throughput, Counts: metrics.Counts{Completed: 100}}
	r.Statistics[metrics.TTFT] = metrics.Statistic{N: 100, Mean: 20,
		Shown: []metrics.Percentile{{P: 50, Value: 18}, {P: 90, Value: 40.126}, {P: 99, Value: 60}}}
	if steady > 0 {
		r.SteadyState = &metrics.SteadyState{End: time.Second, RequestThroughput: steady, OutputThroughput: 10 * steady}
	}
	return r
}

func TestRunsSummary(t *testing.T) {
	run := func(load string, throughput, steady float64) RunOf {
		return RunOf{load, load, runOf(throughput, steady)}
	}
	got := RunsSummary([]RunOf{run("concurrency=1", 2, 0), run("concurrency=16", 12.5, 13),
		run("concurrency=\x1b[1m64", 11, 12)}, []float64{90, 99})
	const want = `
Sweep Summary
Load            Req/s   Tok/s  Total tok/s  SS req/s  SS out tok/s  P50 TTFT(ms)  P50 TPOT(ms)  P90 TTFT(ms)  P90 TPOT(ms)  P99 TTFT(ms)  P99 TPOT(ms)
concurrency=1    2.00   20.00        60.00         -             -         18.00             -         40.13             -         60.00             -
concurrency=16  12.50  125.00       375.00     13.00        130.00         18.00             -         40.13             -         60.00             -
concurrency=64  11.00  110.00       330.00     12.00        120.00         18.00             -         40.13             -         60.00             -
Best throughput: 12.50 req/s at concurrency=16 (a single run)
`
	if got != want {
		t.Errorf("got:%swant:%s", got, want)
	}
}

// The best load is the best on average, not that of the best run.
func TestBestThroughput(t *testing.T) {
	for name, c := range map[string]struct {
		runs []RunOf
		want string
	}{
		"a lucky run": {[]RunOf{{"a", "a run 1", runOf(10, 0)}, {"a", "a run 2", runOf(11, 0)},
			{"b", "b run 1", runOf(13, 0)}, {"b", "b run 2", runOf(5, 0)}},
			"10.50 req/s at a (the mean of 2 runs, 10.00 to 11.00)"},
		"stopped in the second load": {[]RunOf{{"a", "a run 1", runOf(10, 0)}, {"a", "a run 2", runOf(11, 0)},
			{"b", "b run 1", runOf(13, 0)}}, "13.00 req/s at b (a single run)"},
		"none succeeded": {[]RunOf{{"a", "a", runOf(0, 0)}, {"b", "b", runOf(0, 0)}},
			"0.00 req/s at a (a single run)"},
	} {
		if got := RunsSummary(c.runs, nil); !strings.HasSuffix(got, "\nBest throughput: "+c.want+"\n") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// The spread is over the runs that have a figure, and has no deviation where one run has it.
func TestRunsSpread(t *testing.T) {
	got := RunsSpread("Multi-run Summary", []metrics.Report{runOf(9, 0), runOf(10, 11), runOf(11, 0)})
	for _, line := range []string{
		"Multi-run Summary (3 runs)",
		"Request throughput (req/s)      10.00   1.00    9.00   11.00",
		"SS request throughput (req/s)   11.00      -   11.00   11.00",
		"Coefficient of variation of the request throughput: 10.00%",
	} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("%q is missing in:%s", line, got)
		}
	}
	assert.Lacks(t, got, "TPOT")
}
