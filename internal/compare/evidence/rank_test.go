package evidence

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-12 {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// The distribution of U is that of all orders.
func TestOrders(t *testing.T) {
	for _, sides := range [][2]int{{1, 1}, {2, 3}, {4, 4}, {3, 7}} {
		n, m := sides[0], sides[1]
		counts, all := make([]float64, n*m+1), 0.0
		for set := range 1 << (n + m) { // the places of the first side
			u, ones := 0, 0
			for i := range n + m {
				if set>>i&1 == 1 {
					ones++
					u += i + 1 - ones
				}
			}
			if ones == n {
				counts[u]++
				all++
			}
		}
		for u, share := range orders(n, m) {
			near(t, "a share", share, counts[u]/all)
		}
	}
}

// The chances are those of the published tables: 5 and 5 values that do not overlap 2 in 252, those with U 2 8 in 252.
func TestChance(t *testing.T) {
	near(t, "apart", chance([]float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}), 2./252)
	near(t, "one pair", chance([]float64{6, 7, 8, 9, 10}, []float64{1, 2, 3, 4, 6.5}), 4./252)
	near(t, "two pairs", chance([]float64{1, 2, 3, 4, 7.5}, []float64{6, 7, 8, 9, 10}), 8./252)
	near(t, "all the same", chance([]float64{1, 1, 1}, []float64{1, 1, 1}), 1)
}

// Of many values the distribution is normal: it joins the exact one, and the test keeps its level.
func TestManyValues(t *testing.T) {
	exact, normal := atMost(50, 50), atMost(50, 51)
	for _, u := range []float64{900, 1000, 1250} {
		if a, b := exact(u), normal(u*51/50); math.Abs(a-b) > .003 {
			t.Errorf("at %v %v, and of one more %v", u, a, b)
		}
	}
	r, alarms := rand.New(rand.NewPCG(5, 6)), 0
	for range 60 {
		var a, b []float64
		for range 300 {
			a, b = append(a, r.NormFloat64()), append(b, r.NormFloat64())
		}
		if chance(a, b) < .05 {
			alarms++
		}
		if low, middle, high := shift(a, b, .95); !(low < middle && middle < high && high-low < .5) {
			t.Fatalf("%v, %v, %v", low, middle, high)
		}
	}
	if alarms > 9 {
		t.Errorf("%d of 60 comparisons of the same have a verdict", alarms)
	}
}

// The interval of a shift holds exactly the shifts that the test does not exclude.
func TestShift(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var a, b []float64
		for range 5 + r.IntN(8) {
			a = append(a, r.NormFloat64())
		}
		for range 5 + r.IntN(8) {
			b = append(b, 1+r.NormFloat64())
		}
		low, middle, high := shift(a, b, .95)
		if !(low < middle && middle < high) {
			t.Fatalf("%v, %v, %v", low, middle, high)
		}
		for _, c := range []struct {
			by   float64
			kept bool
		}{{low - 1e-9, false}, {low + 1e-9, true}, {high - 1e-9, true}, {high + 1e-9, false}} {
			moved := slices.Clone(b)
			for i := range moved {
				moved[i] -= c.by
			}
			if kept := chance(a, moved) > .05; kept != c.kept {
				t.Errorf("%d and %d values: by %v, of %v to %v, kept %v", len(a), len(b), c.by, low, high, kept)
			}
		}
	}
	if low, middle, high := shift([]float64{1}, []float64{3}, .95); low != 2 || middle != 2 || high != 2 {
		t.Errorf("of one value each %v, %v, %v", low, middle, high)
	}
}

// The distribution of the signed ranks is that of all signs, and a chance is that of published tables: 8 changes of one
// sign 2 in 256, and with the smallest of the other 4.
func TestSigns(t *testing.T) {
	for _, n := range []int{1, 4, 7} {
		below, counts := signs(n), make([]float64, n*(n+1)/2+1)
		for set := range 1 << n {
			w := 0
			for i := range n {
				w += (set >> i & 1) * (i + 1)
			}
			counts[w]++
		}
		sum := 0.0
		for w, c := range counts {
			sum += c
			near(t, "a share", below(float64(w)), sum/float64(int(1)<<n))
		}
		near(t, "the lowest chance", lowestChance(n), math.Min(1, 2*below(0)))
	}
	near(t, "one sign", pairedChance([]float64{1, 2, 3, 4, 5, 6, 7, 8}), 2./256)
	near(t, "the smallest is other", pairedChance([]float64{-1, 2, 3, 4, 5, 6, 7, 8}), 4./256)
	near(t, "nothing changed", pairedChance(make([]float64, 9)), 1)
	near(t, "ties", pairedChance([]float64{1, 1, 1, 1, -1, -1, -1, -1}), 1)
	low, middle, high := pairedShift([]float64{1, 2, 3, 4, 5, 6, 7, 8}, .95)
	near(t, "the middle", middle, 4.5)
	near(t, "the low end", low, 2) // the fourth of 36 means: 5 of 256 orders of signs are as far out, 7 one more
	near(t, "the high end", high, 7)
}
