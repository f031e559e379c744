package sweep

import (
	"math"
	"strconv"

	"benchtop/export"
	"benchtop/internal/table"
	"benchtop/internal/text"
)

// Frontier has a line for each run of a series whose metadata say how many GPUs the server has: what a GPU makes
// against what a user gets, and with a price what a million tokens cost, by the throughput of the whole run. These are
// the figures by which InferenceX compares servers. It is "" where no run says so.
func Frontier(runs []export.RunOf) (string, error) {
	t := table.New("Throughput per GPU", "Load", "tok/s/GPU", "Out tok/s/GPU", "tok/s/user", "P50 E2EL(ms)").Optional(
		"Cost/1M", "Cost/1M in", "Cost/1M out")
	for i := range runs {
		r := &runs[i].Report
		f, err := FiguresOf(*r)
		if err != nil {
			return "", err
		}
		gpus := f.OutputThroughput / f.PerGPU
		if math.IsNaN(gpus) {
			continue
		}
		cost := func(speed float64) string {
			if !(r.Plan.GPUPrice > 0 && speed > 0) {
				return table.Absent
			}
			return strconv.FormatFloat(1e6*r.Plan.GPUPrice*gpus/(3600*speed), 'g', 3, 64)
		}
		t.Add(text.Clean(runs[i].Label), f.TotalThroughput/gpus, f.PerGPU, f.PerUser, f.MedianE2EL,
			cost(f.TotalThroughput), cost(f.TotalThroughput-f.OutputThroughput), cost(f.OutputThroughput))
	}
	return t.String(), nil
}
