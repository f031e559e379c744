package cli

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"benchtop/metrics"
)

func (o *reportOptions) check() (p problemList) {
	known := []string{metrics.TTFT, metrics.TPOT, metrics.ITL, metrics.E2EL, metrics.ClientQueue, metrics.E2ELQueued}
	if o.metrics == "" {
		o.metrics = defaultMetrics // as with vLLM
	}
	for name := range strings.SplitSeq(o.metrics, ",") {
		if name = strings.TrimSpace(name); !slices.Contains(known, name) {
			p.bad("--percentile-metrics %s: unknown; use %s", quoted(name), strings.Join(known, ", "))
			continue
		}
		o.parsedMetrics = append(o.parsedMetrics, name)
	}
	for text := range strings.SplitSeq(o.percentiles, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(v >= 0 && v <= 100) {
			p.bad("--metric-percentiles %s: expected numbers from 0 to 100, as 50,90,99.9", quoted(text))
			continue
		}
		if !slices.Contains(o.parsedPercentiles, v) {
			o.parsedPercentiles = append(o.parsedPercentiles, v)
		}
	}
	for _, g := range o.gates {
		if g.NeedsObjectives() && len(o.goodput.slo) == 0 {
			p.bad("--fail-on %s: say with --goodput what is good, as --goodput ttft:500", quoted(g.String()))
		}
	}
	var err error
	if o.parsedMetadata, err = o.metadata.pairs("metadata"); err != nil {
		p = append(p, err)
	}
	for _, m := range o.parsedMetadata {
		if m.Key == "benchtop" {
			p.bad("--metadata benchtop=...: the result has a key of that name; choose another")
		}
	}
	if !(o.steadyThreshold > 0 && o.steadyThreshold <= 1) {
		p.bad("--steady-state-threshold %g: must be more than 0 and at most 1", o.steadyThreshold)
	}
	if o.steadyMinWindow < 0 {
		p.bad("--steady-state-min-window %s: must not be negative", o.steadyMinWindow)
	}
	if o.parsedThresholds, err = parseThresholds(o.timelineThresholds); err != nil {
		p = append(p, err)
	}
	return p
}

// parseThresholds reads the two numbers that part the gaps of a time line.
func parseThresholds(text string) ([2]float64, error) {
	low, high, _ := strings.Cut(text, ",")
	a, err1 := strconv.ParseFloat(strings.TrimSpace(low), 64)
	b, err2 := strconv.ParseFloat(strings.TrimSpace(high), 64)
	if err1 != nil || err2 != nil || !(a < b) || math.IsInf(a, 0) || math.IsInf(b, 0) {
		return [2]float64{}, fmt.Errorf("--timeline-itl-thresholds %s: expected two numbers of milliseconds, the smaller first, as 25,50", quoted(text))
	}
	return [2]float64{a, b}, nil
}
