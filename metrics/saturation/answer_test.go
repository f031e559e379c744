package saturation_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/race"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/report"
)

// server is a made-up server with slots that a request takes for its service time. Requests without a slot wait in order. Its capacity is
// slots / service.
type server struct {
	slots   int
	service time.Duration // in its place
	first   time.Duration // until the first chunk, of service
	jitter  float64       // share by which service varies, both ways
	room    int           // requests that may wait; one more is refused. 0: any number
	stallAt time.Duration // for stallFor nothing begins
	stall   time.Duration
}

func (s server) capacity() float64 { return float64(s.slots) / s.service.Seconds() }

// serve answers requests that come at these moments.
func (s server) serve(arrivals []time.Duration, r *rand.Rand) []metrics.Request {
	free := make([]time.Duration, s.slots)
	var starts []time.Duration // of those that waited or wait
	var all []metrics.Request
	for i, at := range arrivals {
		q := metrics.NewRequest(i)
		q.Scheduled, q.Due, q.Admitted, q.Sent = at, at, at, at
		waiting := 0
		for k := len(starts) - 1; k >= 0 && starts[k] > at; k-- {
			waiting++
		}
		if s.room > 0 && waiting >= s.room {
			q.Failure, q.Status, q.Error, q.Done = metrics.FailedStatus, 503, "busy", at+time.Millisecond
			all = append(all, q)
			continue
		}
		k := 0
		for j := range free {
			if free[j] < free[k] {
				k = j
			}
		}
		start := max(at, free[k])
		if s.stall > 0 && start >= s.stallAt && start < s.stallAt+s.stall {
			start = s.stallAt + s.stall
		}
		starts = append(starts, start)
		service := time.Duration(float64(s.service) * (1 + s.jitter*(2*r.Float64()-1)))
		free[k] = start + service
		for _, at := range []time.Duration{start + s.first, start + service} {
			q.Add(metrics.Chunk{At: at.Round(time.Microsecond), Tokens: 1})
		}
		q.OutputTokens, q.Done = 2, q.LastChunk
		all = append(all, q)
	}
	return all
}

// poisson draws arrivals at the ramp's rate.
func poisson(ramp metrics.Ramp, r *rand.Rand) []time.Duration {
	most := max(ramp.From, ramp.To)
	var all []time.Duration
	for at := time.Duration(0); ; {
		at += time.Duration(r.ExpFloat64() / most * float64(time.Second))
		if at >= ramp.Over {
			return all
		}
		if r.Float64()*most < ramp.RateAt(at) {
			all = append(all, at.Round(time.Microsecond))
		}
	}
}

// middle of the two levels that saturation lies between.
func middle(a *metrics.Answer) float64 { return (a.From + a.To) / 2 }

func answerTo(t *testing.T, plan metrics.Plan, all []metrics.Request) metrics.Report {
	t.Helper()
	var last time.Duration
	for i := range all {
		last = max(last, all[i].Done)
	}
	plan.Requests = len(all)
	r, err := report.Summarize(eventtest.Each(all), metrics.Run{Plan: plan, End: metrics.End{Ended: last}})
	if err != nil {
		t.Fatal(err)
	}
	r.Answer.Bottleneck, r.Answer.PeakOutput = metrics.Bottleneck{}, 0 // not of the levels
	return r
}

func rampPlan(ramp metrics.Ramp) metrics.Plan {
	return metrics.Plan{Ramp: &ramp, Rate: metrics.Rate(math.Inf(1)), Burstiness: 1}
}

func linear(from, to float64, over time.Duration) metrics.Ramp {
	return metrics.Ramp{Strategy: "linear", From: from, To: to, Over: over}
}

// one serves a request at a time, many thirty-two of them, wide two hundred for six seconds each.
var (
	one  = server{slots: 1, service: 32 * time.Millisecond, first: 32 * time.Millisecond}
	many = server{slots: 32, service: time.Second, first: 60 * time.Millisecond, jitter: 0.8}
	wide = server{slots: 200, service: 6400 * time.Millisecond, first: 100 * time.Millisecond, jitter: 0.8}
)

func (s server) with(change func(*server)) server {
	change(&s)
	return s
}

