package panels

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// Gaps within one read of the network are a column of their own and do not take the room of the others.
func TestShortGapsHaveAColumn(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	around := func(middle time.Duration) func() time.Duration {
		return func() time.Duration { return time.Duration(float64(middle) * math.Exp(0.3*rnd.NormFloat64())) }
	}
	within := func() time.Duration { return time.Duration(rnd.IntN(9)) * time.Microsecond }
	for _, c := range []struct {
		name           string
		share          float64 // of the short ones
		short, long    func() time.Duration
		column         bool
		shown, missing time.Duration
	}{
		{"a few per cent", 0.03, within, around(15 * time.Millisecond), true, 9 * time.Millisecond,
			3 * time.Millisecond},
		{"most", 0.8, within, around(15 * time.Millisecond), true, 9 * time.Millisecond, 3 * time.Millisecond},
		{"some, near to the limit", 0.5, func() time.Duration { return 60*time.Microsecond + 4*within() },
			around(15 * time.Millisecond), true, 9 * time.Millisecond, 3 * time.Millisecond},
		{"one in a thousand", 0.001, within, around(15 * time.Millisecond), false, 9 * time.Millisecond,
			3 * time.Millisecond},
		{"a server as fast as that", 0.5, around(80 * time.Microsecond), around(100 * time.Microsecond), false,
			60 * time.Microsecond, 10 * time.Microsecond},
		{"all", 1, within, nil, false, 5 * time.Microsecond, 50 * time.Microsecond},
	} {
		var h metrics.Histogram
		for i := range 10_000 {
			if float64(i) < c.share*10_000 {
				h.Add(c.short())
			} else {
				h.Add(c.long())
			}
		}
		s := metrics.Snapshot{State: metrics.Running, DrainBy: metrics.Never}
		s.Histograms[metrics.ITL] = h
		v := &View{Snapshot: &s}
		ax := v.latencyAxis(48, &h)
		if !ax.Shows(c.shown) || ax.Shows(c.missing) {
			t.Errorf("%s: shows %s %v, %s %v", c.name, c.shown, ax.Shows(c.shown), c.missing, ax.Shows(c.missing))
		}
		got := itlPanel.View(&s, 48, 9)
		assert.Equal(t, strings.Contains(got, "<0.1ms"), c.column, "%s: a column of short gaps: %s", c.name, got)
	}
}
