package sweep

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/internal/search"
	"benchtop/metrics"
	simulated "benchtop/metrics/judge/queuetest"
)

var finds = flag.Int("finds", 0, "searches on each queue with a known border; 0 for a short test")

// claimKinds are the queues.
func claimKinds() []simulated.Kind {
	return simulated.Known("fifo-det", "fifo-exp", "sharing", "limiter", "speed", "slow start", "tail 3 %")
}

// runOf is a run of so many requests, and the evidence of it.
func runOf(t *testing.T, k *simulated.Kind, load float64, requests int, first bool,
	seed uint64) (search.Evidence, time.Duration) {
	s := k.Server
	if !first {
		s = s.Steady()
	}
	r := rand.New(rand.NewPCG(seed, math.Float64bits(load)))
	arrivals := simulated.Constant(load, 2*float64(requests)/load, r)
	arrivals = arrivals[:min(requests, len(arrivals))]
	all := s.Requests(arrivals, s.Serve(arrivals, r), 0, r)
	slo := metrics.SLO{{Metric: metrics.TTFT, LimitMS: k.TTFT * 1000}}
	if k.TPOT > 0 {
		slo = slo.With(metrics.Objective{Metric: metrics.TPOT, LimitMS: k.TPOT * 1000})
	}
	ended := time.Duration(0)
	for i := range all {
		ended = max(ended, all[i].Done)
	}
	plan := metrics.Plan{Rate: metrics.Rate(load), Requests: requests, Goodput: slo}
	each := func(yield func(metrics.Request, error) bool) {
		for _, q := range all {
			if !yield(q, nil) {
				return
			}
		}
	}
	e := assert.Must(judgeRequests(TierSets([]metrics.Tier{{Name: "tier", SLO: slo}}), &plan, each, ended, Record{}))(t)
	return e[0], ended
}

type slaClaims struct {
	searches, near, inside, proven, untrue, runs int
	loaded                                       float64 // seconds
}

func (c *slaClaims) join(o *slaClaims) {
	c.searches, c.near, c.inside, c.proven, c.untrue, c.runs = c.searches+o.searches, c.near+o.near, c.inside+o.inside,
		c.proven+o.proven, c.untrue+o.untrue, c.runs+o.runs
	c.loaded += o.loaded
}

func (c *slaClaims) row(name, border string) string {
	n := float64(c.searches)
	return fmt.Sprintf("| %s | %s | %.0f %% | %.0f %% | %d of %d | %d | %.1f | %.0f |\n", name, border,
		100*float64(c.near)/n, 100*float64(c.inside)/n, c.proven, c.searches, c.untrue,
		float64(c.runs)/n, c.loaded/n)
}

func (c *slaClaims) search(t *testing.T, k *simulated.Kind, seed int) {
	requests := []int{300, 400, 500}[seed%3]
	s := search.New(search.Options{From: 11, Most: 8192})
	for runs := 0; ; runs++ {
		p, more := s.Next()
		if !more {
			break
		}
		e, took := runOf(t, k, p.Load, requests, runs == 0, uint64(1000*seed+runs))
		s.Observe(p.Load, []search.Evidence{e})
		c.runs++
		c.loaded += took.Seconds()
	}
	r := s.Results()[0]
	c.searches++
	if math.Abs(r.Estimate.Load/k.Border-1) <= .1 {
		c.near++
	}
	if e := r.Estimate; e.Low <= k.Border*1.02 && (e.High == 0 || k.Border*.98 <= e.High) {
		c.inside++
	}
	if r.Proven() {
		c.proven++
		if r.Passed > 1.02*k.Border {
			c.untrue++
		}
	}
	if r.Confidence > metrics.MostConfidence {
		t.Errorf("%s: a confidence of %v", k.Name, r.Confidence)
	}
}

// Searches by runs on queues whose borders are known are near them, their intervals hold the borders, and what they
// prove is true. The table is that of docs/accuracy.md with
//
//	go test ./internal/sweep -run TestSLAClaims -v -args -finds 40
func TestSLAClaims(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	kinds := claimKinds()
	claims := make([]slaClaims, len(kinds))
	var wait sync.WaitGroup
	for i := range kinds {
		wait.Go(func() {
			k := &kinds[i]
			for seed := range cmp.Or(*finds, 2) {
				claims[i].search(t, k, seed)
			}
		})
	}
	wait.Wait()
	var table strings.Builder
	var all slaClaims
	for i, k := range kinds {
		table.WriteString(claims[i].row(k.Name, fmt.Sprintf("%.1f", k.Border)))
		all.join(&claims[i])
	}
	table.WriteString(all.row("all", ""))
	t.Logf("\n| server | X* (req/s) | within 10 %% | interval holds X* | proven | false | runs | loaded (s) "+
		"|\n|---|---|---|---|---|---|---|---|\n%s", table.String())
	// Where all requests share a server, a run of a few hundred shows no queue at a tenth above its border.
	n, slack := float64(all.searches), .06
	if *finds == 0 {
		slack = .2 // of few searches
	}
	if float64(all.near) < (.9-slack)*n || float64(all.inside) < (.9-slack)*n ||
		float64(all.untrue) > (.05+slack/2)*float64(all.proven) {
		t.Errorf("of %d searches %d are within 10 %%, %d intervals hold the border, %d prove a load, %d a false one",
			all.searches, all.near, all.inside, all.proven, all.untrue)
	}
}

// A run of a handful of requests is no verdict on its load.
func TestFewRequests(t *testing.T) {
	t.Parallel()
	k := claimKinds()[0]
	e, _ := runOf(t, &k, 2, 8, false, 1)
	s := search.New(search.Options{From: 2, Most: 2})
	s.Observe(2, []search.Evidence{e})
	if r := s.Results()[0]; e.Confidence != 0 || r.Confidence != 0 || r.Proven() {
		t.Errorf("%+v, %+v", e, r)
	}
}
