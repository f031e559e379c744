package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// again tells a recorder of a finished run in the order of time, until a moment.
func again(rec *Recorder, all []Request, until time.Duration) {
	type moment struct {
		at time.Duration
		do func()
	}
	var story []moment
	for i := range all {
		as := &all[i]
		q := NewRequest(as.Index)
		q.Scheduled, q.Due, q.InputTokens = as.Scheduled, as.Due, as.InputTokens
		story = append(story, moment{as.Due, func() { rec.Due(&q) }})
		if as.Sent != Never {
			story = append(story, moment{as.Sent, func() { q.Admitted, q.Sent, q.Connect = as.Admitted, as.Sent, as.Connect; rec.Sent(&q) }})
		}
		for _, c := range as.Chunks {
			story = append(story, moment{c.At, func() {
				q.Add(c)
				if as.FirstAnswer == c.At {
					q.FirstAnswer = c.At
				}
				rec.Chunk(&q)
			}})
		}
		story = append(story, moment{as.Done, func() { live := q.live; q = *as; q.live = live; rec.Done(&q) }})
	}
	slices.SortStableFunc(story, func(a, b moment) int { return int(a.at - b.at) })
	for _, m := range story {
		if m.at <= until {
			m.do()
		}
	}
}

func lastDone(all []Request) time.Duration {
	var last time.Duration
	for i := range all {
		last = max(last, all[i].Done)
	}
	return last
}

// A finished run that is told to a recorder once more looks as it did, whether its chunks know of the answer or not.
func TestAgain(t *testing.T) {
	for seed := range uint64(5) {
		all := drawRun(seed, 150)
		plan := Plan{Goodput: SLO{{TTFT, 700}}}
		live, replayed := NewRecorder(time.Now(), &plan), NewRecorder(time.Time{}, &plan)
		play(live, all)
		for i := range all {
			all[i].Chunks = slices.Clone(all[i].Chunks)
			for k := range all[i].Chunks {
				all[i].Chunks[k].Answer = false
			}
		}
		at := lastDone(all)
		again(replayed, all, at)
		diff := cmp.Diff(live.SnapshotAt(at), replayed.SnapshotAt(at), cmp.Comparer(compareHistograms), cmpopts.EquateNaNs())
		if diff != "" {
			t.Errorf("seed %d (-live +again):\n%s", seed, diff)
		}
	}
}