// Saturation that is found is the capacity of the server, whatever its waits look like, to a tenth: that is one level.
func TestSaturationIsTheCapacity(t *testing.T) {
	servers := map[string]server{
		"one": one, "many": many, "wide": wide,
		"refusing": many.with(func(s *server) { s.room = 10 }),
		"stalling": many.with(func(s *server) { s.stallAt, s.stall = 12*time.Second, time.Second }),
		"slow to begin": many.with(func(s *server) {
			s.first = 300 * time.Millisecond
		}),
	}
	seeds := uint64(3)
	if race.Enabled {
		seeds = 1
	}
	for name, s := range servers {
		off := 0
		for _, ramp := range []metrics.Ramp{
			linear(4, 44, time.Minute), linear(10, 60, 90*time.Second), linear(44, 4, 2*time.Minute),
			{Strategy: "exponential", From: 4, To: 60, Over: 90 * time.Second},
		} {
			for seed := range seeds {
				r := rand.New(rand.NewPCG(seed, 7))
				summary := answerTo(t, rampPlan(ramp), s.serve(poisson(ramp, r), r))
				a, levels := summary.Answer, summary.Levels
				if !a.Saturates {
					t.Errorf("%s, %v, seed %d: %q, want saturation at %.1f", name, ramp, seed, a.Why, s.capacity())
					continue
				}
				if a.From != levels[a.Before].Offered || a.To != levels[a.After].Offered {
					t.Errorf("%s, %v: saturation between %.1f and %.1f is not that of its levels", name, ramp, a.From, a.To)
				}
				// The level shown for saturation is worse than the one before.
				if before, shown := levels[a.Before], levels[a.Shown]; shown.Done > 0 && shown.TTFTp99 <= before.TTFTp99 && ramp.From < ramp.To {
					t.Errorf("%s, %v, seed %d: saturation at %.1f is shown by p99 TTFT %.0f -> %.0f ms", name, ramp, seed, middle(&a), before.TTFTp99, shown.TTFTp99)
				}
				if math.Abs(middle(&a)/s.capacity()-1) > 0.1 {
					off++
					t.Logf("%s, %v, seed %d: saturation at %.1f, capacity %.1f", name, ramp, seed, middle(&a), s.capacity())
				}
				if math.Abs(middle(&a)/s.capacity()-1) > 0.2 {
					t.Errorf("%s, %v, seed %d: saturation at %.1f, capacity %.1f", name, ramp, seed, middle(&a), s.capacity())
				}
			}
		}
		if off > 1 {
			t.Errorf("%s: %d of %d are off by more than a tenth", name, off, 4*seeds)
		}
	}
}

// A ramp over the requests saturates at the same load, and its levels have the planned rates.
func TestSaturationOfARampOverRequests(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 7))
		plan := metrics.Plan{Ramp: &metrics.Ramp{Strategy: "linear", From: 4, To: 60}, Rate: metrics.Rate(math.Inf(1)), Burstiness: 1}
		const n = 1500
		var at time.Duration
		var arrivals []time.Duration
		for i := range n {
			at += time.Duration(r.ExpFloat64() / plan.Ramp.RateOf(i, n) * float64(time.Second)).Round(time.Microsecond)
			arrivals = append(arrivals, at)
		}
		summary := answerTo(t, plan, many.serve(arrivals, r))
		if a := summary.Answer; !a.Saturates || math.Abs(middle(&a)/many.capacity()-1) > 0.1 {
			t.Errorf("seed %d: %+v, capacity %.1f", seed, a, many.capacity())
		}
		for i := 1; i < len(summary.Levels); i++ {
			if summary.Levels[i].Offered <= summary.Levels[i-1].Offered {
				t.Errorf("seed %d: level %d offers %v after %v", seed, i, summary.Levels[i].Offered, summary.Levels[i-1].Offered)
			}
		}
	}
}

