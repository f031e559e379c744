package judge_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
)

// span is a level in whole seconds.
type span struct {
	From, To int
	Offered  float64
}

func spans(levels []metrics.LoadLevel) []span {
	return metrics.Each(levels, func(l metrics.LoadLevel) span {
		return span{int(l.From.Round(second).Seconds()), int(l.To.Round(second).Seconds()), math.Round(l.Offered)}
	})
}

// Levels are cut at settings of the load. Pauses and stretches that are too short are no levels.
func TestSteeredLevels(t *testing.T) {
	t.Parallel()
	events := []metrics.LogEntry{
		{At: 1, Text: "no setting"},
		setTo(0, metrics.LoadSetting{Load: perSecond(10)}),
		setTo(20, metrics.LoadSetting{Load: perSecond(10), Paused: true}),
		setTo(30, metrics.LoadSetting{Load: perSecond(20)}),
		setTo(40, metrics.LoadSetting{Load: perSecond(20), By: metrics.ByUser}), // which it was
		setTo(50, metrics.LoadSetting{Load: perSecond(99)}),
		setTo(51, metrics.LoadSetting{Load: perSecond(10), RampTo: 30, RampOver: 20 * second}),
		setTo(71, metrics.LoadSetting{Load: perSecond(30)}),
		setTo(91, metrics.LoadSetting{Paused: true}),
	}
	r := rand.New(rand.NewPCG(1, 7))
	s := reported(t, metrics.Plan{Rate: 12, Burstiness: 1}, many.serve(steered(events, 100*second, r), r), events...)
	want := []span{{0, 20, 10}, {30, 50, 20}}
	for i := range 10 {
		want = append(want, span{51 + 2*i, 53 + 2*i, 11 + 2*float64(i)})
	}
	want = append(want, span{71, 91, 30})
	assert.Same(t, "levels", spans(s.Levels), want)
	assert.Equal(t, s.Steered, len(events)-1, "steered")
}

// A load that is set at once leaves no level of the plan.
func TestPlanCutShort(t *testing.T) {
	t.Parallel()
	stages := userStages(10*second, 4, 8)
	all := closedLoop(stages, second/2, 16)
	soon := metrics.LogEntry{At: 5 * ms, Set: &metrics.LoadSetting{Load: usersOf(4), By: metrics.BySearch}}
	for _, c := range []struct {
		plan   metrics.Plan
		events []metrics.LogEntry
		want   []span
	}{
		{metrics.Plan{Rate: inf, MaxConcurrency: 4, Duration: 20 * second}, []metrics.LogEntry{soon,
			setTo(10, metrics.LoadSetting{Load: usersOf(8)})}, []span{{0, 10, 4}, {10, 20, 8}}},
		{usersPlan(stages), []metrics.LogEntry{setTo(11, metrics.LoadSetting{Load: usersOf(8), By: metrics.ByUser})},
			[]span{{0, 10, 4}, {11, 20, 8}}},
	} {
		assert.Same(t, "levels", spans(reported(t, c.plan, all, c.events...).Levels), c.want)
	}
}

