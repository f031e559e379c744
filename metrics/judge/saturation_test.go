package judge_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/metrics/judge/queuetest"
)

// Saturation that is found is the capacity of the server, whatever its waits look like.
func TestSaturationIsTheCapacity(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	const seeds = 2
	for name, s := range map[string]server{
		"one": one, "many": many, "wide": wide,
		"refusing":      many.with(func(s *server) { s.room = 10 }),
		"stalling":      many.with(func(s *server) { s.stallAt, s.stall = 12*second, second }),
		"slow to begin": many.with(func(s *server) { s.first = 300 * ms }),
	} {
		wrong := 0
		ramps := []metrics.Ramp{linear(4, 44, minute), linear(10, 60, 90*second),
			{Strategy: "exponential", From: 4, To: 60, Over: 90 * second}}
		for _, ramp := range ramps {
			for seed := range uint64(seeds) {
				r := rand.New(rand.NewPCG(seed, 7))
				a := reported(t, rampPlan(ramp), s.serve(poisson(ramp, r), r)).Answer
				at := a.Capacity.Load
				if !a.Saturates || math.Abs(at/s.capacity()-1) > 0.2 || a.From > s.capacity()*1.02 {
					t.Errorf("%s, %v, seed %d: saturates %v at %.1f, from %.1f, %q; the capacity is %.1f", name, ramp,
						seed, a.Saturates, at, a.From, a.Why, s.capacity())
				}
				if math.Abs(at/s.capacity()-1) > 0.1 {
					wrong++
				}
			}
		}
		if wrong > 1 {
			t.Errorf("%s: %d of %d are off by more than a tenth", name, wrong, len(ramps)*seeds)
		}
	}
}

// Saturation begins where the load is that of the capacity, also after a stall that left work undone before.
func TestSaturationBeginsAtItsLoad(t *testing.T) {
	for at, length := range map[time.Duration]time.Duration{25 * second: 6 * second, 35 * second: 2 * second} {
		s := many.with(func(s *server) { s.stallAt, s.stall = at, length })
		ramp := linear(4, 44, minute)
		for seed := range uint64(3) {
			r := rand.New(rand.NewPCG(seed, 7))
			report := reported(t, rampPlan(ramp), s.serve(poisson(ramp, r), r))
			a := report.Answer
			passed := slices.IndexFunc(report.Levels, func(l metrics.LoadLevel) bool { return l.From == a.SaturatedAt })
			if !a.Saturates || passed < 0 || report.Levels[passed].Offered < a.Capacity.Low {
				t.Errorf("stall at %v, seed %d: saturates from %v on, the capacity is %.1f or more", at, seed,
					a.SaturatedAt, a.Capacity.Low)
			}
		}
	}
}

func TestNoSaturation(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	const upTo23 = "no saturation up to 23.5 req/s"
	stalling := func(at, by time.Duration) server {
		return many.with(func(s *server) { s.stallAt, s.stall = at, by })
	}
	for _, c := range []struct {
		name string
		s    server
		ramp metrics.Ramp
		why  string
	}{
		{"below capacity", many, linear(4, 24, minute), upTo23},
		{"one at a time, below capacity", one, linear(4, 20, minute), "no saturation up to 19.6 req/s"},
		{"long requests, below capacity", wide, linear(4, 24, minute), upTo23},
		{"falling, below capacity", many, linear(24, 4, minute), upTo23},
		{"a bad second in the middle", stalling(30*second, 1500*ms), linear(4, 24, minute), upTo23},
		{"a bad moment at the end", stalling(58*second, 150*ms), linear(4, 24, minute), upTo23},
		{"too few requests", many, linear(0.1, 0.3, 10*second), "too few requests"},
	} {
		for seed := range uint64(3) {
			r := rand.New(rand.NewPCG(seed, 7))
			if a := reported(t, rampPlan(c.ramp), c.s.serve(poisson(c.ramp, r), r)).Answer; a.Saturates ||
				a.Why != c.why {
				t.Errorf("%s, seed %d: saturates %v, %q; want %q", c.name, seed, a.Saturates, a.Why, c.why)
			}
		}
	}
}

// A load far below one is not said to be none.
func TestLoadsBelowOne(t *testing.T) {
	t.Parallel()
	plan, all := queued(queuetest.Server{Discipline: queuetest.FIFO, Servers: 4, Service: 1, First: .04}, 2000,
		0.02, 0.04)
	if a := reported(t, plan, all).Answer; a.Why != "no saturation up to 0.04 req/s" {
		t.Errorf("stages up to 0.04 req/s: %q", a.Why)
	}
}

// The reason for which no load is known is that of the levels together: one of few requests does not stand for all.
func TestWhyNoLoadIsKnown(t *testing.T) {
	t.Parallel()
	plan := usersPlan(userStages(8*second, 1, 16, 64))
	plan.Goodput = ttft(500)
	if a := reported(t, plan, closedLoop(plan.Stages, 500*ms, 16)).Answer; a.TierAnswer.Why != "nothing was held long "+
		"enough" {
		t.Errorf("users 1, 16, 64 for 8 s: %q", a.TierAnswer.Why)
	}
}

