package export

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"benchtop/internal/text"
	"benchtop/metrics"
)

// tooFew reports percentiles that so few observations do not show. A run without a success has none at all.
func (t *remarks) tooFew() {
	all := t.r.TooFew()
	if len(all) == 0 || t.r.Completed == 0 {
		return
	}
	var said []string
	for _, p := range slices.Compact(
		slices.Sorted(slices.Values(metrics.Each(all, func(f metrics.TooFew) float64 { return f.P })))) {
		names := map[int][]string{} // of latencies, by the number of observations
		for _, f := range all {
			if f.P == p {
				names[f.Observed] = append(names[f.Observed], f.Latency.Naming().Label)
			}
		}
		counts := metrics.Each(slices.Sorted(maps.Keys(names)), func(n int) string {
			return fmt.Sprintf("%d of %s", n, text.Join(names[n], " and "))
		})
		said = append(said,
			fmt.Sprintf("P%s, which takes %d (%s)", pythonNumber(p), metrics.Needed(p), strings.Join(counts, ", ")))
	}
	t.add("Percentiles: too few observations for %s. With so few, it is chance which value stands there.",
		text.Join(said, " and "))
}

// leastPeakGap is the share by which the two peaks of the output differ at least where both are told: they do not count
// the same seconds.
const leastPeakGap = 0.1

// peak reports the peak of the output where vLLM's, which counts chunks, is another.
func (t *remarks) peak() {
	r := t.r
	if most := r.Plan.MaxConcurrency; most > 0 && r.PeakConcurrency > most && r.ExactPeakConcurrency <= most {
		were := map[bool]string{true: "was", false: "were"}[r.ExactPeakConcurrency == 1]
		t.add("Concurrency: at most %s %s in flight at once. The peak of %d above counts, as vLLM does, all that were "+
			"in flight in one second.", text.Count(r.ExactPeakConcurrency, "request"), were, r.PeakConcurrency)
	}
	tokens, chunks := float64(r.PeakOutputTokens), float64(r.PeakOutputPerSecond)
	if r.Plan.SkipTokenizer || tokens == 0 || math.Abs(tokens-chunks) <= leastPeakGap*tokens {
		return
	}
	t.add("Peak output: %s in one second. The peak of %d tok/s above counts, as vLLM does, the chunks of successes.",
		text.Count(r.PeakOutputTokens, "token"), r.PeakOutputPerSecond)
}
