package chart

import (
	"testing"
	"time"

	"benchtop/internal/assert"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct{ in, atLeast, atMost time.Duration }{
		{0, 1, 1}, {1, 1, 1}, {3, 5, 2}, {5, 5, 5}, {6, 10, 5}, {999, 1000, 500}, {1001, 2000, 1000},
	} {
		assert.Equal(t, roundAbove(c.in*time.Microsecond, tens), c.atLeast*time.Microsecond, "roundAbove(%dµs)", c.in)
		assert.Equal(t, roundBelow(c.in*time.Microsecond, tens), c.atMost*time.Microsecond, "roundBelow(%dµs)", c.in)
	}
	for _, c := range []struct {
		value, top float64
		most       int
		steps      int
	}{
		{0, 1, 4, 1}, {0.3, 1, 4, 1}, {1.2, 2, 4, 2}, {2.2, 3, 5, 3}, {2400, 2500, 2, 1}, {2400, 2500, 5, 5},
		{2600, 3000, 4, 4}, {11.9, 12, 5, 4}, {12.1, 15, 5, 5}, {65, 80, 3, 2}, {999, 1000, 2, 2}, {70, 80, 0, 1},
	} {
		top := roundTop(c.value)
		if steps := evenSteps(top, c.most); top != c.top || steps != c.steps {
			t.Errorf("an axis for %g ends at %g in %d steps, want %g in %d", c.value, top, steps, c.top, c.steps)
		}
	}
}