// A server that shares its strength among all requests makes no request wait, but beyond its capacity takes longer and longer.
func TestSaturationWithoutWaiting(t *testing.T) {
	ramp := linear(4, 60, time.Minute)
	r := rand.New(rand.NewPCG(1, 7))
	arrivals := poisson(ramp, r)
	left := make([]float64, len(arrivals)) // work
	ends := make([]time.Duration, len(arrivals))
	const step = time.Millisecond
	next, active := 0, []int{}
	for at := time.Duration(0); next < len(arrivals) || len(active) > 0; at += step {
		for next < len(arrivals) && arrivals[next] <= at {
			left[next] = 0.5 // seconds alone, with others at most 30 a second
			active = append(active, next)
			next++
		}
		speed := min(1, 15/float64(max(1, len(active)))) * step.Seconds()
		for k := len(active) - 1; k >= 0; k-- {
			i := active[k]
			if left[i] -= speed; left[i] <= 0 {
				ends[i] = at + step
				active = append(active[:k], active[k+1:]...)
			}
		}
	}
	var all []metrics.Request
	for i, at := range arrivals {
		q := metrics.NewRequest(i)
		q.Scheduled, q.Due, q.Admitted, q.Sent = at, at, at, at
		q.Add(metrics.Chunk{At: at + 20*time.Millisecond, Tokens: 1})
		q.Add(metrics.Chunk{At: max(ends[i], q.LastChunk), Tokens: 1})
		q.OutputTokens, q.Done = 2, q.LastChunk
		all = append(all, q)
	}
	plan := rampPlan(ramp)
	plan.Goodput = metrics.SLO{{Metric: metrics.TTFT, LimitMS: 200}} // which they all meet
	if a := answerTo(t, plan, all).Answer; !a.Saturates || middle(&a) < 25 || middle(&a) > 38 || a.Highest < 22 || a.Highest > 38 {
		t.Errorf("%+v, capacity 30", a)
	}
}

// Requests that wait for a slot of the client count as waiting.
func TestSaturationOfALimitedClient(t *testing.T) {
	ramp := linear(4, 44, time.Minute)
	r := rand.New(rand.NewPCG(1, 7))
	all := many.serve(poisson(ramp, r), r)
	for i := range all {
		q := &all[i]
		q.Admitted = q.FirstChunk - many.first // the server has a place for whatever the client lets through
		q.Sent = q.Admitted
	}
	summary := answerTo(t, rampPlan(ramp), all)
	if a := summary.Answer; !a.Saturates || math.Abs(middle(&a)/many.capacity()-1) > 0.1 {
		t.Errorf("%+v, capacity %.1f", a, many.capacity())
	}
	if last := summary.Levels[len(summary.Levels)-1]; math.Abs(last.TTFTp99-60) > 0.1 {
		t.Errorf("TTFT p99 of the last level is %v ms, want 60", last.TTFTp99)
	}
}

func TestNoSaturation(t *testing.T) {
	seeds := uint64(5)
	if race.Enabled {
		seeds = 1
	}
	for _, c := range []struct {
		name string
		s    server
		ramp metrics.Ramp
		why  string
	}{
		{"below capacity", many, linear(4, 24, time.Minute), "no saturation up to 23.5 req/s"},
		{"one at a time, below capacity", one, linear(4, 20, time.Minute), "no saturation up to 19.6 req/s"},
		{"long requests, below capacity", wide, linear(4, 24, time.Minute), "no saturation up to 23.5 req/s"},
		{"falling, below capacity", many, linear(24, 4, time.Minute), "no saturation up to 23.5 req/s"},
		{"above capacity", many, linear(40, 60, time.Minute), "saturated from 40.5 req/s on"},
		{"one at a time, above capacity", one, linear(40, 60, time.Minute), "saturated from 40.5 req/s on"},
		{"long requests, above capacity", wide, linear(40, 60, time.Minute), "saturated from 40.5 req/s on"},
		{"a bad second in the middle", many.with(func(s *server) { s.stallAt, s.stall = 30*time.Second, 1500*time.Millisecond }),
			linear(4, 24, time.Minute), "no saturation up to 23.5 req/s"},
		{"a bad second at the end", many.with(func(s *server) { s.stallAt, s.stall = 58*time.Second, 150*time.Millisecond }),
			linear(4, 24, time.Minute), "no saturation up to 23.5 req/s"},
		{"too few requests", many, linear(1, 2, 10*time.Second), "too few requests"},
	} {
		for seed := range seeds {
			r := rand.New(rand.NewPCG(seed, 7))
			summary := answerTo(t, rampPlan(c.ramp), c.s.serve(poisson(c.ramp, r), r))
			if a := summary.Answer; a.Saturates || a.Why != c.why {
				t.Errorf("%s, seed %d: %+v, want %q", c.name, seed, a, c.why)
			}
		}
	}
}

