package chart

import (
	"testing"
	"time"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct{ in, atLeast, atMost time.Duration }{
		{0, 1, 1}, {1, 1, 1}, {3, 5, 2}, {5, 5, 5}, {6, 10, 5}, {999, 1000, 500}, {1001, 2000, 1000},
	} {
		if got := roundAbove(c.in*time.Microsecond, tens); got != c.atLeast*time.Microsecond {
			t.Errorf("roundAbove(%dµs) = %s", c.in, got)
		}
		if got := roundBelow(c.in*time.Microsecond, tens); got != c.atMost*time.Microsecond {
			t.Errorf("roundBelow(%dµs) = %s", c.in, got)
		}
	}
	for _, c := range []struct{ in, want float64 }{{0, 1}, {0.3, 1}, {1.2, 2}, {2.2, 5}, {22, 25}, {26, 50},
		{700, 1000}} {
		if got := niceStep(c.in); got != c.want {
			t.Errorf("niceStep(%g) = %g, want %g", c.in, got, c.want)
		}
	}
}
