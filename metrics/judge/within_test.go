package judge_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/judge"
)

// steady are requests at even distances, each with its first chunk after a time by index and its last one a little
// later.
func steady(from, to, every time.Duration, first func(i int) time.Duration) []metrics.Request {
	var all []metrics.Request
	for at := from; at < to; at += every {
		i := len(all)
		all = append(all, eventtest.Simple(i, at, first(i), 10*ms, 3))
	}
	return all
}

// joined numbers the requests of several.
func joined(parts ...[]metrics.Request) (all []metrics.Request) {
	for _, part := range parts {
		for _, q := range part {
			q.Index = len(all)
			all = append(all, q)
		}
	}
	return all
}

func always(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

// noisy is well within 500 ms, and for each slow one in a hundred beyond it.
func noisy(slow int, seed uint64) func(int) time.Duration {
	r := rand.New(rand.NewPCG(seed, 3))
	return func(int) time.Duration {
		if r.IntN(100) < slow {
			return 800 * ms
		}
		return time.Duration(50+r.IntN(100)) * ms
	}
}

// What a single load can say by its length and its requests.
func TestOneLoad(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		every    time.Duration
		length   time.Duration
		first    func(int) time.Duration
		standing metrics.Standing
		proven   bool
		why      string // of the level
	}{
		{"4 req/s for two minutes", 250 * ms, 120 * second, noisy(0, 1), metrics.LevelWithin, true, ""},
		{"a minute at 20 req/s", 50 * ms, 60 * second, noisy(1, 1), metrics.LevelWithin, true, ""},
		{"50 s at 20 req/s", 50 * ms, 50 * second, noisy(0, 1), metrics.LevelWithin, false, ""},
		{"as many are good as have to be", 50 * ms, 50 * second, func(i int) time.Duration {
			return []time.Duration{60 * ms, 800 * ms}[(i%20)/19]
		}, metrics.LevelWithin, false, ""},
		{"a tenth is slow", 50 * ms, 60 * second, noisy(10, 1), metrics.LevelMissed, false, ""},
		{"a slow start", 50 * ms, 60 * second, func(i int) time.Duration {
			if i < 200 {
				return 2000*ms - time.Duration(i)*9*ms
			}
			return 60*ms + time.Duration(i*7919%50)*ms
		}, metrics.LevelWithin, true, ""},
		{"waits that drift all the time", 50 * ms, 60 * second,
			func(i int) time.Duration { return 50*ms + time.Duration(i)*ms/4 }, metrics.LevelUnknown, false,
			"too short: the load must be held for at least "},
	} {
		all := steady(0, c.length, c.every, c.first)
		plan := metrics.Plan{Rate: metrics.Rate(second.Seconds() / c.every.Seconds()), Burstiness: 1,
			Goodput: ttft(500)}
		s := reported(t, plan, all)
		l, a := s.Levels[0], s.Answer
		if l.Standing != c.standing || !strings.HasPrefix(l.Why, c.why) || (l.Why == "") != (c.why == "") {
			t.Errorf("%s: %q, %q; want %q, %q: %+v", c.name, l.Standing, l.Why, c.standing, c.why, l)
		}
		if (a.Proven > 0) != c.proven || c.proven && (!a.Untested || a.Proven != l.Offered || a.Saturates ||
			a.Estimate.Known()) || a.None != (c.standing == metrics.LevelMissed) {
			t.Errorf("%s: %+v", c.name, a)
		}
		if c.standing == metrics.LevelWithin && !c.proven && (l.Missing > 0) == (l.Good*20 == l.Requests*19) {
			t.Errorf("%s: nothing is missing for a proof: %+v", c.name, l)
		}
	}
}

