package spec

import (
	"benchtop/loadgen/protocol"
	"benchtop/metrics"
)

// definitions are the measuring rules, for the readers of a result.
func definitions(of protocol.Protocol, stamps string) map[string]string {
	if !of.Traits().Streams {
		return map[string]string{
			"rule":    metrics.TimingRule,
			"e2el":    "from the first byte of the request to the last byte of the answer",
			"success": "status 200 and an answer in JSON with " + of.Traits().Member + ", and no error in it",
			"stamps":  describeStamps(stamps),
		}
	}
	return map[string]string{
		"rule": metrics.TimingRule,
		"ttft": "from the first byte of the request on an open connection to the first chunk. A chunk " +
			"is " + of.Traits().Chunk,
		"itl":     "gap between two chunks, regardless of how many tokens each holds",
		"e2el":    "from the first byte of the request to the last chunk",
		"tpot":    "(e2el - ttft) / (output tokens - 1)",
		"success": "status 200, at least one chunk, " + of.Traits().Ending + ", and no error in the stream",
		"stamps":  describeStamps(stamps),
	}
}
