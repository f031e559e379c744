package grid

import (
	"math"
	"testing"
)

func TestGPUs(t *testing.T) {
	for _, c := range []struct {
		fields map[string]float64
		want   float64
		said   bool
	}{
		{nil, 1, false},
		{map[string]float64{"tp": 2, "pipeline_parallel_size": 3, "dp": 4}, 24, true},
		{map[string]float64{"tensor_parallel_size": 2, "tp": 8}, 2, true},
		{map[string]float64{"tensor_parallel_size": 0, "dp": 2}, 2, true},
		{map[string]float64{"max_num_seqs": 8}, 1, false},
	} {
		got, said := GPUs(func(key string) float64 {
			if n, ok := c.fields[key]; ok {
				return n
			}
			return math.NaN()
		})
		if got != c.want || said != c.said {
			t.Errorf("%v: got %v, said %t, want %v, %t", c.fields, got, said, c.want, c.said)
		}
	}
}
