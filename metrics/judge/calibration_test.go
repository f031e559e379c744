package judge_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/metrics/judge"
	"benchtop/metrics/judge/queuetest"
)

var calibrate = flag.Int("calibrate", 0,
	"repetitions of the table of claims on queues with a known border; 0 for the short test")

type namedShape struct {
	name string
	queuetest.Shape
}

var shapes = []namedShape{
	{"ramp 60 s", queuetest.Shape{From: 2, To: 30, Over: 60}},
	{"ramp 180 s", queuetest.Shape{From: 2, To: 30, Over: 180}},
	{"stages 12 s", queuetest.Shape{Rates: []float64{8, 11, 14, 17, 20, 24}, Length: 12}},
	{"stages 30 s", queuetest.Shape{Rates: []float64{8, 11, 14, 17, 20, 24}, Length: 30}},
	{"stages 120 s", queuetest.Shape{Rates: []float64{8, 11, 14, 17, 20}, Length: 120}},
	{"constant 60 s", queuetest.Shape{Length: 60}},
	{"constant 300 s", queuetest.Shape{Length: 300}},
}

// claims counts what was said of runs, and how much of it is true.
type claims struct {
	runs, proven, false_, far, estimates, over, overProven, none int
	power8, of8, power9, of9                                     int
	saturated, wrong, missed, should                             int
	ranges, covered, bounded                                     int
	width                                                        float64
}

// counts are the numbers of claims.
func (c *claims) counts() []*int {
	return []*int{
		&c.runs, &c.proven, &c.false_, &c.far, &c.estimates, &c.over, &c.overProven, &c.none, &c.power8, &c.of8,
		&c.power9,
		&c.of9, &c.saturated, &c.wrong, &c.missed, &c.should, &c.ranges, &c.covered, &c.bounded,
	}
}

func (c *claims) join(o *claims) {
	for i, n := range o.counts() {
		*c.counts()[i] += *n
	}
	c.width += o.width
}

func (c *claims) count(k *queuetest.Kind, s *queuetest.Shape, a *metrics.Answer) (bad string) {
	border, capacity := k.Border, k.Capacity
	c.runs++
	high := a.Estimate.High
	switch {
	case a.Proven > 0:
		c.proven++
		if a.Proven > 1.02*border {
			c.false_++
			bad = "false"
		}
		if a.Proven > 1.07*border {
			c.far++
		}
		if a.Proven > 1.005*capacity {
			c.overProven++
		}
	case a.Estimate.Known():
		c.estimates++
		if a.Estimate.Load > 1.05*capacity {
			c.over++
			bad = "over"
		}
	case a.None && border > 1.1*s.Lowest():
		c.none++
		bad = "none"
	}
	if a.Estimate.Known() {
		c.ranges++
		if a.Estimate.Low <= 1.02*border && (high == 0 || high >= 0.98*border) {
			c.covered++
		} else if bad == "" {
			bad = "range"
		}
		if high > 0 {
			c.bounded++
			c.width += high/a.Estimate.Low - 1
		}
	}
	if s.Over == 0 && k.SlowFor == 0 && k.Late == 0 {
		for _, of := range []struct {
			part   float64
			n, yes *int
		}{{.8, &c.of8, &c.power8}, {.9, &c.of9, &c.power9}} {
			top := 0.0
			for _, x := range s.Rates {
				if x <= of.part*border {
					top = max(top, x)
				}
			}
			if top > 0 {
				*of.n++
				if a.Proven >= .93*top {
					*of.yes++
				}
			}
		}
	}
	switch {
	case a.Saturates:
		c.saturated++
		at, close := a.At()
		to := a.To
		if to == 0 {
			to = math.Inf(1)
		}
		right := a.From <= 1.02*capacity && .98*capacity <= to
		if close {
			right = math.Abs(at/capacity-1) <= .1
		}
		if !right {
			c.wrong++
			bad += " sat"
		}
	}
	if len(s.Rates) != 1 && s.Highest() >= 1.15*capacity {
		c.should++
		if !a.Saturates {
			c.missed++
			bad += " missed"
		}
	}
	return bad
}

// judged is the answer to a run.
func judged(k *queuetest.Kind, s *queuetest.Shape, seed uint64) ([]metrics.LoadLevel, metrics.Answer) {
	r := rand.New(rand.NewPCG(seed, 99))
	arrivals, plan := s.Arrivals(r)
	plan.Goodput = metrics.SLO{{Metric: metrics.TTFT, LimitMS: k.TTFT * 1000}}
	if k.TPOT > 0 {
		plan.Goodput = append(plan.Goodput, metrics.Objective{Metric: metrics.TPOT, LimitMS: k.TPOT * 1000})
	}
	all := k.Requests(arrivals, k.Serve(arrivals, r), k.Late, r)
	return answerOf(&plan, all, nil)
}

