package search

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"benchtop/internal/ci"
	"benchtop/metrics"
)

// server is a made-up one, whose requests are slower the higher the load. Its border is where the share of requests
// within the limit is that of the objectives.
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

// searched are the results of servers that see the same loads, and the runs.
func searched(t *testing.T, o Options, servers ...*server) ([]Result, int) {
	t.Helper()
	s := New(o)
	measured := map[float64]bool{}
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
		if !(p.Load > 0) || p.Load > o.Most || o.Unit == metrics.Users && p.Load != math.Floor(p.Load) {
			t.Fatalf("probe of %v", p.Load)
		}
		measured[p.Load] = true
		all := metrics.Each(servers, func(of *server) Evidence { return of.measure(p.Load) })
		s.Observe(p.Load, all)
	}
}

// Most searches end within 12 runs with an estimate near the border, whichever it is, and with an interval that holds
// it.
func TestBorders(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	const n = 16
	for _, c := range []struct {
		shape string
		run   float64 // noise
		runs  float64 // in the mean, at most
	}{{"queue", 0, 10}, {"queue", .02, 10}, {"batch", 0, 10}, {"batch", .02, 10}, {"cliff", 0, 11}} {
		for _, unit := range []metrics.Unit{metrics.RequestsPerSecond, metrics.Users} {
			runs, near, inside := 0, 0, 0
			for seed := range uint64(n) {
				draws := rand.New(rand.NewPCG(seed, 7))
				border := .3 * math.Pow(5000/.3, draws.Float64())
				if unit == metrics.Users {
					border = math.Ceil(border)
				}
				got, took := searched(t, Options{From: 1, Most: 1e6, Unit: unit},
					&server{border, c.shape, c.run, draws})
				if took > DefaultRuns {
					t.Errorf("%s, border %v: %d runs", c.shape, border, took)
				}
				e := got[0].Estimate
				if runs += took; math.Abs(e.Load-border) <= .1*border ||
					unit == metrics.Users && math.Abs(e.Load-border) <= 1 {
					near++
				}
				if e.Low <= 1.02*border && .98*border <= e.High {
					inside++
				}
			}
			if mean := float64(runs) / n; near < n*13/16 || inside < n*9/16 || mean > c.runs {
				t.Errorf("%s with noise %v, in %s: %d of %d near the border, %d intervals hold it, %.1f runs", c.shape,
					c.run, unit, near, n, inside, mean)
			}
		}
	}
}

// Four tiers whose borders are close share most runs: they cost at most 36 % of four searches.
func TestTiersShareRuns(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	alone, together := 0, 0
	for seed := range uint64(8) {
		draws := rand.New(rand.NewPCG(seed, 9))
		border := 10 * math.Pow(100, draws.Float64())
		var all []*server
		for _, part := range []float64{1, .97, .94, .91} {
			s := &server{border * part, "queue", 0, draws}
			_, runs := searched(t, Options{From: 1, Most: 1e6}, s)
			all, alone = append(all, s), alone+runs
		}
		_, runs := searched(t, Options{From: 1, Most: 1e6, Tiers: []string{"a", "b", "c", "d"}}, all...)
		together += runs
	}
	if float64(together) > 0.36*float64(alone) {
		t.Errorf("%d runs together, %d alone", together, alone)
	}
}

// A search ends early where nothing passes, and says so.
func TestHopeless(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		o        Options
		requests int
		ratio    float64
		most     int
		why      string
	}{
		{Options{From: 1, Most: 100, Unit: metrics.Users}, 100, 3, 1, "even 1 user misses the objectives"},
		{Options{From: 64, Most: 100}, 100, 3, 3, "misses the objectives"}, // less load makes it no faster
		{Options{From: 1, Most: 100}, 100, 0, 5, "misses the objectives"},
		{Options{From: 1, Most: 100}, 0, 0, DefaultRepeats, "no request counts"},
	} {
		s, runs := New(c.o), 0
		for p, more := s.Next(); more; p, more = s.Next() {
			s.Observe(p.Load, []Evidence{{Requests: c.requests, Share: enough, Ratio: c.ratio}})
			runs++
		}
		r := s.Results()[0]
		if runs > c.most || r.Passed > 0 || !strings.HasSuffix(r.Why, c.why) {
			t.Errorf("%+v: %d runs, %+v", c.o, runs, r)
		}
	}
}