// Once all requests have ended, the live answer is the report's; but for the gaps between chunks, which are estimates.
func TestJudgeEqualsReport(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	ramp := linear(4, 44, time.Minute)
	slo := SLO{{TTFT, 200}, {E2EL, 4000}}
	stages := Plan{Rate: Rate(math.Inf(1)), Burstiness: 1, Goodput: slo, Stages: []Stage{
		{0, 20 * time.Second, 10, 0}, {20 * time.Second, 20 * time.Second, 24, 0}, {40 * time.Second, 20 * time.Second, 44, 0}}}
	warm := rampPlan(ramp)
	warm.Warmup, warm.Goodput = 10*time.Second, slo
	overRequests := Plan{Ramp: &Ramp{Strategy: "linear", From: 4, To: 44}, Rate: Rate(math.Inf(1)), Burstiness: 1, Goodput: slo}
	users := Plan{Rate: Rate(math.Inf(1)), MaxConcurrency: 1, Stages: userStages(1, 8, 16, 64, 128), Goodput: slo}
	refusing := many.with(func(s *server) { s.room = 10 })
	for name, c := range map[string]struct {
		plan   Plan
		all    []Request
		events []LogEntry
	}{
		"ramp":               {rampPlan(ramp), many.serve(poisson(ramp, r), r), nil},
		"ramp with warm-up":  {warm, refusing.serve(poisson(ramp, r), r), nil},
		"ramp over requests": {overRequests, many.serve(poisson(ramp, r), r), nil},
		"stages":             {stages, many.serve(poisson(ramp, r), r), nil},
		"closed loop":        {Plan{Rate: Rate(math.Inf(1)), MaxConcurrency: 4}, closedLoop(userStages(4), time.Second/2, 4), nil},
		"users":              {users, closedLoop(users.Stages, time.Second/2, 16), nil},
		"steered": {warm, many.serve(poisson(ramp, r), r), []LogEntry{
			{At: 30 * time.Second, Set: &LoadSetting{Rate: 20, RampTo: 44, RampOver: 20 * time.Second}},
			{At: 55 * time.Second, Set: &LoadSetting{Rate: 42}, Objectives: &SLO{{TTFT, 90}}}}},
	} {
		c.plan.Requests = len(c.all)
		ended := lastDone(c.all)
		rec := NewRecorder(time.Now(), &c.plan)
		again(rec, c.all, ended)
		for _, e := range c.events {
			rec.Log(e)
		}
		rec.JudgeAt(ended)
		got := rec.SnapshotAt(ended)
		want, err := Summarize(yield(c.all), Run{Plan: c.plan, Ended: ended, Events: c.events})
		if err != nil || got.Answer == nil {
			t.Fatal(err, got.Answer)
		}
		options := []cmp.Option{cmpopts.IgnoreFields(LoadLevel{}, "ITLp99"), cmpopts.EquateApprox(1e-12, 0)}
		if diff := cmp.Diff(want.Levels, got.Levels, options...); diff != "" {
			t.Errorf("%s: levels (-report +live):\n%s", name, diff)
		}
		if diff := cmp.Diff(want.Answer, *got.Answer, cmpopts.IgnoreFields(Answer{}, "Confirmed")); diff != "" {
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
		plan.Goodput, plan.Requests = SLO{{TTFT, 200}}, len(all)
		passes := time.Duration((many.capacity() - 4) / 56 * float64(time.Minute))
		for at := 5 * time.Second; at <= time.Minute; at += 5 * time.Second {
			rec := NewRecorder(time.Now(), &plan)
			again(rec, all, at)
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

// A load of which nothing is known yet is not within the objectives.
func TestJudgeDoesNotTrustTheQuickOnes(t *testing.T) {
	plan := Plan{Rate: 20, Burstiness: 1, Goodput: SLO{{TTFT, 200}}}
	rec := NewRecorder(time.Now(), &plan)
	for i := range 100 {
		x := begun(rec, i, time.Duration(i)*50*time.Millisecond)
		x.sent(x.q.Due)
		if i < 40 {
			x.chunk(x.q.Due+time.Millisecond, "")
			x.done(x.q.Due+time.Second, "")
		}
	}
	rec.JudgeAt(8 * time.Second)
	if a := rec.SnapshotAt(8 * time.Second).Answer; a.Within {
		t.Errorf("40 of 100 have ended, and %+v", a)
	}
}

// Objectives that were set while the run was on judge all of it, in totals, windows and report, and no gate.
func TestSetObjectives(t *testing.T) {
	all := drawRun(5, 2500)
	plan := Plan{Goodput: SLO{{TTFT, 700}}, Warmup: 4 * time.Second, Gates: gates(t, "goodput<10%", "request_goodput<0.001")}
	other := SLO{{TTFT, 400}, {TPOT, 50}, {E2EL, 3000}}
	ended := lastDone(all)
	want := plan
	want.Goodput = other
	for name, set := range map[string]func(rec *Recorder){
		"at the end":   func(rec *Recorder) { again(rec, all, ended); rec.SetObjectives(other) },
		"at the start": func(rec *Recorder) { rec.SetObjectives(other); again(rec, all, ended) },
		"twice": func(rec *Recorder) {
			rec.SetObjectives(nil)
			again(rec, all, ended)
			rec.Log(LogEntry{Objectives: &other})
		},
	} {
		rec, straight := NewRecorder(time.Now(), &plan), NewRecorder(time.Now(), &want)
		set(rec)
		again(straight, all, ended)
		a, b := rec.SnapshotAt(ended), straight.SnapshotAt(ended)
		if diff := cmp.Diff(b.Windows, a.Windows, cmp.Comparer(compareHistograms)); diff != "" {
			t.Errorf("%s: windows (-want +got):\n%s", name, diff)
		}
		if a.Totals != b.Totals || a.Totals.Good == 0 || a.Totals.Good == a.PlannedGood {
			t.Errorf("%s: %+v, want %+v", name, a.Totals, b.Totals)
		}
		if !slices.Equal(a.Objectives, other) || len(a.Plan.Goodput) != 1 {
			t.Errorf("%s: objectives %v, plan %v", name, a.Objectives, a.Plan.Goodput)
		}
		run := Run{Plan: plan, Ended: ended, Events: []LogEntry{
			{At: 2, Objectives: &other}, {At: 1, Objectives: &SLO{{TTFT, 1}}}, {At: 3, Text: "nothing"}}}
		report, err := Summarize(yield(all), run)
		if err != nil {
			t.Fatal(err)
		}
		if report.Good != a.Totals.Good || report.PlannedGood != a.PlannedGood || len(report.Met) != 3 || !slices.Equal(report.Objectives, other) {
			t.Errorf("%s: %d good of %v in the report, live %d", name, report.Good, report.Objectives, a.Totals.Good)
		}
		plain, _ := Summarize(yield(all), Run{Plan: plan, Ended: ended})
		if diff := cmp.Diff(plain.Gates, report.Gates); diff != "" {
			t.Errorf("%s: gates (-planned +got):\n%s", name, diff)
		}
		if live := a.CheckGates(); math.Abs(live[0].Value-plain.Gates[0].Value) > 1e-12 || len(live) != 2 {
			t.Errorf("%s: live gates %+v, want %+v", name, live, plain.Gates)
		}
	}
}
