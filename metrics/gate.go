package metrics

// Gate is a condition under which a run counts as failed, such as "p99_ttft_ms>500" or "goodput<90%".
type Gate struct {
	// Metric is the name of a figure of the result.
	Metric string `json:"metric"`
	// Op is one of <, <=, > and >=.
	Op string `json:"op"`
	// Limit in the unit of the metric; a share of 1 where Percent.
	Limit float64 `json:"limit"`
	// Percent says that the limit was written in per cent.
	Percent bool `json:"percent,omitempty"`
}

// GateResult is a gate and what the run made of it.
type GateResult struct {
	Gate Gate
	// Value of the metric; Known is false where nothing was measured that could give one.
	Value float64
	Known bool
	// Missed: the condition holds, or the value is not known.
	Missed bool
}
