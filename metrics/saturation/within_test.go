package saturation_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
	"benchtop/metrics/report"
)

// stagesOf is a plan of rates for the same time each, with its arrivals.
func stagesOf(length time.Duration, r *rand.Rand, rates ...float64) (metrics.Plan, []time.Duration) {
	plan := metrics.Plan{Rate: metrics.Rate(math.Inf(1)), Burstiness: 1, Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}}}
	var arrivals []time.Duration
	for i, rate := range rates {
		start := length * time.Duration(i)
		plan.Stages = append(plan.Stages, metrics.Stage{Start: start, Length: length, Rate: rate})
		for _, at := range poisson(linear(rate, rate, length), r) {
			arrivals = append(arrivals, start+at)
		}
	}
	return plan, arrivals
}

// heldBack moves the waits from the server to the client: users wait as long, but not in TTFT.
func (s server) heldBack(all []metrics.Request) []metrics.Request {
	for i := range all {
		q := &all[i]
		q.Admitted = q.FirstChunk - s.first
		q.Sent = q.Admitted
	}
	return all
}

// A rate that a limit of the client holds back is not within any objectives: users wait, and less is completed than offered.
func TestLoadHeldBackIsNotWithin(t *testing.T) {
	s := server{slots: 64, service: 2 * time.Second, first: 60 * time.Millisecond, jitter: 0.5} // 32 a second
	for _, slo := range []metrics.SLO{{{Metric: metrics.TTFT, LimitMS: 1000}}, {{Metric: metrics.TPOT, LimitMS: 5000}}, {{Metric: metrics.E2EL, LimitMS: 4000}}} {
		for seed := range uint64(5) {
			r := rand.New(rand.NewPCG(seed, 7))
			plan, arrivals := stagesOf(15*time.Second, r, 8, 24, 48, 16)
			plan.Goodput, plan.MaxConcurrency = slo, s.slots
			summary := answerTo(t, plan, s.heldBack(s.serve(arrivals, r)))
			a := summary.Answer
			if !a.Within || math.Abs(a.Highest-24) > 1 || !a.Saturates || a.From != 24 || a.To != 48 {
				t.Errorf("%v, seed %d: %+v\n%+v", slo, seed, a, summary.Levels)
			}
			if _, close := a.At(); close {
				t.Errorf("%v, seed %d: one number for saturation between 24 and 48", slo, seed)
			}
			if l := summary.Levels[2]; l.Completed < 0.6 || l.Completed > 0.75 || l.Standing == metrics.LevelWithin || l.WaitP99 < 5000 || l.TTFTp99 > 61 {
				t.Errorf("%v, seed %d: at 48 of 32 a second: %+v", slo, seed, l)
			}
		}
	}
}

// The reported load is the completed one: no load above the capacity of the server is within.
func TestHighestIsWhatWasAchieved(t *testing.T) {
	for name, s := range map[string]server{"one": one, "many": many, "wide": wide} {
		for seed := range uint64(5) {
			r := rand.New(rand.NewPCG(seed, 7))
			ramp := linear(4, 60, time.Minute)
			plan := rampPlan(ramp)
			plan.Goodput = metrics.SLO{{Metric: metrics.TTFT, LimitMS: 60_000}} // nothing is ever late
			a := answerTo(t, plan, s.serve(poisson(ramp, r), r)).Answer
			if !a.Within || a.Highest < 0.75*s.capacity() || a.Highest > 1.05*s.capacity() {
				t.Errorf("%s, seed %d: within the objectives up to %.1f, capacity %.1f: %+v", name, seed, a.Highest, s.capacity(), a)
			}
		}
	}
}

// stalledClient are the samples of a client that stood still in one second of a run.
func stalledClient(length time.Duration, at time.Duration, stall time.Duration) (out []metrics.ClientSecond) {
	for end := time.Second; end <= length; end += time.Second {
		s := metrics.ClientSecond{At: end, Took: time.Second, Cores: 2, DelayP50: metrics.Never, DelayP99: metrics.Never, DelayMax: metrics.Never}
		if end-time.Second <= at && at < end {
			s.Stall = stall
		}
		out = append(out, s)
	}
	return out
}

// A level with a limited client is no evidence, and the answer gives that as its reason where no other level is left.
func TestStrainedClientIsNoEvidence(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	plan, arrivals := stagesOf(10*time.Second, r, 8, 16, 20, 24)
	all := many.serve(arrivals, r)
	for i := range all { // what the third stage sent was late by this client's fault
		if q := &all[i]; q.Scheduled >= 20*time.Second && q.Scheduled < 30*time.Second {
			late := 900 * time.Millisecond
			q.Due, q.Admitted, q.Sent, q.FirstChunk, q.LastChunk, q.Done = q.Due+late, q.Admitted+late, q.Sent+late, q.FirstChunk+late, q.LastChunk+late, q.Done+late
			q.Chunks[0].At, q.Chunks[1].At = q.FirstChunk, q.LastChunk
		}
	}
	plan.Requests = len(all)
	summary, err := report.Summarize(eventtest.Each(all), metrics.Run{Plan: plan, End: metrics.End{Ended: eventtest.LastDone(all)}, Client: stalledClient(40*time.Second, 34*time.Second, 195*time.Millisecond)})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []metrics.Standing{metrics.LevelWithin, metrics.LevelWithin, metrics.LevelLimited, metrics.LevelLimited} {
		if l := summary.Levels[i]; l.Standing != want || (len(l.Limited) > 0) != (want == metrics.LevelLimited) {
			t.Errorf("level %d: %q, %v, want %q", i, l.Standing, l.Limited, want)
		}
	}
	if a := summary.Answer; a.Saturates || a.Why != "no saturation up to 16 req/s" || a.Highest != 16 {
		t.Errorf("%+v", a)
	}
	summary, err = report.Summarize(eventtest.Each(all), metrics.Run{Plan: plan, End: metrics.End{Ended: eventtest.LastDone(all)}, Client: []metrics.ClientSecond{{At: 50 * time.Second, Took: 50 * time.Second, Stall: 10 * time.Second}}})
	if a := summary.Answer; err != nil || a.Within || a.Saturates || a.Why != "client overloaded in 4 of 4 levels" {
		t.Errorf("%v, %+v", err, a)
	}
}

