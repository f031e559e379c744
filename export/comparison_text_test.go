package export

import (
	"testing"

	"benchtop/internal/assert/golden"
	"benchtop/metrics"
)

// A comparison has the figures of both runs.
func TestComparison(t *testing.T) {
	run, qs := sampleRun()
	now := summarize(t, run, qs)
	old := now
	goodput := 3 * *now.Goodput
	old.Goodput, old.Completed, old.Failed, old.RequestThroughput = &goodput, 2*now.Completed, 0,
		now.RequestThroughput/20
	old.Statistics[metrics.TTFT].Median, old.Statistics[metrics.TPOT] = old.Statistics[metrics.TTFT].Median/1.25,
		metrics.Statistic{}
	const name = "old \x1b[1mrun.json"
	golden.Same(t, "testdata/comparison.txt", Comparison(name, &old, &now)+Comparison(name, &metrics.Report{}, &now))
}
