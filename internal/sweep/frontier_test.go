package sweep

import (
	"strings"
	"testing"

	"benchtop/export"
	"benchtop/internal/assert"
	"benchtop/metrics"
)

// The table divides by the GPUs that the metadata tell, and prices tokens where there is a price.
func TestFrontier(t *testing.T) {
	r := metrics.Report{Duration: 1, OutputThroughput: 800, TotalThroughput: 7200}
	r.Completed = 1
	runs := []export.RunOf{{Label: "concurrency=4", Report: r}, {Label: "concurrency=8", Report: r}}
	assert.Equal(t, assert.Must(Frontier(runs))(t), "", "without GPUs")
	runs[1].Report.Plan.Metadata = []metrics.Pair{{Key: "tp", Value: "4"}, {Key: "pp", Value: "2"}}
	got, err := Frontier(runs)
	if line := strings.Fields(got[strings.LastIndex(strings.TrimSpace(got), "\n")+1:]); err != nil ||
		strings.Contains(got, "concurrency=4") || strings.Contains(got, "Cost") ||
		strings.Join(line[:3], " ") != "concurrency=8 900.00 100.00" {
		t.Errorf("%s, %v", got, err)
	}
	// 8 GPUs at 2.25 an hour make 25.92 million tokens in it, 23.04 of them input.
	runs[1].Report.Plan.GPUPrice = 2.25
	if got, _ = Frontier(runs); !strings.Contains(got, "0.694") || !strings.Contains(got, "0.781") ||
		!strings.Contains(got, "6.25") {
		t.Error(got)
	}
}
