package metrics

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"benchtop/internal/assert"
)

func TestBucketsTile(t *testing.T) {
	end := time.Duration(0)
	for i := range 2200 {
		lo, hi := bucketBounds(i)
		assert.Need(t, lo, end, "bucket %d starts at %s, the one before ends at %s", i, lo, end)
		assert.Need(t, bucketOf(lo), i, "bucketOf(%s)", lo)
		assert.Need(t, bucketOf(hi-time.Microsecond), i, "bucketOf(%s)", hi-time.Microsecond)
		if i > 64 && float64(hi-lo)/float64(lo) > 1.0/64+1e-9 {
			t.Fatalf("bucket %d, %s to %s, is wider than 1/64", i, lo, hi)
		}
		end = hi
	}
}

func TestQuantile(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var h Histogram
	var all []float64
	for range 20_000 {
		v := time.Duration(math.Exp(r.NormFloat64()*1.5+11)) * time.Microsecond
		h.Add(v)
		all = append(all, v.Seconds())
	}
	s := Sample{}
	for _, v := range all {
		s.Add(v)
	}
	ps := []float64{0, 1, 25, 50, 90, 99, 99.9, 100}
	want := s.Statistic(ps)
	for i, p := range ps {
		got := h.Quantile(p/100).Seconds() * 1000
		if math.Abs(got/want.Percentiles[i].Value-1) > 1.0/64 {
			t.Errorf("p%v = %v ms, want %v within a bucket", p, got, want.Percentiles[i].Value)
		}
	}
	if got := h.Mean().Seconds() * 1000; math.Abs(got/want.Mean-1) > 1e-6 {
		t.Errorf("mean = %v ms, want %v", got, want.Mean)
	}
}

// Merged histograms equal the histogram of all values, and a change by -1 undoes Add.
func TestMergeAndRemove(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var whole, merged Histogram
	for range 7 {
		var part Histogram
		for range 500 {
			v := time.Duration(r.ExpFloat64()*float64(50*time.Millisecond)) / 1000 * 1000
			part.Add(v)
			whole.Add(v)
			extra := time.Duration(r.IntN(1e9))
			part.Add(extra)
			part.change(extra, -1)
		}
		merged.Merge(&part)
	}
	if !compareHistograms(whole, merged) {
		t.Errorf("merged has %d values, mean %s; whole %d, %s", merged.Count(), merged.Mean(), whole.Count(),
			whole.Mean())
	}
}

func TestHistogramEdges(t *testing.T) {
	var h Histogram
	if h.Quantile(0.5) != 0 || h.Mean() != 0 || len(slices.Collect(h.Buckets())) != 0 {
		t.Error("an empty histogram has values")
	}
	h.change(time.Second, -1)
	h.Add(-5)
	h.Add(math.MaxInt64)
	assert.Equal(t, h.Count(), 2, "count")
	for _, q := range []float64{-1, 0, 0.5, 1, 2, math.NaN()} {
		if v := h.Quantile(q); v < 0 {
			t.Errorf("quantile %v = %d, overflowed", q, v)
		}
	}
}

// Between two buckets a quantile lies on the line that joins the two values, as the report's does: with few samples it
// would be far off otherwise.
func TestQuantileBetweenBuckets(t *testing.T) {
	var h Histogram
	for _, ms := range []int{40, 40, 50, 50, 60} {
		h.Add(time.Duration(ms) * time.Millisecond)
	}
	for q, want := range map[float64]float64{0: 40, 0.25: 40, 0.375: 45, 0.5: 50, 0.875: 55, 0.99: 59.6, 1: 60} {
		if got := h.Quantile(q).Seconds() * 1000; math.Abs(got-want) > want*0.016 {
			t.Errorf("quantile %v: %v ms, want %v within 1.6 %%", q, got, want)
		}
	}
}

// A packed histogram is the same one, also as a part of others and after a change; one that cannot be packed stays.
func TestHistogramPacked(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		var plain Histogram
		for range 1 + rnd.IntN(300) {
			v := time.Duration(rnd.ExpFloat64() * math.Pow(10, float64(4+rnd.IntN(6))))
			plain.change(v, 1+rnd.IntN(300)*rnd.IntN(2))
		}
		packed := plain.Share()
		packed.Pack()
		if len(packed.counts) > len(plain.counts) {
			t.Fatalf("seed %d: %d words instead of %d", seed, len(packed.counts), len(plain.counts))
		}
		same := func(what string, a, b *Histogram) {
			if !slices.Equal(slices.Collect(a.Buckets()), slices.Collect(b.Buckets())) || a.Mean() != b.Mean() ||
				a.Count() != b.Count() || a.Quantile(.9) != b.Quantile(.9) ||
				what == "as it is" && !a.same(b) && a.packed {
				t.Fatalf("seed %d, %s: not the same", seed, what)
			}
		}
		same("as it is", &packed, &plain)
		bytes, _ := packed.MarshalBinary()
		if want, _ := plain.MarshalBinary(); !slices.Equal(bytes, want) {
			t.Fatalf("seed %d: not the same in binary", seed)
		}
		var a, b Histogram
		a.Add(time.Millisecond)
		b.Add(time.Millisecond)
		a.Merge(&packed)
		b.Merge(&plain)
		same("merged", &a, &b)
		first := slices.Collect(plain.Buckets())[0].From
		packed.change(first, -1)
		plain.change(first, -1)
		same("less", &packed, &plain)
		packed.Pack()
		packed.Add(time.Hour)
		plain.Add(time.Hour)
		same("more", &packed, &plain)
	}
}

// A sample counts times as it counts their seconds, however many are equal.
func TestSampleOfDurations(t *testing.T) {
	var times, seconds Sample
	for i := range 20_000 {
		v := time.Duration(i*i%9000) * 25 * time.Microsecond
		if i%7 == 0 {
			v += 333 // no whole microseconds
		}
		times.AddDuration(v, 1+i%3)
		seconds.AddTimes(v.Seconds(), 1+i%3)
	}
	a, b := times.Statistic([]float64{1, 50, 99}), seconds.Statistic([]float64{1, 50, 99})
	if !reflect.DeepEqual(a, b) || a.N != 39_999 {
		t.Errorf("%+v\n%+v", a, b)
	}
}
