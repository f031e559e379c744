package metrics

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"benchtop/internal/assert"
)

func TestHistogramInBinary(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 200 {
		var h, back Histogram
		for range n {
			h.Add(time.Duration(math.Exp(r.Float64()*45)) - 1)
		}
		b := assert.Must(h.MarshalBinary())(t)
		if err := back.UnmarshalBinary(b); err != nil || !compareHistograms(h, back) {
			t.Errorf("%d values: %v, %d of them came back", n, err, back.Count())
		}
	}
}

func FuzzHistogramInBinary(f *testing.F) {
	var h Histogram
	for _, ms := range []int{0, 1, 40, 40, 41, 90000} {
		h.Add(time.Duration(ms) * time.Millisecond)
	}
	b, _ := h.MarshalBinary()
	f.Add(b)
	f.Add([]byte{histogramForm, 0})
	f.Add([]byte{histogramForm, 5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		var h, again Histogram
		if h.UnmarshalBinary(b) != nil {
			return
		}
		h.Quantile(0.99)
		h.Mean()
		h.Add(time.Second)
		b, _ = h.MarshalBinary()
		if err := again.UnmarshalBinary(b); err != nil || !compareHistograms(h, again) {
			t.Errorf("%v: %d came back of %d", err, again.Count(), h.Count())
		}
	})
}
