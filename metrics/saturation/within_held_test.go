package saturation_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/report"
)

// usersAtOnce are requests that are all due at the start, with the users of each stage in flight.
func usersAtOnce(stages []metrics.Stage, service time.Duration, full int) []metrics.Request {
	all := closedLoop(stages, service, full)
	for i := range all {
		all[i].Scheduled, all[i].Due = 0, 0
	}
	return all
}

// A limited number of requests is due all at once. Its levels go by the times of free slots.
func TestSteeredUsersAllDueAtOnce(t *testing.T) {
	stages := userStages(4, 14, 24)
	events := []metrics.LogEntry{setTo(10, metrics.LoadSetting{Users: 14, By: metrics.ByUser}), setTo(20, metrics.LoadSetting{Users: 24, By: metrics.ByUser})}
	plan := metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 4, NumPrompts: 300, Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 300}}}
	all := usersAtOnce(stages, 500*time.Millisecond, 16)
	held := metrics.NewRequest(len(all)) // it never got a slot
	held.Scheduled, held.Due, held.Done, held.Failure = 0, 0, 29*time.Second, metrics.Cancelled
	summary := summarizeSteered(t, plan, append(all, held), events)
	if len(summary.Levels) != 3 {
		t.Fatalf("%+v", summary.Levels)
	}
	for i, l := range summary.Levels {
		if users := stages[i].Users; l.Offered != float64(users) || !l.Users || l.From != stages[i].Start || l.Requests < 10*users {
			t.Errorf("level %d: %+v, want %d users", i, l, users)
		}
	}
	if a := summary.Answer; !a.Within || a.Highest != 14 { // at 24 the first chunk takes 375 ms
		t.Errorf("%+v", a)
	}

	// Without steering the levels are those of the plan.
	summary = answerTo(t, metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 4}, usersAtOnce(userStages(4), 500*time.Millisecond, 4))
	if summary.Answer.Why != "steady load" || len(summary.Levels) != 1 || summary.Levels[0].Requests != 80 || summary.Levels[0].Offered != 4 {
		t.Errorf("steady: %+v, %+v", summary.Answer, summary.Levels)
	}
}

// A load that is set at once leaves no level of the plan.
func TestPlanCutShortIsNoLevel(t *testing.T) {
	soon := metrics.LogEntry{At: 5 * time.Millisecond, Set: &metrics.LoadSetting{Users: 4, By: metrics.BySearch}}
	stages := userStages(4, 8)
	plan := metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 4, Find: &metrics.Find{From: 4, Users: true}, Duration: 20 * time.Second}
	summary := summarizeSteered(t, plan, closedLoop(stages, time.Second/2, 16), []metrics.LogEntry{soon, setTo(10, metrics.LoadSetting{Users: 8, By: metrics.BySearch})})
	if len(summary.Levels) != 2 || summary.Levels[0].From != soon.At || summary.Levels[1].Offered != 8 {
		t.Errorf("%+v", summary.Levels)
	}

	plan = metrics.Plan{Rate: metrics.Rate(math.Inf(1)), Stages: userStages(4, 8)}
	summary = summarizeSteered(t, plan, closedLoop(stages, time.Second/2, 16), []metrics.LogEntry{setTo(11, metrics.LoadSetting{Users: 8, By: metrics.ByUser})})
	if len(summary.Levels) != 2 || summary.Levels[0].To != 10*time.Second || summary.Levels[1].From != 11*time.Second {
		t.Errorf("stages: %+v", summary.Levels)
	}
}

// The load that a search held is the answer, even if a higher load passed for a while.
func TestHeldLoadIsTheAnswer(t *testing.T) {
	const second = time.Second
	users := []int{40, 56, 52}
	play := func(slow ...float64) []metrics.Request { // share of slow ones at each load
		all := closedLoop(userStages(users...), second/2, 64)
		for i := range all {
			q := &all[i]
			if stage := int(q.Due / (10 * second)); float64(i%100) < 100*slow[stage] {
				q.FirstChunk, q.Chunks[0].At = q.FirstChunk+200*time.Millisecond, q.Chunks[0].At+200*time.Millisecond
			}
		}
		return all
	}
	find := func(last metrics.LoadSetting, more ...metrics.LogEntry) []metrics.LogEntry {
		return append([]metrics.LogEntry{
			setTo(0, metrics.LoadSetting{Users: 40, By: metrics.BySearch}), setTo(10, metrics.LoadSetting{Users: 56, By: metrics.BySearch}), setTo(20, last),
		}, more...)
	}
	held := metrics.LoadSetting{Users: 52, By: metrics.BySearch}
	found := metrics.LogEntry{At: 30 * second, Mark: metrics.FoundMark}
	plan := metrics.Plan{
		Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 40, Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 300}}, Duration: 30 * second,
		Find: &metrics.Find{From: 40, Users: true, Hold: 10 * second},
	}
	hand := plan
	hand.Find = nil
	for _, c := range []struct {
		name    string
		plan    metrics.Plan
		slow    []float64
		events  []metrics.LogEntry
		highest float64
		sure    bool
	}{
		{"held", plan, []float64{0, 0.04, 0}, find(held, found), 52, true},
		{"held, by the search's word", plan, []float64{0, 0.04, 0.06}, find(held, found), 52, false},
		{"held to the end of the run", plan, []float64{0, 0.04, 0}, find(held), 52, true},
		{"not held", plan, []float64{0, 0.04, 0.2}, find(held), 40, true},
		{"a hand took over", plan, []float64{0, 0.01, 0}, find(metrics.LoadSetting{Users: 52, By: metrics.ByUser}), 56, true},
		{"paused in the end", plan, []float64{0, 0.01, 0}, find(held, setTo(28, metrics.LoadSetting{Paused: true, By: metrics.BySearch})), 56, true},
		{"too short to tell", plan, []float64{0, 0.01, 0}, find(held, setTo(29, metrics.LoadSetting{Users: 50, By: metrics.BySearch})), 56, true},
		{"no search", hand, []float64{0, 0.01, 0}, find(held), 56, true},
	} {
		a := summarizeSteered(t, c.plan, play(c.slow...), c.events).Answer
		if !a.Within || a.Highest != c.highest || (a.Confidence > 0.5) != c.sure {
			t.Errorf("%s: %+v, want %v", c.name, a, c.highest)
		}
	}
}

// A load that was held by a limited client is no evidence, even if the search found it.
func TestHeldByALimitedClient(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	plan := metrics.Plan{Rate: 10, Burstiness: 1, Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}}, Find: &metrics.Find{From: 10, Most: 40, Hold: 10 * time.Second}}
	events := []metrics.LogEntry{
		setTo(0, metrics.LoadSetting{Rate: 10, By: metrics.BySearch}), setTo(10, metrics.LoadSetting{Rate: 16, By: metrics.BySearch}), setTo(20, metrics.LoadSetting{Rate: 20, By: metrics.BySearch}),
	}
	all := many.serve(steered(events, 30*time.Second, r), r)
	events = append(events, metrics.LogEntry{At: 30 * time.Second, Mark: metrics.FoundMark})
	summary, err := report.Summarize(eventtest.Each(all), metrics.Run{Plan: plan, End: metrics.End{Ended: eventtest.LastDone(all)}, Events: events, Client: stalledClient(30*time.Second, 24*time.Second, time.Second)})
	if err != nil || summary.Levels[2].Standing != metrics.LevelLimited || summary.Answer.HighestLevel != 1 {
		t.Errorf("%v: %+v\n%+v", err, summary.Answer, summary.Levels)
	}
}