func TestSaturationOfStages(t *testing.T) {
	const length = 20 * time.Second
	plan := metrics.Plan{Rate: metrics.Rate(math.Inf(1)), Burstiness: 1, Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 200}}}
	var arrivals []time.Duration
	r := rand.New(rand.NewPCG(1, 7))
	for i, rate := range []float64{8, 16, 24, 40, 16} {
		plan.Stages = append(plan.Stages, metrics.Stage{Start: length * time.Duration(i), Length: length, Rate: rate})
		for _, at := range poisson(linear(rate, rate, length), r) {
			arrivals = append(arrivals, at+length*time.Duration(i))
		}
	}
	summary := answerTo(t, plan, many.serve(arrivals, r))
	want := metrics.Answer{Saturates: true, From: 24, To: 40, Confirmed: true, Before: 2, After: 3, Shown: 3, SaturatedAt: time.Minute, Within: true, Highest: 24, HighestLevel: 2, Confidence: summary.Answer.Confidence}
	if want.Confidence < 0.999 || want.Confidence > 1 {
		t.Errorf("all of 300 requests were good, but that is only %v sure", want.Confidence)
	}
	if !cmp.Equal(summary.Answer, want) {
		t.Errorf("%+v, want %+v", summary.Answer, want)
	}
	for i, l := range summary.Levels {
		if l.From != length*time.Duration(i) || l.Offered != plan.Stages[i].Rate || l.Users {
			t.Errorf("level %d: %+v", i, l)
		}
	}
	// The last stage inherits a queue: it is not within the objectives, but the higher loads below saturation were, and it is not past it.
	if l := summary.Levels[4]; l.Good >= l.Requests*95/100 || l.TTFTp99 < 1000 {
		t.Errorf("the last stage knows nothing of the queue it found: %+v", l)
	}
}

// closedLoop plays users without pause against a server that gets slower beyond so many.
func closedLoop(stages []metrics.Stage, service time.Duration, full int) []metrics.Request {
	var all []metrics.Request
	for _, s := range stages {
		took := service * time.Duration(max(s.Users, full)) / time.Duration(full)
		for user := range s.Users {
			for at := s.Start + time.Duration(user)*time.Millisecond; at < s.End(); at += took {
				q := metrics.NewRequest(len(all))
				q.Scheduled, q.Due, q.Admitted, q.Sent = at, at, at, at
				q.Add(metrics.Chunk{At: at + took/2, Tokens: 1})
				q.Add(metrics.Chunk{At: at + took, Tokens: 1})
				q.OutputTokens, q.Done = 2, q.LastChunk
				all = append(all, q)
			}
		}
	}
	return all
}

func userStages(users ...int) []metrics.Stage {
	var out []metrics.Stage
	for i, n := range users {
		out = append(out, metrics.Stage{Start: time.Duration(i) * 10 * time.Second, Length: 10 * time.Second, Users: n})
	}
	return out
}

func TestKnee(t *testing.T) {
	for _, c := range []struct {
		users []int
		want  metrics.Answer
	}{
		{[]int{1, 8, 16, 64, 128}, metrics.Answer{Saturates: true, From: 16, To: 64, Confirmed: true, Before: 2, After: 3, Shown: 3, Users: true}},
		{[]int{128, 16, 64, 8, 1}, metrics.Answer{Saturates: true, From: 16, To: 64, Confirmed: true, Before: 1, After: 2, Shown: 2, Users: true}},
		{[]int{1, 2, 4, 8}, metrics.Answer{Users: true, Why: "no saturation up to 8 users"}},
		{[]int{32, 64}, metrics.Answer{Saturates: true, From: 32, To: 64, Confirmed: true, Before: 0, After: 1, Shown: 1, Users: true}},
		{[]int{8}, metrics.Answer{Users: true, Why: "too few requests"}},
	} {
		plan := metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 1, Stages: userStages(c.users...)}
		summary := answerTo(t, plan, closedLoop(plan.Stages, 500*time.Millisecond, 16))
		if len(c.users) == 1 {
			c.want.Why = "steady load"
		}
		c.want.SaturatedAt = metrics.Never
		if c.want.Saturates {
			c.want.SaturatedAt = plan.Stages[c.want.After].Start
		}
		if !cmp.Equal(summary.Answer, c.want) {
			t.Errorf("%v users: %+v, want %+v\n%+v", c.users, summary.Answer, c.want, summary.Levels)
		}
		for i, l := range summary.Levels {
			if l.Offered != float64(c.users[i]) || !l.Users {
				t.Errorf("%v users: level %d offers %v, users %v", c.users, i, l.Offered, l.Users)
			}
		}
	}
}

