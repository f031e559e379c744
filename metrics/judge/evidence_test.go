package judge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// autoregressive is a series in which each value keeps a part of the one before.
func autoregressive(n int, keeps float64, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 5))
	out := make([]float64, n)
	x := 0.0
	for i := range out {
		x = keeps*x + r.NormFloat64()
		out[i] = 3 + x
	}
	return out
}

// The autocorrelation time of an autoregressive series is (1 + keeps) / (1 - keeps) / 2.
func TestCorrelation(t *testing.T) {
	for _, keeps := range []float64{0, 0.3, 0.6, 0.8, 0.9} {
		sum := 0.0
		const seeds = 20
		for seed := range uint64(seeds) {
			sum += correlation(autoregressive(2000, keeps, seed)) / seeds
		}
		if want := (1 + keeps) / (1 - keeps) / 2; math.Abs(sum/want-1) > 0.2 {
			t.Errorf("keeps %v: autocorrelation time %.2f, want %.2f", keeps, sum, want)
		}
	}
	for name, series := range map[string][]float64{"nothing": nil, "one": {1}, "the same": {2, 2, 2, 2, 2, 2}} {
		if got := correlation(series); got != 0.5 {
			t.Errorf("%s: autocorrelation time %v, want a half", name, got)
		}
	}
}

func TestWarmUp(t *testing.T) {
	for _, c := range []struct {
		name        string
		bad, n      int
		by          float64
		least, most int
	}{
		{"a bad start", 20, 200, 20, 18, 24},
		{"a bad start of a third", 60, 200, 20, 58, 66},
		{"no more than a third", 120, 200, 20, 0, 66},
		{"none", 0, 200, 0, 0, 66},
	} {
		x := autoregressive(c.n, 0.3, 1)
		for i := range c.bad {
			x[i] += c.by
		}
		if got := warmUp(x); got < c.least || got > c.most {
			t.Errorf("%s: %d of %d are cut off, want %d to %d", c.name, got, c.n, c.least, c.most)
		}
	}
}

func TestShareAtLeast(t *testing.T) {
	for _, c := range []struct{ good, n, least, want float64 }{
		// 1 - I_x(good+1, n-good+1); with all good that is 1 - x^(n+1).
		{5, 5, 0.95, 1 - math.Pow(0.95, 6)}, {300, 300, 0.95, 1 - math.Pow(0.95, 301)}, {0, 1, 0.5, 0.25},
		{1, 1, 0.5, 0.75},
		{1, 2, 0.5, 0.5}, {500, 1000, 0.5, 0.5}, {0, 10, 0.9, math.Pow(0.1, 11)},
		{7.5, 7.5, 0.9, 1 - math.Pow(0.9, 8.5)},
		// 96 of 100: P(X <= 96) of 101 draws at 0.95, summed with fractions.
		{96, 100, 0.95, 0.5729258314},
		{0, 0, 0.95, 0}, {5, 3, 0.95, 0}, {-1, 3, 0.95, 0}, {3, 3, 1, 0}, {3, 3, 0, 1}, {3, 3, math.NaN(), 0},
		{math.NaN(), 3, 0.5, 0},
		{1_000_000, 1_000_000, 0.95, 1}, {900_000, 1_000_000, 0.95, 0},
	} {
		if got := ShareAtLeast(c.good, c.n, c.least); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v of %v at least %v: %.10f sure, want %.10f", c.good, c.n, c.least, got, c.want)
		}
	}
	if got := lowerBound(41, 42); math.Abs(got-0.89) > 0.005 {
		t.Errorf("41 of 42 are at least %.3f, want 0.89", got)
	}
	if all := needed(1, 0.95, 0.95); all < 58 || all > 65 {
		t.Errorf("%v good requests make 95 %%, want 58 and at most a tenth more", all)
	}
}

func TestLook(t *testing.T) {
	for _, c := range []struct{ held, look, next int }{
		{5, 0, 10}, {14, 0, 1}, {15, 15, 15}, {29, 15, 1}, {30, 30, 30}, {59, 30, 1}, {60, 60, 60}, {119, 60, 1},
		{121, 120, 119}, {500, 480, 460},
	} {
		look, next := Look(time.Duration(c.held) * time.Second)
		if fmt.Sprint(look.Seconds(), next.Seconds()) != fmt.Sprint(c.look, c.next) {
			t.Errorf("after %d s: look %s, the next in %s; want %d s and %d s", c.held, look, next, c.look, c.next)
		}
	}
	for length, want := range map[time.Duration]float64{10 * time.Second: shortMost, 58 * time.Second: shortMost,
		time.Minute: metrics.MostConfidence} {
		assert.Equal(t, MostFor(length), want, "%s: at most sure", length)
	}
}

// Work is done between the first chunk and the last, whatever the order in which answers are counted, and times far
// outside cost nothing.
func TestWork(t *testing.T) {
	answers := []struct{ at, first, last, tokens int }{{0, 1, 5, 10}, {1, 1, 9, 10}, {2, 2, 10, 10},
		{3, -1000, 1 << 30, 10}, {4, 9, 3, 1 << 40}, {9, 9, 9, 0}}
	var sums [][]float64
	for seed := range uint64(4) {
		var w work
		w.reset(10 * time.Second)
		for _, i := range rand.New(rand.NewPCG(seed, 1)).Perm(len(answers)) {
			a := answers[i]
			at := func(seconds int) time.Duration { return time.Duration(seconds) * time.Second }
			w.arrive(at(a.at))
			w.answer(at(a.at), at(a.first), at(a.last), a.tokens)
		}
		w.sum()
		sums = append(sums, w.did)
	}
	for _, s := range sums[1:] {
		assert.Equal(t, fmt.Sprint(s), fmt.Sprint(sums[0]), "the order counts: %v, %v", s, sums[0])
	}
	var w work
	w.reset(10 * time.Second)
	w.arrive(0)
	w.answer(0, 2*time.Second, 6*time.Second, 100)
	w.sum()
	for at, want := range map[int]float64{0: 0, 2: 0, 3: 0.25, 4: 0.5, 6: 1, 9: 1} {
		if got := w.at(w.did, time.Duration(at)*time.Second); math.Abs(got-want) > 0.02 {
			t.Errorf("after %d s %.3f of the work is done, want %v", at, got, want)
		}
	}
}
