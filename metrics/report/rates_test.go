package report

import (
	"math"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
)

func TestRates(t *testing.T) {
	var all []metrics.Request
	for i := range 11 { // ten a second are asked for, five are sent, and each takes 1 s
		q := eventtest.Simple(i, time.Duration(i)*200*ms, second, 0, 1)
		q.Scheduled = time.Duration(i) * 100 * ms
		all = append(all, q)
	}
	all = append(all, eventtest.Busy(11, 2200*ms, "busy")) // is asked for and sent, but not done
	for name, c := range map[string]struct {
		plan      metrics.Plan
		scheduled float64
	}{
		"rate": {metrics.Plan{Rate: 10}, 5},
		"ramp": {metrics.Plan{Rate: metrics.Rate(math.Inf(1)), Ramp: &metrics.Ramp{From: 1, To: 2}}, 5},
		"stages": {metrics.Plan{Rate: metrics.Rate(math.Inf(1)),
			Stages: []metrics.Stage{{Load: metrics.Load{Value: 5}}}}, 5},
		"stages of users": {metrics.Plan{Rate: 10, Stages: []metrics.Stage{{Load: metrics.Users.Of(5)}}}, 0},
		"all at once":     {metrics.Plan{Rate: metrics.Rate(math.Inf(1))}, 0},
	} {
		r := summarize(t, all, runOf(c.plan, 4*second))
		if !near(r.ScheduledRate, c.scheduled) || !near(r.SentRate, 5) || !near(r.DoneRate, 5) {
			t.Errorf("%s: scheduled %v, sent %v, done %v; want %v, 5, 5", name, r.ScheduledRate, r.SentRate, r.DoneRate,
				c.scheduled)
		}
	}
	r := summarize(t, all[:1], runOf(metrics.Plan{Rate: 1}, second))
	if r.ScheduledRate != 0 || r.SentRate != 0 || r.DoneRate != 0 {
		t.Errorf("of one request: %v, %v, %v", r.ScheduledRate, r.SentRate, r.DoneRate)
	}
}

func TestWeightedTPOT(t *testing.T) {
	all := []metrics.Request{
		eventtest.Simple(0, 0, second, 10*ms, 11), // ten gaps of 10 ms
		eventtest.Simple(1, 0, second, 50*ms, 3),  // two of 50
		eventtest.Simple(2, 0, second, 0, 1),      // none
	}
	r := summarize(t, all, runOf(metrics.Plan{}, 2*second))
	if w := r.Statistics[metrics.TPOTWeighted]; w.N != 12 || !near(w.Mean, 200./12) || !near(w.Median, 10) ||
		!near(r.Statistics[metrics.TPOT].Mean, 30) {
		t.Errorf("%d samples, mean %v, median %v; plain mean %v", w.N, w.Mean, w.Median,
			r.Statistics[metrics.TPOT].Mean)
	}
}

func TestRateSteps(t *testing.T) {
	var all []metrics.Request
	for i, due := range []time.Duration{100, 900, 2000, 2250, 2500, 2750, 3000} {
		q := eventtest.Simple(i, due*ms, ms, 0, 1)
		all = append(all, q)
	}
	later := eventtest.Simple(6, 50*ms, ms, 0, 1) // the second turn of a conversation says nothing about the rate
	later.Turn = 1
	all = append(all, later)
	plan := metrics.Plan{Requests: 7, Ramp: &metrics.Ramp{Strategy: "exponential", From: 1, To: 8.5}}
	var events []metrics.LogEntry
	steps := func() []metrics.RateStep {
		run := runOf(plan, 4*second)
		run.Events = events
		return summarize(t, all, run).RateSteps
	}
	// Rates before requests 0 to 6: 1, 1.43, 2.04, 2.92, 4.17, 5.95, 8.5.
	want := []metrics.RateStep{
		{RPS: 1, At: 0}, {RPS: 2, At: 2000 * ms}, {RPS: 3, At: 2500 * ms}, {RPS: 4, At: 2500 * ms},
		{RPS: 5, At: 2750 * ms},
		{RPS: 6, At: 3000 * ms}, {RPS: 7, At: 3000 * ms}, {RPS: 8, At: 3000 * ms},
	}
	assert.Same(t, "exponential", steps(), want)
	all[4].Due, all[5].Due = 2750*ms, 2500*ms // the dispatcher may report them in another order
	want = []metrics.RateStep{
		{RPS: 1, At: 0}, {RPS: 2, At: 2000 * ms}, {RPS: 3, At: 2500 * ms}, {RPS: 4, At: 2500 * ms},
		{RPS: 5, At: 2500 * ms},
		{RPS: 6, At: 3000 * ms}, {RPS: 7, At: 3000 * ms}, {RPS: 8, At: 3000 * ms},
	}
	assert.Same(t, "out of order", steps(), want)
	plan.Ramp = &metrics.Ramp{Strategy: "linear", From: 1.5, To: 4.5} // 1.5, 2, 2.5, 3, 3.5, 4, 4.5
	want = []metrics.RateStep{{RPS: 1, At: 0}, {RPS: 2, At: 900 * ms}, {RPS: 3, At: 2250 * ms}, {RPS: 4, At: 2500 * ms}}
	assert.Same(t, "linear", steps(), want)
	plan.Warmup = 3 * second // the schedule is what it was, whatever is reported
	assert.Same(t, "with a warm-up", steps(), want)
	// what came then was not the ramp's
	events = []metrics.LogEntry{
		{At: 2250 * ms, Set: &metrics.LoadSetting{Load: metrics.Load{Value: 1}, By: metrics.ByUser}}}
	assert.Same(t, "steered", steps(), want[:2])
	events = nil
	plan.Ramp = &metrics.Ramp{Strategy: "linear", From: 5, To: 1}
	assert.Same(t, "falling", steps(), []metrics.RateStep{{RPS: 5, At: 0}})
	for _, to := range []float64{1e300, math.Inf(1), math.NaN(), -5} {
		plan.Ramp = &metrics.Ramp{Strategy: "exponential", From: 1, To: to}
		if n := len(steps()); n < 1 || n > mostRateSteps {
			t.Errorf("up to %v: %d steps", to, n)
		}
	}
	plan.Ramp.Over = minute
	if got := steps(); got != nil {
		t.Errorf("a ramp in time has steps %v", got)
	}
	plan.Ramp = nil
	if got := steps(); got != nil {
		t.Errorf("no ramp has steps %v", got)
	}
}

