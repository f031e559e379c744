package judge_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
)

// Once all requests have ended, the live answer is that of the report, except for the gaps between chunks, which are
// estimates.
func TestJudgeEqualsReport(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 7))
	ramp := linear(4, 44, minute)
	slo := metrics.SLO{{Metric: metrics.TTFT, LimitMS: 200}, {Metric: metrics.E2EL, LimitMS: 4000}}
	stages, arrivals := stagesOf(20*second, r, 10, 24, 44)
	stages.Goodput, stages.Tiers = slo, []metrics.Tier{{Name: "gold", SLO: slo}, {Name: "bronze", SLO: ttft(800)}}
	warm := rampPlan(ramp)
	warm.Warmup, warm.Goodput = 10*second, slo
	overRequests := metrics.Plan{Ramp: &metrics.Ramp{Strategy: "linear", From: 4, To: 44}, Rate: inf, Burstiness: 1,
		Goodput: slo}
	users := usersPlan(userStages(10*second, 1, 8, 16, 64, 128))
	users.Goodput = slo
	refusing := many.with(func(s *server) { s.room = 10 })
	for _, c := range []struct {
		name   string
		plan   metrics.Plan
		all    []metrics.Request
		events []metrics.LogEntry
	}{
		{"ramp", rampPlan(ramp), many.serve(poisson(ramp, r), r), nil},
		{"ramp with warm-up", warm, refusing.serve(poisson(ramp, r), r), nil},
		{"ramp over requests", overRequests, many.serve(poisson(ramp, r), r), nil},
		{"stages", stages, many.serve(arrivals, r), nil},
		{"closed loop", metrics.Plan{Rate: inf, MaxConcurrency: 4}, closedLoop(userStages(10*second, 4), second/2, 4),
			nil},
		{"users", users, closedLoop(users.Stages, second/2, 16), nil},
		{"server killed", warm, killed(many.serve(poisson(ramp, r), r), 30*second, 40*second, metrics.FailedTruncated),
			nil},
		{"steered", warm, many.serve(poisson(ramp, r), r), []metrics.LogEntry{
			{At: 30 * second, Set: &metrics.LoadSetting{Load: perSecond(20), RampTo: 44, RampOver: 20 * second}},
			{At: 55 * second, Set: &metrics.LoadSetting{Load: perSecond(42)},
				Objectives: &metrics.SLO{{Metric: metrics.TTFT, LimitMS: 90}}}}},
	} {
		c.plan.Requests = len(c.all)
		want, got := reported(t, c.plan, c.all, c.events...),
			liveAt(c.plan, c.all, eventtest.LastDone(c.all), c.events...)
		options := []cmp.Option{cmpopts.IgnoreFields(metrics.LoadLevel{}, "ITLp99", "Steady"),
			cmpopts.EquateApprox(1e-12, 0)}
		if diff := cmp.Diff(want.Levels, got.Levels, options...); diff != "" {
			t.Errorf("%s: levels (-report +live):\n%s", c.name, diff)
		}
		if diff := cmp.Diff(want.Answer, *got.Answer, cmpopts.IgnoreFields(metrics.Answer{}, "Confirmed")); diff != "" {
			t.Errorf("%s: answer (-report +live):\n%s", c.name, diff)
		}
		if got.Totals.Good != want.Good || len(want.Levels) > 1 && len(got.Levels) < 2 {
			t.Errorf("%s: %d good, report %d", c.name, got.Totals.Good, want.Good)
		}
	}
}

// While a ramp is on, saturation is found soon after the load passed it, and not before. No claim of that time is above
// the capacity.
func TestJudgeLive(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	ramp := linear(4, 60, minute)
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 7))
		all := many.serve(poisson(ramp, r), r)
		plan := rampPlan(ramp)
		plan.Goodput, plan.Requests = ttft(200), len(all)
		passes := time.Duration((many.capacity() - 4) / 56 * float64(minute))
		for at := 5 * second; at <= minute; at += 5 * second {
			a := liveAt(plan, all, at).Answer
			switch {
			case a.Saturates && at < passes-2*second:
				t.Errorf("seed %d: at %s, %.0f req/s, it saturates at %+v", seed, at, ramp.RateAt(at), a.Capacity)
			case a.Saturates && math.Abs(a.Capacity.Load/many.capacity()-1) > 0.25:
				t.Errorf("seed %d: at %s it saturates at %+v, capacity %.1f", seed, at, a.Capacity, many.capacity())
			case !a.Saturates && at > passes+15*second:
				t.Errorf("seed %d: at %s, %.0f req/s, %q", seed, at, ramp.RateAt(at), a.Why)
			case a.Highest() > 1.1*many.capacity():
				t.Errorf("seed %d: at %s %.1f req/s is within", seed, at, a.Highest())
			}
		}
	}
}

// The wait for a slot of the client counts: a rate that a limit holds back is not within the objectives. The figures of
// the run leave the wait out, as vLLM does.
func TestLevelsCountTheWaitForASlot(t *testing.T) {
	t.Parallel()
	plan := metrics.Plan{Rate: 10, Burstiness: 1, Goodput: ttft(200)}
	all := steady(0, 70*second, 100*ms, always(100*ms))
	for i := range all {
		all[i].Scheduled, all[i].Due = all[i].Sent-300*ms, all[i].Sent-300*ms
	}
	all = all[3:]
	s, shown := reported(t, plan, all), liveAt(plan, all, 71*second)
	if s.Good != len(all) || s.Levels[0].Good != 0 || shown.Levels[0].Good != 0 ||
		s.Levels[0].Standing != metrics.LevelMissed || shown.Levels[0].Standing != metrics.LevelMissed {
		t.Errorf("%d of %d good; levels %+v, live %+v", s.Good, len(all), s.Levels, shown.Levels)
	}
}