func TestSteadyLoad(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	arrivals := poisson(linear(10, 10, 20*time.Second), r)
	summary := answerTo(t, metrics.Plan{Rate: 10, Burstiness: 1}, many.serve(arrivals, r))
	if a := summary.Answer; !cmp.Equal(a, metrics.Answer{Why: "steady load", SaturatedAt: metrics.Never}) {
		t.Errorf("%+v", a)
	}
	if len(summary.Levels) != 1 {
		t.Fatalf("%d levels", len(summary.Levels))
	}
	l := summary.Levels[0]
	if l.Offered != 10 || l.Requests != len(arrivals) {
		t.Errorf("offered %v, %d requests; want 10, as planned, and %d", l.Offered, l.Requests, len(arrivals))
	}

	summary = answerTo(t, metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 4}, closedLoop(userStages(4), 500*time.Millisecond, 4))
	if len(summary.Levels) != 1 || !summary.Answer.Users || summary.Answer.Why != "steady load" {
		t.Fatalf("closed loop: %+v, %+v", summary.Answer, summary.Levels)
	}
	if l := summary.Levels[0]; l.Offered != 4 || l.Requests != 80 || math.Abs(l.Done-8) > 0.3 || math.Abs(l.TTFTp50-250) > 1e-6 {
		t.Errorf("closed loop: %+v", l)
	}

	if summary := answerTo(t, metrics.Plan{Rate: 10}, nil); len(summary.Levels) != 0 || summary.Answer.Why != "too few requests" {
		t.Errorf("no requests: %+v, %+v", summary.Answer, summary.Levels)
	}
	mixed := metrics.Plan{Rate: 10, Stages: userStages(4, 4)}
	mixed.Stages[1].Users, mixed.Stages[1].Rate = 0, 4
	summary = answerTo(t, mixed, closedLoop(userStages(4, 4), 500*time.Millisecond, 4))
	if summary.Answer.Why != "rate stages and user stages mixed" {
		t.Errorf("mixed stages: %+v", summary.Answer)
	}
}

// All loads below the highest one within the objectives are within, too. A gate on goodput sets the share.
func TestHighestLoadWithin(t *testing.T) {
	ramp := linear(4, 44, time.Minute)
	r := rand.New(rand.NewPCG(1, 7))
	all := many.serve(poisson(ramp, r), r)
	plan := rampPlan(ramp)
	plan.Goodput = metrics.SLO{{Metric: metrics.TTFT, LimitMS: 200}}
	summary := answerTo(t, plan, all)
	plain := summary.Answer.Highest
	if !summary.Answer.Within || plain < 24 || plain > 36 {
		t.Errorf("%+v", summary.Answer)
	}
	for _, l := range summary.Levels {
		if good := metrics.Share(l.Good, l.Requests) >= 0.95; l.Offered <= plain && !good {
			t.Errorf("%v is within %v but has %d good of %d", l.Offered, plain, l.Good, l.Requests)
		}
	}
	plan.Gates = []metrics.Gate{{Metric: "goodput", Op: "<", Limit: 0.01, Percent: true}, {Metric: "goodput", Op: ">", Limit: 0.5}}
	if a := answerTo(t, plan, all).Answer; a.Highest <= plain {
		t.Errorf("with a gate of 1%%: %v, without %v", a.Highest, plain)
	}
	plan.Goodput = metrics.SLO{{Metric: metrics.TTFT, LimitMS: 1}}
	if a := answerTo(t, plan, all).Answer; a.Within || a.Highest != 0 {
		t.Errorf("with an impossible objective: %+v", a)
	}
	plan.Goodput = nil
	if a := answerTo(t, plan, all).Answer; a.Within {
		t.Errorf("without objectives: %+v", a)
	}
}

// Levels of a steered run have the counted loads rather than the planned ones.
func TestLevelsOfASteeredRamp(t *testing.T) {
	ramp := linear(4, 24, time.Minute)
	r := rand.New(rand.NewPCG(1, 7))
	arrivals := poisson(ramp, r)
	for i := range arrivals {
		arrivals[i] /= 2
	}
	summary := answerTo(t, rampPlan(ramp), many.serve(arrivals, r))
	for _, l := range summary.Levels {
		if want := ramp.RateAt(l.From+l.To) * 2; math.Abs(l.Offered-want) > 5*math.Sqrt(want/2) {
			t.Errorf("%s to %s: %v req/s, want about %v", l.From, l.To, l.Offered, want)
		}
	}
}

