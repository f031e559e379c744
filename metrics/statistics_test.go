package metrics

import (
	"slices"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		all  []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 2, 3}, 2.5}} {
		before := slices.Clone(c.all)
		if got := Median(c.all); got != c.want || !slices.Equal(before, c.all) {
			t.Errorf("median of %v is %v, want %v", before, got, c.want)
		}
	}
}
