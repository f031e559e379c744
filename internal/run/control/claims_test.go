package control

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"benchtop/internal/ci"
	"benchtop/internal/search"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/judge/queuetest"
)

var finds = flag.Int("finds", 0, "searches on each queue with a known border; 0 for a short test")

// findKind is a server, the objectives of tiers in seconds, and the borders of these.
type findKind struct {
	name string
	queuetest.Server
	tiers []findTier
}

type findTier struct{ ttft, tpot, border float64 }

func findKinds() (all []findKind) {
	for _, k := range queuetest.Known("fifo-det", "fifo-exp", "single", "sharing", "limiter", "speed", "slow start",
		"tail 3 %") {
		all = append(all, findKind{k.Name, k.Server, []findTier{{k.TTFT, k.TPOT, k.Border}}})
	}
	return append(all, findKind{"two tiers", all[1].Server, []findTier{{.25, 0, 11.757}, {.7, 0, 15.911}}})
}

// findRun is a run against a server, in which loads are held after one another.
type findRun struct {
	of     *findKind
	find   metrics.Find
	plan   metrics.Plan
	trial  *Trial
	now    time.Duration
	loaded time.Duration
	sent   int
	seed   uint64
}

// told is an event of a request.
type told struct {
	at   time.Duration
	kind event.Kind
	q    *metrics.Request
}

// requests are those of a step, with their events in order.
func (f *findRun) requests(load float64, length time.Duration) (events []told) {
	s := f.of.Server
	if f.now > 0 {
		s = s.Steady()
	}
	r := rand.New(rand.NewPCG(f.seed, uint64(f.sent)))
	arrivals := queuetest.Constant(load, length.Seconds(), r)
	all := s.Requests(arrivals, s.Serve(arrivals, r), 0, r)
	for i := range all {
		q := &all[i]
		q.Index += f.sent
		for _, at := range []*time.Duration{&q.Due, &q.Scheduled, &q.Admitted, &q.Sent, &q.FirstChunk, &q.FirstToken,
			&q.LastChunk, &q.Done} {
			if *at != metrics.Never {
				*at += f.now
			}
		}
		events = append(events, told{q.Due, event.Due, q}, told{q.Done, event.Done, q})
		if q.FirstChunk != metrics.Never {
			first := *q
			first.LastChunk = first.FirstChunk
			events = append(events, told{q.FirstChunk, event.Chunk, &first})
		}
	}
	f.sent += len(all)
	slices.SortStableFunc(events, func(a, b told) int { return cmp.Compare(a.at, b.at) })
	return events
}

// try holds the load of a step as the control of a run does, and returns what came of it.
func (f *findRun) try(step Step) []search.Evidence {
	if step.Phase == metrics.SearchDraining {
		f.now += 3 * time.Second
		return nil
	}
	const after = 5 * time.Second // in which the load stays in force until the outcome is known
	began, from := f.now, f.now
	if step.Settle > 0 {
		from += max(step.Settle, min(f.trial.Running(), mostSettled*f.find.Step))
	}
	to := from + step.For
	events := f.requests(step.Load, to+after-began)
	held := step.Phase == metrics.SearchHolding
	f.trial.Begin(from, to, step.Load*step.For.Seconds(), patienceFor, held)
	for next := began; ; next += 10 * verdictEvery {
		if next > to {
			next -= 9 * verdictEvery
		}
		for len(events) > 0 && events[0].at <= next {
			f.trial.Take(&event.Event{Kind: events[0].kind, Request: events[0].q})
			events = events[1:]
		}
		if verdicts, decided := f.trial.Verdicts(next); decided || held && proven(verdicts, step.Tier) {
			f.loaded += next - began
			f.now = next
			return f.trial.Evidence(next)
		}
	}
}

func newFindRun(k *findKind, seed int) *findRun {
	f := &findRun{of: k, find: metrics.Find{From: 1, Most: 1000, Step: 10 * time.Second, Hold: 2 * time.Minute},
		seed: uint64(seed)}
	f.plan = metrics.Plan{Find: &f.find, Rate: 1}
	for i, t := range k.tiers {
		slo := metrics.SLO{{Metric: metrics.TTFT, LimitMS: t.ttft * 1000}}
		if t.tpot > 0 {
			slo = slo.With(metrics.Objective{Metric: metrics.TPOT, LimitMS: t.tpot * 1000})
		}
		f.plan.Tiers = append(f.plan.Tiers, metrics.Tier{Name: fmt.Sprint("tier ", i), SLO: slo})
	}
	f.plan.Goodput = f.plan.Tiers[0].SLO
	f.trial = NewTrial(&f.plan)
	return f
}

