package export

import (
	"bufio"
	"fmt"
	"io"
	"math"

	"benchtop/metrics"
)

// Comparison writes a line for each figure that both runs have, with the change from old to now. name is the name of the old
// run: foreign text. The loads of the two runs are not compared.
func Comparison(w io.Writer, name string, old, now *metrics.Report) error {
	out := bufio.NewWriter(w) // keeps its error for Flush
	row := func(label string, decimals int, before, now float64) {
		fmt.Fprintf(out, "%-42s %11.*f %11.*f %8s\n", label, decimals, before, decimals, now, changeText(now, before))
	}
	name = cut(Clean(name), 30)
	if old.Completed+old.Failed == 0 {
		fmt.Fprintf(out, "\nThe baseline %s has no requests: there is nothing to compare with.\n", name)
		return out.Flush()
	}
	fmt.Fprintf(out, "\n%-42s %11s %11s %8s\n", "Against "+name, "baseline", "this run", "change")
	row("Successful requests:", 0, float64(old.Completed), float64(now.Completed))
	row("Failed requests:", 0, float64(old.Failed), float64(now.Failed))
	row("Request throughput (req/s):", 2, old.RequestThroughput, now.RequestThroughput)
	if old.Goodput != nil && now.Goodput != nil {
		row("Request goodput (req/s):", 2, *old.Goodput, *now.Goodput)
	}
	if now.Plan.Pooling && old.InputThroughput > 0 {
		row("Input throughput (inputs/s):", 2, old.InputThroughput, now.InputThroughput)
	}
	if !now.Plan.SkipTokenizer && old.OutputTokens > 0 {
		row("Output token throughput (tok/s):", 2, old.OutputThroughput, now.OutputThroughput)
	}
	for _, l := range selected(now) {
		a, b, label := &old.Statistics[l], &now.Statistics[l], l.Naming().Label
		if a.N == 0 || b.N == 0 {
			continue
		}
		row("Median "+label+" (ms):", 2, a.Median, b.Median)
		before, known := p99(a)
		if after, knownNow := p99(b); known && knownNow {
			row("P99 "+label+" (ms):", 2, before, after)
		}
	}
	return out.Flush()
}

// changeText is a change in percent, "-" if it is undefined.
func changeText(now, before float64) string {
	part, ok := metrics.Change(now, before)
	switch {
	case !ok:
		return "-"
	case part == 0:
		return "0%"
	case math.Abs(part) < 0.0995: // as on the dashboard
		return fmt.Sprintf("%+.1f%%", 100*part)
	}
	return fmt.Sprintf("%+.0f%%", 100*part)
}