func TestLevelsOfARamp(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	for _, c := range []struct {
		ramp   metrics.Ramp
		warmup time.Duration
		levels int
	}{
		{linear(20, 40, 10*minute), 0, 20}, {linear(20, 40, 20*second), 0, 9}, {linear(1, 3, minute), 0, 5},
		{linear(20, 40, minute), 30 * second, 14}, {linear(1, 1, 5*second), 0, 1},
	} {
		r := rand.New(rand.NewPCG(1, 7))
		plan := rampPlan(c.ramp)
		plan.Warmup = c.warmup
		s := reported(t, plan, many.serve(poisson(c.ramp, r), r))
		n := 0
		for i, l := range s.Levels {
			n += l.Requests
			if i > 0 && l.From != s.Levels[i-1].To {
				t.Errorf("%v: level %d begins at %s, the one before ends at %s", c.ramp, i, l.From, s.Levels[i-1].To)
			}
		}
		if off := len(s.Levels) - c.levels; off < -1 || off > 1 || s.Levels[0].From != c.warmup || n != s.Completed {
			t.Errorf("%v: %d levels from %s with %d of %d requests; want %d levels", c.ramp, len(s.Levels),
				s.Levels[0].From, n, s.Completed, c.levels)
		}
	}
	r := rand.New(rand.NewPCG(1, 7)) // twice as fast as planned: loads are counted
	ramp := linear(4, 24, minute)
	arrivals := poisson(ramp, r)
	for i := range arrivals {
		arrivals[i] /= 2
	}
	for _, l := range reported(t, rampPlan(ramp), many.serve(arrivals, r)).Levels {
		if want := ramp.RateAt(l.From+l.To) * 2; math.Abs(l.Offered-want) > 5*math.Sqrt(want/2) {
			t.Errorf("%s to %s: %v req/s, want about %v", l.From, l.To, l.Offered, want)
		}
	}
}

// The sent rate of a level is by its own length, however short it is and wherever in a second it begins. Requests that
// the client held back count in the level in which they were sent.
func TestSentInLevels(t *testing.T) {
	t.Parallel()
	var all []metrics.Request
	add := func(n int, from, every, held time.Duration) {
		for i := range n {
			at := from + every*time.Duration(i)
			q := eventtest.Simple(len(all), at+held+30*time.Microsecond, 40*ms, 10*ms, 3)
			q.Scheduled, q.Due = at, at
			all = append(all, q)
		}
	}
	add(83, 0, 125*ms, 0)               // 8 a second until 10.4 s
	add(6, 10400*ms, 335*ms, 0)         // 6 in 2.01 s
	add(10, 12410*ms, 310*ms, 0)        // 10 in 3.1 s, the last of them 310 ms before its end
	add(12, 15510*ms, 250*ms, 3*second) // of 4 a second, those that went out in their last second
	events := []metrics.LogEntry{
		{At: 10400 * ms, Set: &metrics.LoadSetting{Load: perSecond(3)}},
		{At: 12410 * ms, Set: &metrics.LoadSetting{Load: perSecond(3.2)}},
		{At: 15510 * ms, Set: &metrics.LoadSetting{Load: perSecond(4)}},
		{At: 18510 * ms, Set: &metrics.LoadSetting{Load: perSecond(5)}},
	}
	add(15, 18510*ms, 200*ms, 0) // 15 of its own, and 12 of before
	s := reported(t, metrics.Plan{Rate: 8, Burstiness: 1}, all, events...)
	got := metrics.Each(s.Levels, func(l metrics.LoadLevel) float64 { return math.Round(10*l.Sent) / 10 })
	assert.EqualAll(t, got, []float64{8, 3, 3.2, 0, 9.6}, "sent/s of %+v", s.Levels)
}

// What was set is found to saturate as what was planned.
func TestSaturationOfASteeredRun(t *testing.T) {
	t.Parallel()
	var rates []metrics.LogEntry
	for i, rate := range []float64{16, 22, 28, 40, 10} {
		rates = append(rates, setTo(30+20*i, metrics.LoadSetting{Load: perSecond(rate), By: metrics.ByUser}))
	}
	plan := rampPlan(linear(4, 10, minute))
	plan.Goodput = ttft(200)
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 7))
		arrivals := append(poisson(linear(4, 7, 30*second), r), steered(rates, 130*second, r)...)
		s := reported(t, plan, many.serve(arrivals, r), rates...)
		if a := s.Answer; !a.Saturates || a.From < 22 || a.From > 32 || a.To != 40 || a.SaturatedAt < 60*second {
			t.Errorf("seed %d: %+v, capacity %.1f", seed, a, many.capacity())
		}
	}

	stages := userStages(30*second, 1, 8, 16, 64, 128)
	users := metrics.Each(stages[1:], func(s metrics.Stage) metrics.LogEntry {
		return metrics.LogEntry{At: s.Start, Set: &metrics.LoadSetting{Load: s.Load}}
	})
	set := metrics.Plan{Rate: inf, MaxConcurrency: 1, Duration: 150 * second}
	s := reported(t, set, closedLoop(stages, second/2, 16), users...)
	if a := s.Answer; len(s.Levels) != 5 || !a.Saturates || a.From != 8 || a.To != 16 || a.Unit != metrics.Users ||
		a.SaturatedAt != 60*second {
		t.Errorf("%+v\n%+v", a, s.Levels)
	}
}

