package judge

import (
	"time"

	"benchtop/metrics"
)

// Part is a stretch of a run with a load that was set, and its load at both ends.
type Part struct {
	From, To   time.Duration
	Begin, End float64
}

// Parts are those of a run that ends at a moment.
func Parts(sets []metrics.LogEntry, end time.Duration) []Part {
	return metrics.Each(stretches(Settings(sets), end), func(s stretch) Part {
		return Part{s.from, s.to, s.load.LoadAt(s.from - s.since), s.load.LoadAt(s.to - s.since)}
	})
}

// MostOpened bounds the levels of a run.
const MostOpened = mostOpened

// Bound makes an answer agree with what is proven.
func Bound(t *metrics.TierAnswer, a *metrics.Answer) { bound(t, a) }
