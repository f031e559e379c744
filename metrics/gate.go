package metrics

import (
	"strconv"
	"strings"
)

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
	// Missed: the condition holds, or the value is not known. While a run is on, what is not known is not missed yet.
	Missed bool
}

// Missed reports whether a value of the metric makes the run count as failed. Nothing passes an operator that is none.
func (g Gate) Missed(value float64) bool {
	switch g.Op {
	case "<":
		return value < g.Limit
	case "<=":
		return value <= g.Limit
	case ">":
		return value > g.Limit
	case ">=":
		return value >= g.Limit
	}
	return true
}

// NeedsObjectives reports whether the metric means something only for a run with objectives.
func (g Gate) NeedsObjectives() bool {
	return g.Metric == gateGoodput || g.Metric == gateRequestGoodput
}

// String is the gate in a form that ParseGate reads back to the same gate. Latencies are in milliseconds.
func (g Gate) String() string {
	limit := strconv.FormatFloat(g.Limit, 'f', -1, 64)
	if g.Percent {
		limit = hundredfold(limit) + "%"
	}
	return g.Metric + g.Op + limit
}

// hundredfold moves the point of a decimal number two places to the right. Multiplying could change the last digit.
func hundredfold(number string) string {
	whole, fraction, _ := strings.Cut(number, ".")
	fraction += "00"
	number = strings.TrimLeft(whole+fraction[:2], "0")
	if number == "" {
		number = "0"
	}
	if fraction = strings.TrimRight(fraction[2:], "0"); fraction != "" {
		number += "." + fraction
	}
	return number
}
