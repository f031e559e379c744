package export

import (
	"slices"

	"benchtop/metrics"
)

// selected are the latencies that were asked for and that the run can have: report and result have a section of each.
func selected(r *metrics.Report) (out []metrics.Latency) {
	for l := range metrics.Latencies() {
		if l.Possible(&r.Plan) && slices.Contains(r.Plan.Metrics, l) {
			out = append(out, l)
		}
	}
	return out
}