// A load that was set is judged at fixed looks, while the run is on and in the report.
func TestLooks(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	all := steady(0, 150*second, 50*ms, noisy(2, 1))
	plan := metrics.Plan{Rate: 5, Burstiness: 1, Goodput: ttft(500)}
	set := setTo(0, metrics.LoadSetting{Load: perSecond(20), By: metrics.ByUser})
	before := ""
	for at := 16 * second; at <= 150*second; at += 3 * second {
		s := liveAt(plan, all, at, set)
		v := s.Levels[0].LevelVerdict
		got := fmt.Sprint(v.Standing, v.Effective, v.Confidence)
		isLook := false
		for _, look := range []time.Duration{16, 30, 60, 120} {
			isLook = isLook || at >= look*second && at <= (look+1)*second
		}
		if got != before && !isLook {
			t.Errorf("at %s the verdict changes from %s to %s, between two looks", at, before, got)
		}
		if v.Confidence > 0.97 || at < 59*second && v.Confidence >= metrics.EnoughConfidence {
			t.Errorf("at %s it is %v sure", at, v.Confidence)
		}
		before = got
	}
	v := reported(t, plan, all, set).Levels[0].LevelVerdict
	if got := fmt.Sprint(v.Standing, v.Effective, v.Confidence); got != before || v.Standing != metrics.LevelWithin {
		t.Errorf("the report says %s, the last look %s", got, before)
	}
}

// Too few requests give a bound instead of a verdict.
func TestBound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n        int
		slow     int
		standing metrics.Standing
		want     string
	}{
		{5, -1, metrics.LevelUnknown, "5 of 5 good: at least 61 % at 95 % confidence"},
		{9, -1, metrics.LevelUnknown, "8 of 8 good: at least 72 % at 95 % confidence"}, // without the first
		{9, 4, metrics.LevelUnknown, "8 of 9 good: at least 61 % at 95 % confidence"},
		{42, 21, metrics.LevelWithin, ""},
	} {
		all := steady(0, time.Duration(c.n)*12*second, 12*second, func(i int) time.Duration {
			if i == c.slow {
				return 900 * ms
			}
			return 100*ms + time.Duration(i*7919%50)*ms
		})
		s := reported(t, metrics.Plan{Rate: 1. / 12, Burstiness: 1, Goodput: ttft(500)}, all)
		if l := s.Levels[0]; l.Standing != c.standing || l.Why != c.want || s.Answer.Proven > 0 {
			t.Errorf("%q, %q; want %q, %q: %+v", l.Standing, l.Why, c.standing, c.want, l)
		}
	}
}

// A slow start is no verdict on the lowest load, neither for the objectives nor for saturation.
func TestSlowStart(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	for _, ramped := range []bool{false, true} {
		for seed := range uint64(5) {
			r := rand.New(rand.NewPCG(seed, 7))
			plan, arrivals := stagesOf(40*second, r, 8, 11, 14)
			if ramped {
				ramp := linear(4, 24, 2*minute)
				plan, arrivals = rampPlan(ramp), poisson(ramp, r)
				plan.Goodput = ttft(500)
			}
			a := reported(t, plan, many.with(func(s *server) { s.stall = 10 * second }).serve(arrivals, r)).Answer
			if a.None || a.Saturates {
				t.Errorf("ramped %v, seed %d: none within %v, saturates %v between %v and %v", ramped, seed, a.None,
					a.Saturates, a.From, a.To)
			}
		}
	}
}

// A lower level blocks a higher one that is proven only if its own evidence is no weaker.
func TestLowerLevelThatFailed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		slow   int
		length time.Duration
		want   float64
	}{{"weak", 15, 8 * second, 20}, {"strong", 40, 120 * second, 0}} {
		all := joined(steady(0, c.length, 100*ms, noisy(c.slow, 2)),
			steady(c.length, c.length+120*second, 50*ms, noisy(1, 3)))
		plan := metrics.Plan{Rate: metrics.Rate(20), Burstiness: 1, Goodput: ttft(500),
			Stages: []metrics.Stage{{Length: c.length, Load: perSecond(10)},
				{Start: c.length, Length: 120 * second, Load: perSecond(20)}}}
		s := reported(t, plan, all)
		if !s.Levels[0].Standing.Failed() || s.Levels[1].Standing != metrics.LevelWithin || s.Answer.Proven != c.want {
			t.Errorf("%s: %v is proven, want %v\n%+v", c.name, s.Answer.Proven, c.want, s.Levels)
		}
	}
}

