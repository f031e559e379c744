package tui

import (
	"fmt"
	"time"

	"benchtop/metrics"
	"benchtop/tui/number"
)

// energyWords are what the accelerators used in the stretch that is shown, and what an output token took of it.
func energyWords(v *view) string {
	use := gpuUse(v)
	out := "energy: not given"
	if metrics.Said(use.Energy) {
		out = "energy " + v.scope() + " " + said(use.Energy) + "J"
		if use.Powered < use.Seen {
			out += fmt.Sprintf(" (%d of %d)", use.Powered, use.Seen)
		}
		if looksMiss(v, &use) {
			out += fmt.Sprintf(" of %.1fs looked at", use.LookedAt.Seconds())
		}
		if metrics.Said(use.JoulesPerToken) {
			out += " · " + twoDigits(use.JoulesPerToken) + " J/token"
		}
	}
	if metrics.Said(use.CostPerMillion) {
		out += " · cost " + twoDigits(use.CostPerMillion) + " per 1M tokens"
	}
	return out
}

// looksMiss reports whether the energy of the whole run is that of a part, and will not become more. A span is what was looked
// at.
func looksMiss(v *view, use *metrics.GPUReport) bool {
	_, _, all := spanOf(v.s, v.span, v.back)
	length := v.s.At
	switch {
	case !v.whole && !all:
		return false
	case v.s.Report != nil:
		length = v.s.Report.Ended
	case v.s.GPUsAbsent == "":
		return false
	}
	return use.LooksMiss(length - v.plan().Warmup)
}

// gpuUse is what the accelerators did: of the whole run by the figures of the report, of a span as far as they were looked at
// in it, so that energy and tokens are those of the same seconds.
func gpuUse(v *view) metrics.GPUReport {
	s, plan := v.s, v.plan()
	work := metrics.GPUWork{Price: plan.GPUPrice}
	from, to, all := figureSpan(s, v.span, v.back)
	if v.whole || all {
		if s.Report != nil && s.Report.GPUs != nil {
			return *s.Report.GPUs
		}
		work.OutputTokens, work.Length = s.Totals.OutputTokens, s.At-plan.Warmup
		return metrics.GPUsOver(s.GPUs, plan.Warmup, endless, work)
	}
	from, to = lookedAt(s.GPUs, from, to)
	const half = time.Second / 2 // a second counts where its middle is
	ws := within(s.Windows, from-half+1, to-half+1)
	for i := range ws {
		work.OutputTokens += ws[i].OutputTokens
	}
	work.Length = to - from
	return metrics.GPUsOver(s.GPUs, from, to, work)
}

// lookedAt is the part of a stretch that looks tell of.
func lookedAt(all []metrics.GPUSecond, from, to time.Duration) (first, last time.Duration) {
	first, last = from, from
	for i := range all {
		s := &all[i]
		if s.At <= from || s.At > to {
			continue
		}
		if last == from {
			first = max(s.At-s.Took, from)
		}
		last = s.At
	}
	return first, last
}

// twoDigits writes small numbers with two decimals.
func twoDigits(x float64) string {
	if x = number.Sane(x); x < 99.995 {
		return fmt.Sprintf("%.2f", x)
	}
	return number.Short(x)
}
