package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// server is a made-up one, whose requests are slower the higher the load. Its border is where the share of requests within the limit is
// that of the objectives.
type server struct {
	border float64
	shape  string  // of the latency over the load: "queue", "batch", or "cliff" which says no latency
	run    float64 // the spread of the latency from run to run, as a logarithm
	draws  *rand.Rand
}

const (
	enough   = .95
	requests = 400
	spread   = .25 // of the requests of a run
	quantile = 1.645
)

// latency is that at the quantile over its limit: 1 at the border.
func (s *server) latency(load float64) float64 {
	x := load / s.border
	switch s.shape {
	case "batch": // tokens of a batch
		return .4 + .6*x
	case "queue": // close to its capacity
		const capacity = 1.15
		if x < capacity*.98 {
			return .1 + .9*(capacity-1)/(capacity-x)
		}
		return 10 * x
	}
	if x > 1 {
		return 4
	}
	return .25
}

func (s *server) measure(load float64) Evidence {
	slow := s.latency(load) * math.Exp(s.run*s.draws.NormFloat64()-quantile*spread)
	ratios := make([]float64, requests)
	for i := range ratios {
		ratios[i] = slow * math.Exp(spread*s.draws.NormFloat64())
	}
	e := EvidenceOf(ratios, enough)
	if s.shape == "cliff" {
		e.Ratio = 0
	}
	return e
}

var counts map[Purpose]int

// searched are the results of servers that see the same loads, and the runs.
func searched(t *testing.T, o Options, servers ...*server) ([]Result, int) {
	t.Helper()
	s := New(o)
	measured := map[float64]bool{}
	if counts == nil {
		counts = map[Purpose]int{}
	}
	for runs := 0; ; runs++ {
		p, more := s.Next()
		if !more {
			results := s.Results()
			for _, r := range results {
				if r.Passed > 0 && !measured[r.Passed] || r.Failed > 0 && !measured[r.Failed] {
					t.Errorf("%+v has a load that was not measured", r)
				}
			}
			return results, runs
		}
		if runs > 1000 {
			t.Fatal("the search does not end")
		}
		if !(p.Load > 0) || p.Load > o.Most || o.Whole && p.Load != math.Floor(p.Load) {
			t.Fatalf("probe of %v", p.Load)
		}
		measured[p.Load] = true
		counts[p.Purpose]++
		var all []Evidence
		for _, of := range servers {
			all = append(all, of.measure(p.Load))
		}
		s.Observe(p.Load, all)
	}
}

// TestCosts says how many runs searches take and how near they come.
func TestCosts(t *testing.T) {
	for _, shape := range []string{"queue", "batch", "cliff"} {
		for _, whole := range []bool{false, true} {
			for _, noise := range []float64{0, .02, .05} {
				counts = nil
				runs, worst, near, n, sumErr := 0, 0, 0, 0, 0.0
				for seed := range uint64(300) {
					draws := rand.New(rand.NewPCG(seed, 7))
					border := math.Exp(math.Log(.3) + draws.Float64()*math.Log(5000/.3))
					if whole {
						border = 1 + math.Floor(border)
					}
					s := server{border, shape, noise, draws}
					got, took := searched(t, Options{From: 1, Most: 1e6, Whole: whole, Confidence: .9}, &s)
					n, runs, worst = n+1, runs+took, max(worst, took)
					off := math.Abs(got[0].Passed-border) / border
					sumErr += off
					if off <= .05 || whole && math.Abs(got[0].Passed-border) <= 1 {
						near++
					}
				}
				t.Log(fmt.Sprintf("%s whole %v noise %v: mean %.1f worst %d, %.1f%% near, off %.3f", shape, whole, noise, float64(runs)/float64(n), worst, 100*float64(near)/float64(n), sumErr/float64(n)), counts)
			}
		}
	}
}
