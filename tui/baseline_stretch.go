package tui

import (
	"time"

	"benchtop/metrics"
)

// finishedWhole: what is shown is all of a run that is over, which is compared with all of another.
func (v *view) finishedWhole() bool {
	return v.s.State == metrics.Finished && (v.whole || v.span == 0)
}

// olderStretch is the part of the run to compare with that the figures of this one stand against: its first two seconds against
// the first two seconds of the other. ok is false where that is the whole run: this one is over, the other has no seconds, or it
// did not last until there.
func (v *view) olderStretch() (from, to time.Duration, ok bool) {
	o := v.older()
	if o == nil || v.finishedWhole() {
		return 0, 0, false
	}
	from, to, _ = spanOf(v.s, v.span, v.back)
	if v.whole {
		from, to = max(v.plan().Warmup, o.plan().Warmup), v.s.At
	}
	from, to = max(from, 0), min(to, v.s.At)
	return from, to, from < o.s.At
}

// olderKey says of what an olderSum is: a latency, in the span or from the start.
type olderKey struct {
	metric *latencyMetric
	whole  bool
}

// olderSum is a latency of the run to compare with over a stretch of it. That of the whole run so far only grows, so it is kept.
type olderSum struct {
	metrics.Histogram
	from, to time.Duration
}

// olderSum is a latency of the run to compare with in the seconds that begin in [from, to). The histogram must not be changed.
func (v *view) olderSum(m *latencyMetric, from, to time.Duration) *metrics.Histogram {
	c := v.selected().merges
	if c.older == nil {
		c.older = map[olderKey]*olderSum{}
	}
	k := olderKey{m, v.whole}
	sum := c.older[k]
	if sum == nil || sum.from != from || sum.to > to {
		sum = &olderSum{from: from, to: from}
		c.older[k] = sum
	}
	ws := within(v.older().s.Windows, sum.to, to)
	for i := range ws {
		sum.Merge(m.of(&ws[i]))
	}
	sum.to = max(sum.to, to)
	return &sum.Histogram
}