// A limited number of requests is due all at once. Its levels go by the times of free slots.
func TestSteeredUsersAllDueAtOnce(t *testing.T) {
	t.Parallel()
	stages := userStages(10*second, 4, 14, 24)
	events := []metrics.LogEntry{setTo(10, metrics.LoadSetting{Load: usersOf(14), By: metrics.ByUser}),
		setTo(20, metrics.LoadSetting{Load: usersOf(24), By: metrics.ByUser})}
	plan := metrics.Plan{Rate: inf, MaxConcurrency: 4, NumPrompts: 300, Goodput: ttft(300)}
	all := closedLoop(stages, 500*ms, 16)
	for i := range all {
		all[i].Scheduled, all[i].Due = 0, 0
	}
	held := metrics.NewRequest(len(all)) // it never got a slot
	held.Scheduled, held.Due, held.Done, held.Failure = 0, 0, 29*second, metrics.Cancelled
	s := reported(t, plan, append(all, held), events...)
	// at 24 the first chunk takes 375 ms
	if want := []metrics.Standing{metrics.LevelWithin, metrics.LevelWithin, metrics.LevelMissed}; len(s.Levels) != len(
		want) {
		t.Fatalf("%+v", s.Levels)
	} else {
		for i, l := range s.Levels {
			if n := stages[i].Users(); l.Offered != float64(n) || l.Unit != metrics.Users ||
				l.From != stages[i].Start || l.Requests < 10*n || l.Standing != want[i] {
				t.Errorf("level %d: %+v, want %d users and %q", i, l, n, want[i])
			}
		}
	}
}

// Each tier has a verdict and an answer of its own. One SLO leaves no trace of tiers.
func TestTiers(t *testing.T) {
	t.Parallel()
	plan := usersPlan(userStages(200*second, 4, 8, 16, 32))
	plan.Goodput = ttft(1100)
	all := closedLoop(plan.Stages, 2*second, 64)
	for i := range all {
		q := &all[i]
		late := []time.Duration{0, 0, 500 * ms, 900 * ms}[int(q.Due/(200*second))] + time.Duration(i*7919%50)*ms
		q.FirstChunk, q.Chunks[0].At = q.FirstChunk+late, q.Chunks[0].At+late
	}
	if s := reported(t, plan, all); s.Answer.Others != nil || s.Levels[0].Others != nil {
		t.Errorf("%+v\n%+v", s.Answer, s.Levels[0])
	}
	plan.Tiers = []metrics.Tier{{Name: "gold", SLO: plan.Goodput}, {Name: "bronze", SLO: ttft(1600)}}
	s := reported(t, plan, all)
	const w, m = metrics.LevelWithin, metrics.LevelMissed
	for i, want := range [][2]metrics.Standing{{w, w}, {w, w}, {m, w}, {m, m}} {
		if got := [2]metrics.Standing{s.Levels[i].Tier(0).Standing, s.Levels[i].Tier(1).Standing}; got != want {
			t.Errorf("level %d: %q, want %q", i, got, want)
		}
	}
	for i, want := range []float64{8, 16} {
		if a := s.Answer.Tier(i); a.Proven != want || a.Untested {
			t.Errorf("tier %d: %+v, want %v users", i, a, want)
		}
	}
}