// Stages name the loads that were tried on either side of the capacity, and judge each of them, also by a plan with a
// limit of the client.
func TestSaturationOfStages(t *testing.T) {
	t.Parallel()
	for _, held := range []bool{false, true} {
		r := rand.New(rand.NewPCG(1, 7))
		plan, arrivals := stagesOf(20*second, r, 8, 16, 24, 40, 16)
		plan.Goodput = ttft(200)
		all := many.serve(arrivals, r)
		if held { // the client keeps what the server has no place for
			for i := range all {
				all[i].Admitted = all[i].FirstChunk - many.first
				all[i].Sent = all[i].Admitted
			}
			plan.MaxConcurrency = many.slots
		}
		s := reported(t, plan, all)
		a := s.Answer
		if !a.Saturates || a.From != 24 || a.To != 40 || a.Before != 2 || a.After != 3 || a.SaturatedAt != minute ||
			!a.Confirmed {
			t.Errorf("held %v: %+v, want between 24 and 40", held, a)
		}
		for i, l := range s.Levels {
			if l.From != 20*second*time.Duration(i) || l.Offered != plan.Stages[i].Value || l.Unit == metrics.Users {
				t.Errorf("held %v, level %d: %+v", held, i, l)
			}
		}
		if l := s.Levels[3]; l.Standing != metrics.LevelBehind {
			t.Errorf("held %v: at 40 of 32 req/s it is %q", held, l.Standing)
		}
		if l := s.Levels[4]; l.Standing == metrics.LevelMissed || l.Standing == metrics.LevelBehind {
			t.Errorf("held %v: a level with the queue of another is %q", held, l.Standing)
		}
	}
}

// queued are the requests of stages at a simulated server.
func queued(s queuetest.Server, length float64, rates ...float64) (metrics.Plan, []metrics.Request) {
	r := rand.New(rand.NewPCG(11, 12))
	shape := queuetest.Shape{Rates: rates, Length: length}
	arrivals, plan := shape.Arrivals(r)
	plan.Goodput = ttft(500)
	return plan, s.Requests(arrivals, s.Serve(arrivals, r), 0, r)
}

// What a server does counts, not whether it answers at once: its first chunks, its refusals, and requests as long as
// the stage.
func TestWorkDecides(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	sharing := queuetest.Server{Discipline: queuetest.Sharing, Servers: 4, Service: .2, First: .02, Spread: 1,
		Tokens: 50}
	limiter := queuetest.Server{Discipline: queuetest.Limiter, Servers: 5, Limit: 15, Service: .2, First: .04}
	long := queuetest.Server{Discipline: queuetest.FIFO, Servers: 400, Service: 20, First: .1, Spread: .3, Tokens: 200}
	drifting := queuetest.Server{Discipline: queuetest.FIFO, Servers: 40, Service: .4, First: .04, Spread: .3, Drift: 2,
		DriftFor: 300}
	for _, c := range []struct {
		name      string
		server    queuetest.Server
		length    float64
		rates     []float64
		standings string // of the levels
		from, to  float64
		why       string
	}{
		{"first chunks at once, and ends late", sharing, 60, []float64{8, 14, 30}, "within within behind", 14, 30, ""},
		{"refusals", limiter, 60, []float64{6, 10, 25}, "within within missed", 10, 25, ""},
		{"requests of 20 s in stages of 30 s", long, 30, []float64{2, 4, 6}, "within within within", 0, 0,
			"no saturation up to 6 req/s"},
		{"a server that becomes slower", drifting, 300, []float64{20}, "within", 0, 0,
			"the server became slower under a load that stayed the same"},
	} {
		plan, all := queued(c.server, c.length, c.rates...)
		s := reported(t, plan, all)
		a := s.Answer
		got := metrics.Each(s.Levels, func(l metrics.LoadLevel) string { return string(l.Standing) })
		if strings.Join(got, " ") != c.standings || a.Saturates != (c.to > 0) || a.From != c.from || a.To != c.to ||
			a.Why != c.why || a.Drifting != strings.Contains(c.why, "slower") {
			t.Errorf("%s: levels %q, saturates %v between %v and %v, %q; want %q between %v and %v, %q", c.name, got,
				a.Saturates, a.From, a.To, a.Why, c.standings, c.from, c.to, c.why)
			for _, l := range s.Levels {
				t.Logf("%+v", l)
			}
		}
	}
}

// Users saturate a server where more of them add little.
func TestKnee(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		users    []int
		full     int
		from, to float64
		why      string
	}{
		{[]int{1, 8, 16, 64, 128}, 16, 8, 16, ""},
		{[]int{128, 16, 64, 8, 1}, 16, 8, 16, ""},
		{[]int{1, 8, 16, 32}, 4, 1, 8, ""},
		{[]int{1, 2, 4, 8}, 4, 2, 4, ""},
		{[]int{1, 2, 4, 8}, 16, 0, 0, "no saturation up to 8 users"},
		{[]int{32, 64}, 16, 0, 32, ""},
		{[]int{8}, 16, 0, 0, "steady load"},
	} {
		plan := usersPlan(userStages(30*second, c.users...))
		s := reported(t, plan, closedLoop(plan.Stages, 500*ms, c.full))
		a := s.Answer
		if a.Saturates != (c.to > 0) || a.From != c.from || a.To != c.to || a.Why != c.why || a.Unit != metrics.Users {
			t.Errorf("%v users on %d slots: %v between %v and %v, %q; want %v and %v, %q", c.users, c.full, a.Saturates,
				a.From, a.To, a.Why, c.from, c.to, c.why)
		}
		for i, l := range s.Levels {
			if l.Offered != float64(c.users[i]) || l.Unit != metrics.Users {
				t.Errorf("%v users: level %d offers %v %s", c.users, i, l.Offered, l.Unit)
			}
		}
	}
}