// findClaims counts what searches claimed, and how much of it is true.
type findClaims struct {
	searches, near, inside, proven, untrue int
	loaded, part                           float64 // seconds; of the borders that were proven
}

func (c *findClaims) join(o *findClaims) {
	c.searches, c.near, c.inside, c.proven, c.untrue = c.searches+o.searches, c.near+o.near, c.inside+o.inside,
		c.proven+o.proven, c.untrue+o.untrue
	c.loaded, c.part = c.loaded+o.loaded, c.part+o.part
}

// count takes the result for a tier.
func (c *findClaims) count(r *search.Result, proven, border float64) (near bool) {
	c.searches++
	if near = math.Abs(r.Estimate.Load/border-1) <= .1; near {
		c.near++
	}
	if e := r.Estimate; e.Low <= border*1.02 && (e.High == 0 || border*.98 <= e.High) {
		c.inside++
	}
	if proven > 0 {
		c.proven++
		c.part += proven / border
		if proven > 1.02*border {
			c.untrue++
		}
	}
	return near
}

func (c *findClaims) row(name, border string) string {
	n := float64(c.searches)
	return fmt.Sprintf("| %s | %s | %.0f %% | %.0f %% | %d of %d, at %.2f X* | %d | %.0f |\n", name, border,
		100*float64(c.near)/n, 100*float64(c.inside)/n, c.proven, c.searches,
		c.part/float64(max(1, c.proven)), c.untrue, c.loaded/n)
}

// search makes a search, and counts the results of all tiers.
func (c *findClaims) search(t *testing.T, k *findKind, seed int) {
	run := newFindRun(k, seed)
	names := metrics.Each(run.plan.Tiers, func(tier metrics.Tier) string { return tier.Name })
	f := NewFinder(run.find, names...)
	trace := ""
	for step := f.Step(); step.Phase != metrics.SearchDone; {
		from := run.now
		tiers := run.try(step)
		for _, e := range tiers {
			trace += fmt.Sprintf(" %.3g:%.0fs %d/%d eff %.0f %.2f;", step.Load, (run.now - from).Seconds(), e.Good,
				e.Requests, e.Effective, e.Confidence)
		}
		step = f.Next(tiers)
	}
	for i, r := range f.search.Results() {
		if near := c.count(&r, f.held[i].proven, k.tiers[i].border); (!near || f.held[i].proven == 0) && *finds == 6 {
			t.Logf("%s %d: %+v, proven %.3g;%s", k.name, seed, r, f.held[i].proven, trace)
		}
	}
	c.loaded += run.loaded.Seconds() * float64(len(k.tiers))
}

// Searches on queues whose borders are known are near them, their intervals hold the borders, and what they prove is
// true. The table is that of docs/accuracy.md with
//
//	go test ./internal/run/control -run TestFindClaims -v -args -finds 40
func TestFindClaims(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	kinds := findKinds()
	seeds := cmp.Or(*finds, 2)
	claims := make([]findClaims, len(kinds))
	var wait sync.WaitGroup
	for i := range kinds {
		wait.Go(func() {
			k := &kinds[i]
			for seed := range seeds {
				claims[i].search(t, k, seed)
			}
		})
	}
	wait.Wait()
	var table strings.Builder
	var all, alone findClaims // of all, and of searches for one tier
	for i, k := range kinds {
		borders := metrics.Each(k.tiers, func(tier findTier) string { return fmt.Sprintf("%.1f", tier.border) })
		table.WriteString(claims[i].row(k.name, strings.Join(borders, ", ")))
		all.join(&claims[i])
		if len(k.tiers) == 1 {
			alone.join(&claims[i])
		}
	}
	table.WriteString(all.row("all", ""))
	t.Logf("\n| server | X* (req/s) | within 10 %% | interval holds X* | proven | false | loaded (s) "+
		"|\n|---|---|---|---|---|---|---|\n%s", table.String())
	n, slack := float64(all.searches), 0.0
	if *finds == 0 {
		slack = .15 // of few searches
	}
	if float64(all.near) < (.9-slack)*n || float64(all.inside) < (.9-slack)*n ||
		float64(all.untrue) > (.05+slack/2)*float64(all.proven) || float64(all.proven) < (.6-slack)*n ||
		alone.loaded > 2*(1+slack)*mostLoaded*float64(alone.searches) {
		t.Errorf("of %d searches %d are within 10 %%, %d intervals hold the border, %d prove a load, %d a false one, "+
			"in %.0f s", all.searches, all.near, all.inside, all.proven, all.untrue,
			alone.loaded/float64(alone.searches))
	}
}

// mostLoaded is what a search took, in seconds, by a rule that tested each load once for the same time.
const mostLoaded = 160