// Requests that fail whatever the load say nothing about lower loads; where a lower load is free of failures, the
// border is between the two.
func TestFailuresAtAnyLoad(t *testing.T) {
	t.Parallel()
	refused := func(all []metrics.Request) []metrics.Request {
		for i := range all {
			if q := &all[i]; i%3 > 0 {
				q.Failure, q.Status, q.Error, q.Chunks = metrics.FailedStatus, 503, "busy", nil
				q.FirstChunk, q.FirstToken, q.LastChunk, q.OutputTokens = metrics.Never, metrics.Never, metrics.Never, 0
			}
		}
		return all
	}
	const length = 20 * second
	single := metrics.Plan{Rate: 10, Burstiness: 1, Goodput: ttft(500)}
	s := reported(t, single, refused(steady(0, length, 100*ms, always(60*ms))))
	if a := s.Answer; a.Estimate.Known() || a.Proven > 0 || a.Saturates ||
		a.TierAnswer.Why != "loads below 10 req/s are untested" {
		t.Errorf("one load: %+v", a)
	}
	stages := metrics.Plan{Rate: 30, Burstiness: 1, Goodput: ttft(500), Stages: []metrics.Stage{
		{Length: length, Load: perSecond(10)}, {Start: length, Length: length, Load: perSecond(30)}}}
	s = reported(t, stages, joined(steady(0, length, 100*ms, noisy(0, 2)),
		refused(steady(length, 2*length, 33*ms, always(60*ms)))))
	if e := s.Answer.Estimate; !e.Known() || e.Low < 5 || e.High > 30 {
		t.Errorf("two loads: %+v", s.Answer)
	}
}

// The client's own delays count only where they could change the verdict.
func TestOwnDelays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		ttft     time.Duration // from sent
		late     time.Duration // of the client
		read     time.Duration // p99 of its delay of reading
		standing metrics.Standing
	}{
		{"within although late", 100 * ms, 200 * ms, 0, metrics.LevelWithin},
		{"missed without its lateness", 800 * ms, 200 * ms, 0, metrics.LevelMissed},
		{"missed by its lateness", 400 * ms, 200 * ms, 0, metrics.LevelLimited},
		{"missed by its reading", 510 * ms, 0, 30 * ms, metrics.LevelLimited},
		{"within, read late", 100 * ms, 0, 30 * ms, metrics.LevelWithin},
		{"within by less than its reading", 490 * ms, 0, 30 * ms, metrics.LevelLimited},
	} {
		all := steady(0, 70*second, 50*ms, always(c.ttft))
		for i := range all {
			q := &all[i]
			q.Scheduled, q.Due, q.Admitted = q.Scheduled-c.late, q.Due-c.late, q.Admitted-c.late
			if i == 0 {
				q.Scheduled, q.Due, q.Admitted = 0, 0, 0
			}
		}
		var client []metrics.ClientSecond
		for at := second; at <= 72*second; at += second {
			client = append(client, metrics.ClientSecond{At: at, Took: second, Cores: 2, DelayP50: c.read,
				DelayP99: c.read, DelayMax: c.read})
		}
		plan := metrics.Plan{Rate: 20, Burstiness: 1, Goodput: ttft(500)}
		s := reportOf(t, all, metrics.Run{Plan: plan, Client: client})
		l := s.Levels[0]
		if l.Standing != c.standing || (len(l.Limited) > 0) != (c.standing == metrics.LevelLimited) {
			t.Errorf("%s: %q, %q; want %q", c.name, l.Standing, l.Limited, c.standing)
		}
		if c.standing == metrics.LevelLimited && (s.Answer.Proven > 0 ||
			!strings.Contains(s.Answer.TierAnswer.Why+s.Answer.Why, "client overloaded in 1 of 1 levels")) {
			t.Errorf("%s: %+v", c.name, s.Answer)
		}
	}
}

