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
			possible = tokensKnown(r)
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

// tokensKnown reports whether anybody counted tokens: a tokenizer, or whoever a request names. vLLM's report without a
// tokenizer leaves out everything about tokens. A run without a success has zeros, as any other figure of it.
func tokensKnown(r *metrics.Report) bool {
	if r.Plan.Tokenizer != "" || r.Completed == 0 {
		return true
	}
	for source, n := range r.OutputSources {
		if source != metrics.TokensUnknown && n > 0 {
			return true
		}
	}
	return false
}