func answerOf(plan *metrics.Plan, all []metrics.Request, sets []judge.Setting) ([]metrics.LoadLevel, metrics.Answer) {
	var scheduled judge.Arrivals
	var end time.Duration
	for i := range all {
		scheduled.Add(plan.LoadTime(&all[i]), sets)
		end = max(end, all[i].Done)
	}
	l := judge.New(plan, plan.Goodput, sets, scheduled, end, judge.Scratch{})
	for i := range all {
		l.Add(&all[i])
	}
	return l.Judge()
}

// checkKinds measures what is known of the kinds anew.
func checkKinds(t *testing.T) {
	var wait sync.WaitGroup
	for _, k := range queuetest.Kinds {
		wait.Go(func() {
			border, capacity := k.Server.Border(k.TTFT, k.TPOT, metrics.EnoughGood), k.Server.Capacity()
			if math.Abs(border/k.Border-1) > .001 || math.Abs(capacity/k.Capacity-1) > .001 {
				t.Errorf("%s: border %.5g, capacity %.5g, known as %+v", k.Name, border, capacity, k)
			}
		})
	}
	wait.Wait()
}

// TestClaims counts the claims on runs of servers with a known border. With -calibrate it prints the tables of
// docs/accuracy.md:
//
//	go test ./metrics/judge -run TestClaims -v -args -calibrate 20
func TestClaims(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	reps := max(2, *calibrate)
	kinds := queuetest.Kinds
	if *calibrate > 0 {
		checkKinds(t)
	}
	total, long := claims{}, claims{}
	cells := make([][]claims, len(shapes))
	for j, s := range shapes {
		cells[j] = make([]claims, len(kinds))
		for i := range kinds {
			k, c := &kinds[i], &cells[j][i]
			for rep := range reps {
				shape := s.Shape
				if shape.Over == 0 && len(shape.Rates) == 0 {
					parts := []float64{.7, .8, .9, .97, 1.04, 1.1, 1.2}
					shape.Rates = []float64{max(1, k.Border) * parts[rep%len(parts)]}
				}
				_, a := judged(k, &shape, uint64(j*1000_000+i*10_000+rep))
				bad := c.count(k, &shape, &a)
				if bad != "" && testing.Verbose() && *calibrate == 0 {
					t.Logf("%s, %d: %s: %+v, answer %+v", s.name, rep, bad, k, a)
				}
			}
			total.join(c)
			if s.name == "stages 120 s" || s.name == "constant 300 s" {
				long.join(c)
			}
		}
	}
	if *calibrate > 0 {
		print(t, cells, &total)
	}
	for _, c := range []struct {
		what     string
		n, of    int
		least    float64
		atLeast  bool
		fewestOf int
	}{
		{"proven claims are false", total.false_, total.proven, 0.05, false, 20},
		{"proven claims are above capacity", total.overProven, total.proven, 0, false, 20},
		{"estimates are above 1.05 times the capacity", total.over, total.estimates, 0.02, false, 50},
		{"runs wrongly have no load within", total.none, total.runs, 0, false, 100},
		{"loads of at most 0.8 of the border are proven", long.power8, long.of8, 0.8, true, 10},
		{"loads of at most 0.9 of the border are proven", long.power9, long.of9, 0.5, true, 10},
		{"saturations are wrong", total.wrong, total.saturated, 0.05, false, 50},
		{"saturations are missed", total.missed, total.should, 0.2, false, 50},
		{"ranges hold the border", total.covered, total.ranges, 0.9, true, 50},
	} {
		share := float64(c.n) / float64(max(1, c.of))
		if c.of < c.fewestOf || c.atLeast && share < c.least || !c.atLeast && share > c.least {
			t.Errorf("%d of %d %s, want a share of %g", c.n, c.of, c.what, c.least)
		}
	}
}

// print writes the tables for docs/accuracy.md.
func print(t *testing.T, cells [][]claims, total *claims) {
	head, rule := "| server | border | capacity |", "|---|--:|--:|"
	for _, s := range shapes {
		head, rule = head+" "+s.name+" |", rule+"--:|"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n%s\n", head, rule)
	for i, k := range queuetest.Kinds {
		fmt.Fprintf(&b, "| %s | %.1f | %.1f |", k.Name, k.Border, k.Capacity)
		for j := range shapes {
			c := &cells[j][i]
			fmt.Fprintf(&b, " %d of %d |", c.false_, c.proven)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n| load | runs | proven | false | above capacity | estimates above 1.05 capacity | wrong \"no " +
		"load\" | proven at 0.8 of the border | at 0.9 | saturation wrong | missed | ranges that hold the border | " +
		"width |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	row := func(name string, c *claims) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d of %d | %d | %d of %d | %d of %d | %d of %d | %d of %d | %d of "+
			"%d | %.2f |\n", name, c.runs, c.proven, c.false_, c.overProven, c.over, c.estimates, c.none,
			c.power8, c.of8, c.power9, c.of9, c.wrong, c.saturated, c.missed, c.should, c.covered, c.ranges,
			c.width/float64(max(1, c.bounded)))
	}
	for j, s := range shapes {
		sum := claims{}
		for i := range queuetest.Kinds {
			sum.join(&cells[j][i])
		}
		row(s.name, &sum)
	}
	row("all", total)
	t.Log(b.String())
}
