package export

import (
	"bytes"
	"testing"

	"benchtop/metrics"
)

// A comparison has the figures of both runs.
func TestComparison(t *testing.T) {
	run, qs := sampleRun()
	now := summarize(t, run, qs)
	old := now
	goodput := 3 * *now.Goodput
	old.Goodput, old.Completed, old.Failed, old.RequestThroughput = &goodput, 2*now.Completed, 0, now.RequestThroughput/20
	old.Statistics[metrics.TTFT].Median, old.Statistics[metrics.TPOT] = old.Statistics[metrics.TTFT].Median/1.25, metrics.Statistic{}
	var b bytes.Buffer
	for _, r := range []*metrics.Report{&old, {}} {
		if err := Comparison(&b, "old \x1b[1mrun.json", r, &now); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "comparison.txt", b.Bytes())
}
