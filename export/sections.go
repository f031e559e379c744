package export

import (
	"slices"

	"benchtop/metrics"
)

// section is a latency as the report names it.
type section struct{ metric, heading, name string }

// sections in the order of report and result file.
var sections = [...]section{
	{metrics.TTFT, "Time to First Token", "TTFT"},
	{metrics.TPOT, "Time per Output Token (excl. 1st token)", "TPOT"},
	{metrics.ITL, "Inter-token Latency", "ITL"},
	{metrics.E2EL, "End-to-end Latency", "E2EL"},
	{metrics.ClientQueue, "Client-side Queueing", "Client Queue Time"},
	{metrics.E2ELQueued, "Queue-inclusive End-to-end Latency", "E2EL incl. Client Queue"},
}

// selected returns the sections that were asked for and that the run can have.
func selected(r *metrics.Report) []section {
	p := &r.Plan
	var out []section
	for _, s := range sections {
		possible := true
		switch s.metric {
		case metrics.TTFT, metrics.TPOT, metrics.ITL:
			possible = !p.SkipTokenizer
		case metrics.ClientQueue:
			possible = p.MaxConcurrency > 0
		case metrics.E2ELQueued:
			possible = p.MaxConcurrency > 0 && !p.Rate.Unlimited()
		}
		if possible && slices.Contains(p.Metrics, s.metric) {
			out = append(out, s)
		}
	}
	return out
}
