package saturation_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
	"benchtop/metrics/report"
)

// Once all requests have ended, the live answer is that of the report, except for the gaps between chunks, which are estimates.
func TestJudgeEqualsReport(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	ramp := linear(4, 44, time.Minute)
	slo := metrics.SLO{{Metric: metrics.TTFT, LimitMS: 200}, {Metric: metrics.E2EL, LimitMS: 4000}}
	stages := metrics.Plan{Rate: metrics.Rate(math.Inf(1)), Burstiness: 1, Goodput: slo, Stages: []metrics.Stage{
		{Start: 0, Length: 20 * time.Second, Rate: 10, Users: 0}, {Start: 20 * time.Second, Length: 20 * time.Second, Rate: 24, Users: 0}, {Start: 40 * time.Second, Length: 20 * time.Second, Rate: 44, Users: 0}}}
	warm := rampPlan(ramp)
	warm.Warmup, warm.Goodput = 10*time.Second, slo
	overRequests := metrics.Plan{Ramp: &metrics.Ramp{Strategy: "linear", From: 4, To: 44}, Rate: metrics.Rate(math.Inf(1)), Burstiness: 1, Goodput: slo}
	users := metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 1, Stages: userStages(1, 8, 16, 64, 128), Goodput: slo}
	refusing := many.with(func(s *server) { s.room = 10 })
	for name, c := range map[string]struct {
		plan   metrics.Plan
		all    []metrics.Request
		events []metrics.LogEntry
	}{
		"ramp":               {rampPlan(ramp), many.serve(poisson(ramp, r), r), nil},
		"ramp with warm-up":  {warm, refusing.serve(poisson(ramp, r), r), nil},
		"ramp over requests": {overRequests, many.serve(poisson(ramp, r), r), nil},
		"stages":             {stages, many.serve(poisson(ramp, r), r), nil},
		"closed loop":        {metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 4}, closedLoop(userStages(4), time.Second/2, 4), nil},
		"users":              {users, closedLoop(users.Stages, time.Second/2, 16), nil},
		"server killed":      {warm, killed(many.serve(poisson(ramp, r), r), 30*time.Second, 40*time.Second, metrics.FailedTruncated), nil},
		"steered": {warm, many.serve(poisson(ramp, r), r), []metrics.LogEntry{
			{At: 30 * time.Second, Set: &metrics.LoadSetting{Rate: 20, RampTo: 44, RampOver: 20 * time.Second}},
			{At: 55 * time.Second, Set: &metrics.LoadSetting{Rate: 42}, Objectives: &metrics.SLO{{Metric: metrics.TTFT, LimitMS: 90}}}}},
	} {
		c.plan.Requests = len(c.all)
		ended := eventtest.LastDone(c.all)
		rec := live.NewView(time.Now(), &c.plan)
		eventtest.Again(rec, c.all, ended)
		for _, e := range c.events {
			eventtest.Tell(rec, e)
		}
		rec.JudgeAt(ended)
		got := rec.SnapshotAt(ended)
		want, err := report.Summarize(eventtest.Each(c.all), metrics.Run{Plan: c.plan, End: metrics.End{Ended: ended}, Events: c.events})
		if err != nil || got.Answer == nil {
			t.Fatal(err, got.Answer)
		}
		options := []cmp.Option{cmpopts.IgnoreFields(metrics.LoadLevel{}, "ITLp99"), cmpopts.EquateApprox(1e-12, 0)}
		if diff := cmp.Diff(want.Levels, got.Levels, options...); diff != "" {
			t.Errorf("%s: levels (-report +live):\n%s", name, diff)
		}
		if diff := cmp.Diff(want.Answer, *got.Answer, cmpopts.IgnoreFields(metrics.Answer{}, "Confirmed")); diff != "" {
			t.Errorf("%s: answer (-report +live):\n%s", name, diff)
		}
		for i := range got.Levels {
			if a, b := got.Levels[i].ITLp99, want.Levels[i].ITLp99; name == "closed loop" && math.Abs(a-b) > 0.1*b {
				t.Errorf("%s: gaps %v ms, report %v", name, a, b)
			}
		}
		if got.Totals.Good != want.Good || len(want.Levels) > 1 && len(got.Levels) < 2 {
			t.Errorf("%s: %d good, report %d", name, got.Totals.Good, want.Good)
		}
	}
}

// While a ramp is on, saturation is found soon after the load passed it, and not before.
func TestJudgeLive(t *testing.T) {
	ramp := linear(4, 60, time.Minute)
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 7))
		all := many.serve(poisson(ramp, r), r)
		plan := rampPlan(ramp)
		plan.Goodput, plan.Requests = metrics.SLO{{Metric: metrics.TTFT, LimitMS: 200}}, len(all)
		passes := time.Duration((many.capacity() - 4) / 56 * float64(time.Minute))
		for at := 5 * time.Second; at <= time.Minute; at += 5 * time.Second {
			rec := live.NewView(time.Now(), &plan)
			eventtest.Again(rec, all, at)
			rec.JudgeAt(at)
			a := rec.SnapshotAt(at).Answer
			switch {
			case a.Saturates && at < passes-2*time.Second:
				t.Errorf("seed %d: at %s, %.0f req/s, it saturates at %.1f", seed, at, ramp.RateAt(at), middle(a))
			case a.Saturates && math.Abs(middle(a)/many.capacity()-1) > 0.25:
				t.Errorf("seed %d: at %s it saturates at %.1f, capacity %.1f", seed, at, middle(a), many.capacity())
			case !a.Saturates && at > passes+15*time.Second:
				t.Errorf("seed %d: at %s, %.0f req/s, %q", seed, at, ramp.RateAt(at), a.Why)
			case a.Within && a.Highest > 1.15*many.capacity():
				t.Errorf("seed %d: at %s %.1f req/s is within", seed, at, a.Highest)
			}
		}
	}
}