// A ramp over a thousand requests that the clock ends after eight has the rates of its beginning, not all of them.
func TestRampCutShort(t *testing.T) {
	var all []metrics.Request
	for i := range 8 {
		all = append(all, eventtest.Simple(i, time.Duration(100*i)*ms, 20*ms, 0, 1))
	}
	ramp := metrics.Ramp{Strategy: "linear", From: 10, To: 20, Requests: 1000}
	summarize := func() metrics.Report {
		plan := metrics.Plan{Rate: metrics.Rate(math.Inf(1)), Burstiness: 1, Requests: 8, Duration: 800 * ms,
			Ramp: &ramp}
		r := summarize(t, all, runOf(plan, 800*ms))
		return r
	}
	r := summarize()
	if len(r.Levels) != 1 || math.Abs(r.Levels[0].Offered-10.035) > 0.005 { // rates of 10, 10.01, ... 10.07
		t.Errorf("levels %+v, want one of about 10.035 requests per second", r.Levels)
	}
	assert.Same(t, "steps", r.RateSteps, []metrics.RateStep{{RPS: 10, At: 0}})
	ramp.Requests = 0 // as many as the plan sends: 10, 11.43, ... 20
	if r = summarize(); r.Levels[0].Offered < 14 || len(r.RateSteps) != 11 ||
		r.RateSteps[10] != (metrics.RateStep{RPS: 20, At: 700 * ms}) {
		t.Errorf("over the requests of the plan: levels %+v, steps %v", r.Levels, r.RateSteps)
	}
}

func TestRampRates(t *testing.T) {
	lin := metrics.Ramp{Strategy: "linear", From: 2, To: 8, Over: minute}
	exp := metrics.Ramp{Strategy: "exponential", From: 2, To: 8, Over: minute}
	plan := metrics.Plan{Ramp: &metrics.Ramp{Strategy: "linear", From: 2, To: 8}, Requests: 7}
	cut := metrics.Plan{Ramp: &metrics.Ramp{Strategy: "linear", From: 2, To: 8, Requests: 7}, Requests: 4}
	for _, c := range []struct {
		got, want float64
	}{
		{lin.RateAt(0), 2}, {lin.RateAt(30 * second), 5}, {lin.RateAt(time.Hour), 8},
		{exp.RateAt(30 * second), 4},
		{lin.RateOf(0, 7), 2}, {lin.RateOf(3, 7), 5}, {lin.RateOf(6, 7), 8}, {exp.RateOf(3, 7), 4},
		{lin.RateOf(0, 1), 2}, {lin.RateOf(0, 0), 2},
		{plan.RampRate(3), 5}, {plan.RampRate(6), 8}, {cut.RampRate(3), 5},
		{plan.RampRate(7), 8}, {plan.RampRate(999), 8}, // a load that was set may go on beyond the plan
	} {
		if !near(c.got, c.want) {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
}

// Answers whose output came at once are in no speed: the report counts them.
func TestSpeedsOfAnswersAtOnce(t *testing.T) {
	whole := eventtest.Simple(1, 0, second, 0, 1) // in one chunk, with an empty one behind it
	whole.Add(metrics.Chunk{At: whole.LastChunk + 50*time.Microsecond})
	whole.Done, whole.OutputTokens = whole.LastChunk, 20
	all := []metrics.Request{eventtest.Simple(0, 0, second, 10*ms, 11), whole, eventtest.Simple(2, 0, second, 0, 1)}
	r := summarize(t, all, runOf(metrics.Plan{}, 2*second))
	if s := r.Speeds; s.N != 1 || !near(s.Mean, 100) || r.AtOnce != 1 || r.Statistics[metrics.TPOT].N != 2 {
		t.Errorf("%d speeds, mean %v; %d at once; %d TPOT", s.N, s.Mean, r.AtOnce, r.Statistics[metrics.TPOT].N)
	}
}
