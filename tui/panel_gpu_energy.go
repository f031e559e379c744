package tui

import (
	"fmt"
	"time"

	"benchtop/metrics"
)

// energyWords are what the accelerators used in the stretch that is shown, and what an output token took of it.
func energyWords(v *view) string {
	from, to := v.stretch()
	joules, seen, gpus := energy(v.s.GPUs, from, to)
	tokens := 0.0 // of the seconds that were looked at
	for i := range v.s.Windows {
		if w := &v.s.Windows[i]; w.Start+time.Second > seen.start && w.Start+time.Second/2 < seen.end() {
			tokens += sane(float64(w.OutputTokens))
		}
	}
	perToken, perMillion := metrics.Unsaid(), metrics.Unsaid()
	if tokens > 0 {
		perToken = joules / tokens
		if price := v.plan().GPUPrice; price > 0 {
			perMillion = price * float64(gpus) * seen.length.Hours() / tokens * 1e6
		}
	}
	if r := v.s.Report; r != nil && r.GPUs != nil && (v.whole || v.span == 0) {
		joules, perToken, perMillion = r.GPUs.Energy, r.GPUs.JoulesPerToken, r.GPUs.CostPerMillion
	}
	if !metrics.Said(joules) {
		return "energy: not given"
	}
	out := "energy " + v.scope() + " " + said(joules) + "J"
	if metrics.Said(perToken) {
		out += " · " + twoDigits(perToken) + " J/token"
	}
	if metrics.Said(perMillion) {
		out += " · cost " + twoDigits(perMillion) + " per 1M tokens"
	}
	return out
}

// twoDigits writes small numbers with two decimals.
func twoDigits(x float64) string {
	if x = sane(x); x < 99.995 {
		return fmt.Sprintf("%.2f", x)
	}
	return short(x)
}

// energy adds up the power of all accelerators over a stretch, in joules, with the time in which they were looked at and how
// many there were at most.
func energy(all []metrics.GPUSecond, from, to time.Duration) (joules float64, seen stretch, gpus int) {
	joules = metrics.Unsaid()
	for i := range all {
		s := &all[i]
		if s.At <= from || s.At > to || s.Took <= 0 {
			continue
		}
		took := min(s.Took, time.Minute)
		if seen.length == 0 {
			seen.start = max(s.At-took, from)
		}
		seen.length = s.At - seen.start
		gpus = max(gpus, len(s.GPUs))
		for _, g := range s.GPUs {
			if !metrics.Said(g.Power) {
				continue
			}
			if !metrics.Said(joules) {
				joules = 0
			}
			joules += sane(g.Power) * took.Seconds()
		}
	}
	return joules, seen, gpus
}

// stretch is a part of the run.
type stretch struct{ start, length time.Duration }

func (s stretch) end() time.Duration { return s.start + s.length }
