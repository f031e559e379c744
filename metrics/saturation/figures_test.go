package saturation

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/metrics"
)

// figures and Sample give the same statistic, merged from halves or not.
func TestFigures(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var l Levels
	for _, n := range []int{0, 1, 2, 5, 1000} {
		counted, halves := metrics.Sample{}, [2]figures{}
		for range n {
			v := float64(r.IntN(200)) / 1e6
			counted.Add(v)
			halves[r.IntN(2)].add(v)
		}
		want := counted.Statistic([]float64{0, 37.5, 99, 100})
		got := l.merge(halves).statistic([]float64{0, 37.5, 99, 100})
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
			t.Errorf("%d (-counted +flat):\n%s", n, diff)
		}
	}
}