// Requests without an end are no good ones: that were cut when the run ended, or are in flight.
func TestRequestsWithoutAnEnd(t *testing.T) {
	t.Parallel()
	plan := metrics.Plan{Rate: 20, Burstiness: 1, Goodput: ttft(500)}
	all := steady(0, 70*second, 50*ms, noisy(0, 1))
	for i := range all {
		if q := &all[i]; i%2 == 1 {
			*q = metrics.NewRequest(i)
			at := time.Duration(i) * 50 * ms
			q.Scheduled, q.Due, q.Admitted, q.Sent, q.Failure, q.Done = at, at, at, at, metrics.Cancelled, 71*second
		}
	}
	for name, v := range map[string]metrics.LoadLevel{"cut": reported(t, plan, all).Levels[0],
		"in flight": liveAt(plan, all, 70500*ms).Levels[0]} {
		if v.Standing == metrics.LevelWithin || v.Confidence != 0 && v.Standing != metrics.LevelBehind ||
			v.Good != 700 {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// Users who leave while the answer comes leave no doubt about a load: it is not the server that decides who does.
func TestUsersWhoLeft(t *testing.T) {
	t.Parallel()
	all := steady(0, 120*second, 50*ms, noisy(0, 1))
	for i := range all {
		if q := &all[i]; i%5 == 0 {
			q.Failure, q.Done = metrics.Abandoned, q.FirstChunk
			q.Chunks, q.LastChunk = q.Chunks[:1], q.FirstChunk
		}
	}
	plan := metrics.Plan{Rate: 20, Burstiness: 1, Goodput: ttft(500), Abandon: "20%"}
	for how, l := range map[string]metrics.LoadLevel{
		"report": reported(t, plan, all).Levels[0], "live": liveAt(plan, all, 119*second).Levels[0],
	} {
		if l.Standing != metrics.LevelWithin || l.Why != "" || l.Good != l.Requests ||
			l.Confidence < metrics.EnoughConfidence {
			t.Errorf("%s: %q, %q, %d of %d good", how, l.Standing, l.Why, l.Good, l.Requests)
		}
	}
}

// A load that was proven is no higher than the one at which the server saturates.
func TestProvenBoundsCapacity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		proven                float64
		saturates             bool
		low, load, high, from float64
	}{
		{20, true, 22, 23, 25, 21},
		{22.5, true, 22.5, 23, 25, 22.5},
		{24, true, 24, 24, 25, 24},
		{26, false, 0, 0, 0, 0},
	} {
		a := metrics.Answer{Saturates: true, Capacity: metrics.Range{Load: 23, Low: 22, High: 25}, From: 21}
		judge.Bound(&metrics.TierAnswer{Proven: c.proven, ProvenLevel: 3}, &a)
		if want := (metrics.Range{Load: c.load, Low: c.low, High: c.high}); a.Saturates != c.saturates ||
			a.Capacity != want || a.From != c.from {
			t.Errorf("%v proven: %v, capacity %+v, from %v; want %v, %+v, %v", c.proven, a.Saturates, a.Capacity,
				a.From, c.saturates, want, c.from)
		}
	}
}

// A ramp that has had one load so far, at which most requests missed, says nothing of lower loads.
func TestMostMissedAtTheOnlyLoad(t *testing.T) {
	all := steady(0, 14*second, 800*ms, func(i int) time.Duration { return 600*ms + time.Duration(i%3)*ms })
	plan := metrics.Plan{Rate: metrics.Rate(math.Inf(1)), Burstiness: 1, Goodput: ttft(500),
		Ramp: &metrics.Ramp{Strategy: "linear", From: 1, To: 40, Over: time.Minute}, Duration: time.Minute}
	a := liveAt(plan, all, 15*second).Answer
	if a == nil || a.Estimate.Known() || a.Untested || a.Why == "" {
		t.Errorf("%+v", a)
	}
}
