package metrics

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// usersAtOnce plays requests that are all due at the start, of which as many as each stage says are in flight.
func usersAtOnce(stages []Stage, service time.Duration, full int) []Request {
	all := closedLoop(stages, service, full)
	for i := range all {
		all[i].Scheduled, all[i].Due = 0, 0
	}
	return all
}

// A number of requests with a limit is due all at once. Its levels are made of when a slot was free.
func TestSteeredUsersAllDueAtOnce(t *testing.T) {
	stages := userStages(4, 14, 24)
	events := []LogEntry{setTo(10, LoadSetting{Users: 14, By: ByHand}), setTo(20, LoadSetting{Users: 24, By: ByHand})}
	plan := Plan{Rate: Rate(math.Inf(1)), MaxConcurrency: 4, NumPrompts: 300, Goodput: SLO{{TTFT, 300}}}
	all := usersAtOnce(stages, 500*time.Millisecond, 16)
	held := NewRequest(len(all)) // it never got a slot
	held.Scheduled, held.Due, held.Done, held.Failure = 0, 0, 29*time.Second, Cancelled
	report := summarizeSteered(t, plan, append(all, held), events)
	if len(report.Levels) != 3 {
		t.Fatalf("%+v", report.Levels)
	}
	for i, l := range report.Levels {
		if users := stages[i].Users; l.Offered != float64(users) || !l.Users || l.From != stages[i].Start || l.Requests < 10*users {
			t.Errorf("level %d: %+v, want %d users", i, l, users)
		}
	}
	if a := report.Answer; !a.Within || a.Highest != 14 { // at 24 the first chunk takes 375 ms
		t.Errorf("%+v", a)
	}

	// Without steering it stays what it was.
	report = answerTo(t, Plan{Rate: Rate(math.Inf(1)), MaxConcurrency: 4}, usersAtOnce(userStages(4), 500*time.Millisecond, 4))
	if report.Answer.Why != "steady load" || len(report.Levels) != 1 || report.Levels[0].Requests != 80 || report.Levels[0].Offered != 4 {
		t.Errorf("steady: %+v, %+v", report.Answer, report.Levels)
	}
}

// A load that was set at once leaves nothing of the plan's.
func TestPlanCutShortIsNoLevel(t *testing.T) {
	soon := LogEntry{At: 5 * time.Millisecond, Set: &LoadSetting{Users: 4, By: BySearch}}
	stages := userStages(4, 8)
	plan := Plan{Rate: Rate(math.Inf(1)), MaxConcurrency: 4, Find: &Find{From: 4, Users: true}, Duration: 20 * time.Second}
	report := summarizeSteered(t, plan, closedLoop(stages, time.Second/2, 16), []LogEntry{soon, setTo(10, LoadSetting{Users: 8, By: BySearch})})
	if len(report.Levels) != 2 || report.Levels[0].From != soon.At || report.Levels[1].Offered != 8 {
		t.Errorf("%+v", report.Levels)
	}

	plan = Plan{Rate: Rate(math.Inf(1)), Stages: userStages(4, 8)}
	report = summarizeSteered(t, plan, closedLoop(stages, time.Second/2, 16), []LogEntry{setTo(11, LoadSetting{Users: 8, By: ByHand})})
	if len(report.Levels) != 2 || report.Levels[0].To != 10*time.Second || report.Levels[1].From != 11*time.Second {
		t.Errorf("stages: %+v", report.Levels)
	}
}

// What a search held is the answer, though a higher load had passed for a while.
func TestHeldLoadIsTheAnswer(t *testing.T) {
	const second = time.Second
	users := []int{40, 56, 52}
	play := func(slow ...float64) []Request { // share of slow ones at each load
		all := closedLoop(userStages(users...), second/2, 64)
		for i := range all {
			q := &all[i]
			if stage := int(q.Due / (10 * second)); float64(i%100) < 100*slow[stage] {
				q.FirstChunk, q.Chunks[0].At = q.FirstChunk+200*time.Millisecond, q.Chunks[0].At+200*time.Millisecond
			}
		}
		return all
	}
	find := func(last LoadSetting, more ...LogEntry) []LogEntry {
		return append([]LogEntry{
			setTo(0, LoadSetting{Users: 40, By: BySearch}), setTo(10, LoadSetting{Users: 56, By: BySearch}), setTo(20, last),
		}, more...)
	}
	held := LoadSetting{Users: 52, By: BySearch}
	found := LogEntry{At: 30 * second, Mark: FoundMark}
	plan := Plan{
		Rate: Rate(math.Inf(1)), MaxConcurrency: 40, Goodput: SLO{{TTFT, 300}}, Duration: 30 * second,
		Find: &Find{From: 40, Users: true, Hold: 10 * second},
	}
	hand := plan
	hand.Find = nil
	for _, c := range []struct {
		name    string
		plan    Plan
		slow    []float64
		events  []LogEntry
		highest float64
		sure    bool
	}{
		{"held", plan, []float64{0, 0.04, 0}, find(held, found), 52, true},
		{"held, by the search's word", plan, []float64{0, 0.04, 0.06}, find(held, found), 52, false},
		{"held to the end of the run", plan, []float64{0, 0.04, 0}, find(held), 52, true},
		{"not held", plan, []float64{0, 0.04, 0.2}, find(held), 40, true},
		{"a hand took over", plan, []float64{0, 0.01, 0}, find(LoadSetting{Users: 52, By: ByHand}), 56, true},
		{"paused in the end", plan, []float64{0, 0.01, 0}, find(held, setTo(28, LoadSetting{Paused: true, By: BySearch})), 56, true},
		{"too short to tell", plan, []float64{0, 0.01, 0}, find(held, setTo(29, LoadSetting{Users: 50, By: BySearch})), 56, true},
		{"no search", hand, []float64{0, 0.01, 0}, find(held), 56, true},
	} {
		a := summarizeSteered(t, c.plan, play(c.slow...), c.events).Answer
		if !a.Within || a.Highest != c.highest || (a.Sure > 0.5) != c.sure {
			t.Errorf("%s: %+v, want %v", c.name, a, c.highest)
		}
	}
}

// A load that was held while the client was limited is no evidence, whatever the search says.
func TestHeldByALimitedClient(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	plan := Plan{Rate: 10, Burstiness: 1, Goodput: SLO{{TTFT, 500}}, Find: &Find{From: 10, Most: 40, Hold: 10 * time.Second}}
	events := []LogEntry{
		setTo(0, LoadSetting{Rate: 10, By: BySearch}), setTo(10, LoadSetting{Rate: 16, By: BySearch}), setTo(20, LoadSetting{Rate: 20, By: BySearch}),
	}
	all := many.serve(steered(events, 30*time.Second, r), r)
	events = append(events, LogEntry{At: 30 * time.Second, Mark: FoundMark})
	report, err := Summarize(yield(all), Run{Plan: plan, Ended: lastDone(all), Events: events, Client: stalledClient(30*time.Second, 24*time.Second, time.Second)})
	if err != nil || report.Levels[2].Standing != LevelLimited || report.Answer.HighestLevel != 1 {
		t.Errorf("%v: %+v\n%+v", err, report.Answer, report.Levels)
	}
}