// One bad level between good ones is noise until there is a second one.
func TestOneBadLevelIsNoise(t *testing.T) {
	loads := []float64{6, 9, 12, 15, 18}
	stalls := func(at ...time.Duration) float64 {
		r := rand.New(rand.NewPCG(1, 7))
		plan, arrivals := stagesOf(5*time.Second, r, loads...)
		all := many.serve(arrivals, r)
		for i := range all {
			q := &all[i]
			for _, from := range at {
				if q.Scheduled >= from && q.Scheduled < from+time.Second { // a stall of the server's
					late := from + time.Second - q.Scheduled
					q.FirstChunk, q.LastChunk, q.Done = q.FirstChunk+late, q.LastChunk+late, q.Done+late
					q.Chunks[0].At, q.Chunks[1].At = q.FirstChunk, q.LastChunk
				}
			}
		}
		a := answerTo(t, plan, all).Answer
		if !a.Within {
			return 0
		}
		return loads[a.HighestLevel]
	}
	for _, c := range []struct {
		want float64
		at   []time.Duration
	}{
		{18, nil},
		{18, []time.Duration{6 * time.Second}},
		{12, []time.Duration{6 * time.Second, 16 * time.Second}}, // the second says so
		{6, []time.Duration{6 * time.Second, 11 * time.Second}},  // two in a row
		{15, []time.Duration{21 * time.Second}},                  // nothing good above
		{0, []time.Duration{0}},                                  // nothing good below
	} {
		if got := stalls(c.at...); got != c.want {
			t.Errorf("stalls at %v: within the objectives up to %v, want %v", c.at, got, c.want)
		}
	}
}

// During a run one level does not confirm saturation, two levels do.
func TestSaturationIsConfirmedByASecondLevel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	plan, arrivals := stagesOf(10*time.Second, r, 8, 16, 48, 56)
	all := many.serve(arrivals, r)
	rec := live.NewView(time.Now(), &plan)
	eventtest.Again(rec, all, time.Hour)
	for _, c := range []struct {
		at                   time.Duration
		saturates, confirmed bool
	}{{19 * time.Second, false, false}, {29 * time.Second, true, false}, {45 * time.Second, true, true}} {
		rec := live.NewView(time.Now(), &plan)
		eventtest.Again(rec, all, c.at)
		rec.JudgeAt(c.at)
		if a := rec.SnapshotAt(c.at).Answer; a.Saturates != c.saturates || a.Confirmed != c.confirmed {
			t.Errorf("at %s: %+v", c.at, a)
		}
	}
	if a := answerTo(t, plan, all).Answer; !a.Confirmed {
		t.Errorf("the report: %+v", a)
	}
}

// The queue of one level counts for another level of the same load: a second, shorter one may miss it, even if a search took it for held.
func TestEachLookAtALoadPastSaturation(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	plan := metrics.Plan{Rate: 16, Burstiness: 1, Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 60_000}}, Find: &metrics.Find{From: 16, Most: 99}}
	events := []metrics.LogEntry{
		setTo(0, metrics.LoadSetting{Rate: 16, By: metrics.BySearch}), setTo(15, metrics.LoadSetting{Rate: 40, By: metrics.BySearch}),
		setTo(35, metrics.LoadSetting{Paused: true, By: metrics.BySearch}), setTo(60, metrics.LoadSetting{Rate: 40, By: metrics.BySearch}),
	}
	all := wide.serve(steered(events, 62500*time.Millisecond, r), r)
	summary := summarizeSteered(t, plan, all, append(events, metrics.LogEntry{At: 63 * time.Second, Mark: metrics.FoundMark}))
	if a := summary.Answer; !a.Saturates || a.Highest > wide.capacity() {
		t.Errorf("capacity %.0f: %+v\n%+v", wide.capacity(), a, summary.Levels)
	}
}

// Without evidence of the lowest load there is no baseline.
func TestLimitedLowestLevel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	plan, arrivals := stagesOf(10*time.Second, r, 8, 16, 20)
	all := many.serve(arrivals, r)
	plan.Requests = len(all)
	summary, err := report.Summarize(eventtest.Each(all), metrics.Run{Plan: plan, End: metrics.End{Ended: eventtest.LastDone(all)}, Client: stalledClient(30*time.Second, 4*time.Second, time.Second)})
	if a := summary.Answer; err != nil || a.Saturates || a.Why != "client overloaded in 1 of 3 levels" || a.Highest != 20 {
		t.Errorf("%v: %+v", err, a)
	}
}