func TestLevelsCount(t *testing.T) {
	for _, c := range []struct {
		ramp   metrics.Ramp
		warmup time.Duration
		levels int
	}{
		{linear(20, 40, 10*time.Minute), 0, 20}, {linear(20, 40, 20*time.Second), 0, 9}, {linear(1, 3, time.Minute), 0, 5},
		{linear(20, 40, time.Minute), 30 * time.Second, 14}, {linear(1, 1, 5*time.Second), 0, 1},
	} {
		r := rand.New(rand.NewPCG(1, 7))
		plan := rampPlan(c.ramp)
		plan.Warmup = c.warmup
		summary := answerTo(t, plan, many.serve(poisson(c.ramp, r), r))
		n := 0
		for i, l := range summary.Levels {
			n += l.Requests
			if i > 0 && l.From != summary.Levels[i-1].To {
				t.Errorf("%v: level %d begins at %s, the one before ends at %s", c.ramp, i, l.From, summary.Levels[i-1].To)
			}
		}
		off := len(summary.Levels) - c.levels
		if off < -1 || off > 1 || summary.Levels[0].From != c.warmup || n != summary.Completed {
			t.Errorf("%v: %d levels from %s with %d of %d requests; want %d levels",
				c.ramp, len(summary.Levels), summary.Levels[0].From, n, summary.Completed, c.levels)
		}
	}
}

// No damaged or made-up journal breaks the report.
func TestSummarizeOfNonsense(t *testing.T) {
	times := []time.Duration{
		metrics.Never, 0, 1, time.Second, 3 * time.Second, time.Minute, 1000 * time.Hour, math.MaxInt64 / 2, math.MaxInt64, math.MinInt64,
	}
	rates := []float64{0, -1, 0.001, 1, 100, 1e300, math.Inf(1), math.NaN()}
	r := rand.New(rand.NewPCG(3, 3))
	anyTime := func() time.Duration { return times[r.IntN(len(times))] }
	nearTime := func() time.Duration { return times[r.IntN(6)] } // a timeline of weeks takes its time
	rate := func() float64 { return rates[r.IntN(len(rates))] }
	for range 300 {
		plan := metrics.Plan{
			Rate: metrics.Rate(rate()), Burstiness: rate(), MaxConcurrency: r.IntN(3) - 1, Warmup: anyTime(), Requests: r.IntN(100) - 10,
			Percentiles: []float64{50}, Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: rate()}, {Metric: metrics.NumLatencies, LimitMS: rate()}},
			Gates:       []metrics.Gate{{Metric: "p50_ttft_ms", Op: "?", Limit: rate(), Percent: true}},
			SteadyState: metrics.SteadyStateRule{Threshold: rate(), MinWindow: anyTime()},
		}
		if r.IntN(2) == 0 {
			plan.Ramp = &metrics.Ramp{Strategy: []string{"linear", "exponential", "?"}[r.IntN(3)], From: rate(), To: rate(), Over: anyTime()}
		}
		for range r.IntN(3) {
			plan.Stages = append(plan.Stages, metrics.Stage{Start: anyTime(), Length: anyTime(), Rate: rate(), Users: r.IntN(3) - 1})
		}
		var all []metrics.Request
		for range 80 {
			q := metrics.NewRequest(r.IntN(100) - 5)
			q.Scheduled, q.Admitted, q.Due, q.Sent, q.Done = anyTime(), anyTime(), nearTime(), nearTime(), nearTime()
			if r.IntN(4) > 0 { // most make sense
				q = eventtest.Simple(q.Index, time.Duration(r.IntN(60_000))*time.Millisecond, 10*time.Millisecond, time.Millisecond, r.IntN(4))
			}
			if r.IntN(4) == 0 {
				q.Chunks = append(q.Chunks, metrics.Chunk{At: nearTime(), Tokens: int32(r.Uint32())})
				q.OutputTokens = int(r.Int64())
			}
			if r.IntN(6) == 0 {
				q.Failure, q.Status = []metrics.Failure{metrics.Cancelled, metrics.FailedStatus, "?"}[r.IntN(3)], r.IntN(5)
			}
			all = append(all, q)
		}
		summary, err := report.Summarize(eventtest.Each(all), metrics.Run{Plan: plan, End: metrics.End{Ended: nearTime()}})
		if err != nil || len(summary.Gates) != 1 {
			t.Errorf("%v, gates %v", err, summary.Gates)
		}
	}
}
