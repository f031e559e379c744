package plot

import (
	"strings"

	"benchtop/metrics"
)

// units are those of fields whose names do not end in one.
var units = map[string]string{
	"request_throughput": "requests/s", "request_goodput": "requests/s", "output_throughput": "tokens/s",
	"total_token_throughput":  "tokens/s",
	"max_output_tokens_per_s": "tokens/s", "duration": "s", "max_concurrency": "requests", "request_rate": "requests/s",
	"max_concurrent_requests": "requests", "tokens_per_user": "tokens/s", "tokens_per_gpu": "tokens/s",
}

// label is the label of an axis: a field of results in words with its unit, any other field by its name.
func label(key string) string {
	if of, ok := strings.CutSuffix(key, "_ms"); ok {
		if figure, latency, ok := strings.Cut(of, "_"); ok {
			if l, known := metrics.LatencyOf(latency); known {
				return figure + " " + strings.ToUpper(l.Key()) + " (ms)"
			}
		}
	}
	if unit, ok := units[key]; ok {
		return strings.ReplaceAll(key, "_", " ") + " (" + unit + ")"
	}
	return key
}
