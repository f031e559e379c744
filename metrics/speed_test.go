package metrics

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// The speed of a user is the reciprocal of TPOT; an answer that came at once has none. The histogram estimates it within a bucket.
func TestSpeeds(t *testing.T) {
	s, h := Sample{}, Histogram{}
	for i, tpot := range []time.Duration{0, 40 * time.Millisecond, 20 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 500 * time.Nanosecond} {
		s.Add(tpot.Seconds())
		h.Add(tpot)
		if got := s.Speeds(); i == 0 && (got.N != 0 || got.Mean != 0) {
			t.Errorf("of no speed: %+v", got)
		}
	}
	got := s.Speeds()
	if got.N != 4 || got.Mean != (25+50+100+50)/4.0 || got.Median != 50 || got.Min != 25 || got.Max != 100 {
		t.Errorf("%+v", got)
	}
	if p, ok := got.Percentile(10); !ok || math.Abs(p-32.5) > 1e-9 {
		t.Errorf("p10 is %v", p)
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 5000 {
		v := time.Duration(math.Exp(r.NormFloat64()+10)) * time.Microsecond
		s.Add(v.Seconds())
		h.Add(v)
	}
	got, estimate := s.Speeds(), h.Speeds()
	if estimate.N != got.N {
		t.Errorf("%d of %d", estimate.N, got.N)
	}
	near := func(name string, got, want float64) {
		if math.Abs(got/want-1) > 1.0/64 {
			t.Errorf("%s is %v, want %v within a bucket", name, got, want)
		}
	}
	near("mean", estimate.Mean, got.Mean)
	near("median", estimate.Median, got.Median)
	for i, p := range got.Percentiles {
		near("a percentile", estimate.Percentiles[i].Value, p.Value)
	}
}
