package saturation

import (
	"math"
	"testing"
)

func TestSure(t *testing.T) {
	for _, c := range []struct {
		good, n int
		least   float64
		want    float64
	}{
		// 1 - I_x(good+1, n-good+1); with all good that is 1 - x^(n+1).
		{5, 5, 0.95, 1 - math.Pow(0.95, 6)}, {300, 300, 0.95, 1 - math.Pow(0.95, 301)}, {0, 1, 0.5, 0.25}, {1, 1, 0.5, 0.75},
		{1, 2, 0.5, 0.5}, {500, 1000, 0.5, 0.5}, {0, 10, 0.9, math.Pow(0.1, 11)},
		// 96 of 100: P(X <= 96) of 101 draws at 0.95, summed with fractions.
		{96, 100, 0.95, 0.5729258314},
		{0, 0, 0.95, 0}, {5, 3, 0.95, 0}, {-1, 3, 0.95, 0}, {3, 3, 1, 0}, {3, 3, 0, 1}, {3, 3, math.NaN(), 0},
		{1_000_000, 1_000_000, 0.95, 1}, {900_000, 1_000_000, 0.95, 0},
	} {
		if got := ShareAtLeast(c.good, c.n, c.least); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%d of %d at least %v: %.10f sure, want %.10f", c.good, c.n, c.least, got, c.want)
		}
	}
	for good, before := 0, -1.0; good <= 200; good++ {
		got := ShareAtLeast(good, 200, 0.9)
		if got < before || got < 0 || got > 1 {
			t.Errorf("%d of 200: %v sure after %v", good, got, before)
		}
		before = got
	}
}
