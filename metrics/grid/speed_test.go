package grid

import (
	"math"
	"testing"
)

func TestUserSpeed(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	type fields map[string]float64
	for _, c := range []struct {
		name   string
		fields fields
		want   float64
	}{
		{"own word", fields{SpeedKey: 85, "median_tpot_ms": 20, "output_throughput": 300, "max_concurrency": 2}, 85},
		{"by TPOT", fields{"median_tpot_ms": 12.5, "output_throughput": 300, "max_concurrent_requests": 21}, 80},
		{"its own word is that there is none", fields{SpeedKey: nan, "median_tpot_ms": 0.01, "request_rate": 4,
			"max_concurrency": 2, "output_throughput": 9}, nan},
		{"closed loop without TPOT", fields{SpeedKey: nan, "request_rate": inf, "max_concurrency": 4,
			"output_throughput": 100}, 25},
		{"all at once, in one piece", fields{"median_tpot_ms": 0, "max_concurrency": 4, "output_throughput": 100}, 25},
		{"the highest number of requests in flight is no number of users",
			fields{"max_concurrent_requests": 5, "output_throughput": 10}, nan},
		{"a rate is no number of users", fields{"request_rate": 5, "max_concurrency": 100, "output_throughput": 10},
			nan},
		{"too large", fields{"max_concurrency": 1e-300, "output_throughput": 1e300}, nan},
		{"nothing", nil, nan},
	} {
		got := UserSpeed(func(key string) (float64, bool) {
			if v, ok := c.fields[key]; ok {
				return v, true
			}
			return nan, false
		})
		if got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
