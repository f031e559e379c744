package metrics

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"benchtop/internal/assert"
)

// The speed of a user is the reciprocal of TPOT; an answer that came at once has none. The histogram estimates it
// within a bucket.
func TestSpeeds(t *testing.T) {
	s, h := Sample{}, Histogram{}
	for i, tpot := range []time.Duration{0, 40 * time.Millisecond, 20 * time.Millisecond, 10 * time.Millisecond,
		20 * time.Millisecond, 500 * time.Nanosecond} {
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
	assert.Equal(t, estimate.N, got.N, "%d of %d", estimate.N, got.N)
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

// Only output that came over some time has a pace, whatever empty chunks come around it.
func TestPace(t *testing.T) {
	const ms = time.Millisecond
	type chunk struct {
		at     time.Duration
		tokens int32
	}
	for name, c := range map[string]struct {
		output int
		chunks []chunk
		want   time.Duration
	}{
		"a stream":                       {11, []chunk{{100 * ms, 1}, {150 * ms, 5}, {200 * ms, 5}}, 10 * ms},
		"an end behind it":               {11, []chunk{{100 * ms, 1}, {200 * ms, 1}, {300 * ms, 0}}, 20 * ms},
		"one chunk":                      {11, []chunk{{100 * ms, 11}}, Never},
		"one chunk counted as a token":   {11, []chunk{{100 * ms, 1}}, Never},
		"one chunk and an end":           {3, []chunk{{100 * ms, 1}, {100*ms + 90*time.Microsecond, 0}}, Never},
		"a late end":                     {11, []chunk{{100 * ms, 1}, {300 * ms, 0}}, Never},
		"a role, one chunk, an end":      {11, []chunk{{50 * ms, 0}, {100 * ms, 1}, {101 * ms, 0}}, Never},
		"in one write, read in two":      {21, []chunk{{100 * ms, 1}, {100*ms + 200*time.Microsecond, 1}}, Never},
		"one token":                      {1, []chunk{{100 * ms, 1}}, Never},
		"one token by usage, two chunks": {1, []chunk{{100 * ms, 1}, {200 * ms, 1}}, Never},
		"none":                           {0, nil, Never},
		"no output":                      {0, []chunk{{100 * ms, 0}, {200 * ms, 0}}, Never},
	} {
		q := NewRequest(0)
		q.Sent, q.OutputTokens = 0, c.output
		for _, x := range c.chunks {
			q.Add(Chunk{At: x.at, Tokens: x.tokens})
		}
		assert.Equal(t, q.Pace(), c.want, "%s", name)
	}
}
