package metrics_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	. "benchtop/metrics"
)

// The load of a plan at a moment, and the figures of the plan that follow from its load.
func TestLoadOfAPlan(t *testing.T) {
	inf := Rate(math.Inf(1))
	rate := func(v float64) LoadSetting { return LoadSetting{Load: Load{Value: v}} }
	users := func(n float64) LoadSetting { return LoadSetting{Load: Users.Of(n)} }
	ramps := func(at, to float64, over time.Duration) LoadSetting {
		return LoadSetting{Load: Load{Value: at}, RampTo: to, RampOver: over}
	}
	ramp := &Ramp{Strategy: "linear", From: 10, To: 20, Over: 10 * second}
	doubling := &Ramp{Strategy: "exponential", From: 1, To: 4, Over: 2 * second}
	const s = second
	stages := []Stage{{Length: s, Load: Load{Value: 5}}, {Start: s, Length: s, Load: Users.Of(7)}}
	for _, c := range []struct {
		name           string
		plan           Plan
		at             time.Duration
		want           LoadSetting
		target         float64
		paced, inUsers bool
	}{
		{"rate", Plan{Rate: 4}, second, rate(4), 4, true, false},
		{"all at once", Plan{Rate: inf}, second, LoadSetting{}, 0, false, false},
		{"closed loop", Plan{Rate: inf, MaxConcurrency: 3}, 0, users(3), 0, false, true},
		{"ramp", Plan{Rate: inf, Ramp: ramp}, 4 * second, ramps(14, 20, 6*second), 14, true, false},
		{"after a ramp", Plan{Rate: inf, Ramp: ramp}, minute, rate(20), 20, true, false},
		{"ramp over requests", Plan{Rate: inf, Requests: 11, Ramp: &Ramp{From: 1, To: 2}}, 0, rate(1.5), 0, true,
			false},
		{"stage of a rate", Plan{Rate: inf, Stages: stages}, 0, rate(5), 5, true, false},
		{"last stage", Plan{Rate: inf, Stages: stages}, time.Hour, users(7), 0, true, false},
		{"stages of users", Plan{Rate: inf, Stages: stages[1:]}, second, users(7), 0, false, true},
		{"search of rates", Plan{Rate: inf, Find: &Find{From: 2}}, 0, rate(2), 2, true, false},
		{"search of users", Plan{Rate: inf, Find: &Find{From: 2, Unit: Users}}, 0, users(2), 0, false, true},
		{"exponential, halfway", Plan{Rate: inf, Ramp: doubling}, second, ramps(2, 4, second), 2, true, false},
	} {
		p := &c.plan
		got, target, inUsers := p.LoadAt(c.at, 5), p.Target(c.at), p.Unit() == Users
		if got != c.want || target != c.target || p.Paced() != c.paced || inUsers != c.inUsers {
			t.Errorf("load %+v, target %v, paced %t, in users %t; want %+v", got, target, p.Paced(), inUsers, c)
		}
	}
	if got := stages[0].String() + ", " + stages[1].String(); got != "5 req/s, 7 users" || stages[1].End() != 2*second {
		t.Errorf("stages %q", got)
	}
}

// The length of a plan is known where a clock, or a number at a rate, ends it.
func TestLengthOfAPlan(t *testing.T) {
	inf := Rate(math.Inf(1))
	line := func(strategy string, over time.Duration) *Ramp {
		return &Ramp{Strategy: strategy, From: 10, To: 20, Over: over}
	}
	for _, c := range []struct {
		name string
		plan Plan
		want time.Duration // 0: not known
	}{
		{"a duration", Plan{Rate: inf, MaxConcurrency: 4, Duration: minute}, minute},
		{"a number at a rate", Plan{Rate: 4, Requests: 10}, 2500 * ms},
		{"as many as fit into a duration", Plan{Rate: 0.5, Requests: 2, Duration: 5 * second}, 5 * second},
		{"a number before the end of a duration", Plan{Rate: 4, Requests: 10, Duration: minute}, 2500 * ms},
		{"a number after the end of a duration", Plan{Rate: 4, Requests: 1000, Duration: minute}, minute},
		{"stages", Plan{Rate: inf, Requests: 7, Stages: []Stage{{Length: minute, Load: Load{Value: 1}}},
			Duration: minute}, minute},
		{"a ramp in time", Plan{Rate: inf, Requests: 151, Ramp: line("linear", 10*second), Duration: 10 * second},
			10 * second},
		{"a number at a ramp in time", Plan{Rate: inf, Requests: 190, Ramp: line("linear", 10*second)}, 12 * second},
		{"a ramp over the requests", Plan{Rate: inf, Requests: 11, Ramp: line("linear", 0)}, 768147 * time.Microsecond},
		{"an exponential one", Plan{Rate: inf, Requests: 11, Ramp: line("exponential", 0)}, 796348 * time.Microsecond},
		{"a part of a ramp over the requests",
			Plan{Rate: inf, Requests: 1, Ramp: &Ramp{From: 10, To: 20, Requests: 11}}, 100 * ms},
		{"a ramp that does not rise", Plan{Rate: inf, Requests: 8, Ramp: &Ramp{From: 4, To: 4}}, 2 * second},
		{"a closed loop of a number", Plan{Rate: inf, MaxConcurrency: 4, Requests: 100}, 0},
		{"all at once", Plan{Rate: inf, Requests: 100}, 0},
		{"a search", Plan{Rate: 2, Requests: 100, Duration: time.Hour, Find: &Find{From: 2}}, 0},
		{"a number that no run can have", Plan{Rate: 1e-300, Requests: 1 << 40}, 0},
		{"a ramp from 0 over the requests", Plan{Rate: inf, Requests: 5, Ramp: &Ramp{To: 20}}, 0},
		{"a ramp of a damaged journal", Plan{Requests: 5, Ramp: &Ramp{Strategy: "exponential", From: -1, To: 20}}, 0},
		{"a damaged ramp, and a duration", Plan{Requests: 5, Ramp: &Ramp{From: -1, To: -1}, Duration: second}, second},
	} {
		if got, known := c.plan.Length(); got != c.want || known != (c.want > 0) {
			t.Errorf("%s: %s, known %t, want %s", c.name, got, known, c.want)
		}
	}
}

// A load that was set stays, ramps or pauses.
func TestLoadSettingAt(t *testing.T) {
	for _, c := range []struct {
		set  LoadSetting
		want float64
	}{
		{LoadSetting{Load: Load{Value: 3}}, 3},
		{LoadSetting{Load: Users.Of(4)}, 4},
		{LoadSetting{Load: Load{Value: 3}, Paused: true}, 0},
		{LoadSetting{Load: Load{Value: 10}, RampTo: 20, RampOver: 10 * second}, 15},
		{LoadSetting{Load: Users.Of(10), RampTo: 20, RampOver: second}, 20},
	} {
		assert.Equal(t, c.set.LoadAt(5*second), c.want, "%+v", c.set)
	}
}

func TestRateInJSON(t *testing.T) {
	for _, v := range []Rate{4.5, Rate(math.Inf(1)), Rate(math.Inf(-1))} {
		b, err := json.Marshal(v)
		var got Rate
		if err != nil || json.Unmarshal(b, &got) != nil || got != v {
			t.Errorf("%v became %s and %v: %v", v, b, got, err)
		}
	}
	if b, _ := json.Marshal(Rate(math.Inf(1))); string(b) != `"inf"` {
		t.Errorf("unlimited is %s", b)
	}
}

func TestPlanOfAnswers(t *testing.T) {
	pooling := &Plan{Pooling: true, Backend: "openai-chat"}
	if pooling.FirstWait() != E2EL || new(Plan).FirstWait() != TTFT {
		t.Error("the first wait of a pooling run is E2EL, else TTFT")
	}
	if pooling.TimedAlike() || !new(Plan).TimedAlike() || pooling.Generates() {
		t.Error("clocks without a rule differ for chat alone")
	}
	if TTFT.Possible(pooling) || !E2EL.Possible(pooling) || !ITL.Streams() || SlotWait.Possible(pooling) {
		t.Error("a pooling run has no TTFT")
	}
}

// A workload's objectives hold for its requests, also where these are of another class besides.
func TestObjectivesFor(t *testing.T) {
	run, gold := SLO{{Metric: TTFT, LimitMS: 9}}, SLO{{Metric: TTFT, LimitMS: 1}}
	p := Plan{Workloads: []Workload{{Name: "gold", Goodput: gold}, {Name: "tin"}}}
	for class, want := range map[string]SLO{
		"": run, "gold": gold, "tin": run, "golden": run, "gold, priority 1": gold, "constrained, gold": gold,
		"marigold, x": run,
	} {
		if got := p.ObjectivesFor(class, run); got[0] != want[0] {
			t.Errorf("class %q: got %v, want %v", class, got, want)
		}
	}
	p.Tiers = []Tier{{Name: "all", SLO: run}}
	if got := p.ObjectivesFor("gold", run); got[0] != run[0] {
		t.Errorf("with tiers: got %v", got)
	}
}

// A rate of a plan with conversations is one of conversations.
func TestUnit(t *testing.T) {
	talks := &Conversations{}
	for want, p := range map[string]*Plan{
		"10 req/s": nil, "1 user": {Rate: Rate(math.Inf(1)), MaxConcurrency: 1, Conversations: talks},
		"2 conversations/s": {Rate: 2, Conversations: talks},
		"7 users":           {Find: &Find{Unit: Users}}, "0.25 req/s": {Rate: 1},
	} {
		assert.Equal(t, p.Unit().Words(strings.Fields(want)[0]), want, "%+v", p)
	}
}

// There are no more users than conversations, or requests, for them.
func TestLoopUsers(t *testing.T) {
	of := func(count, active int) *Conversations {
		return &Conversations{Count: count, Active: active}
	}
	for _, c := range []struct {
		name string
		plan Plan
		want int
	}{
		{"more requests", Plan{MaxConcurrency: 30, Requests: 100}, 30},
		{"fewer requests", Plan{MaxConcurrency: 30, Requests: 24}, 24},
		{"without end", Plan{MaxConcurrency: 30, Duration: minute}, 30},
		{"fewer conversations", Plan{MaxConcurrency: 30, Requests: 72, Conversations: of(24, 30)}, 24},
		{"more conversations", Plan{MaxConcurrency: 30, Requests: 120, Conversations: of(40, 0)}, 30},
		{"conversations without end", Plan{MaxConcurrency: 30, Conversations: of(0, 30)}, 30},
		{"few at once", Plan{MaxConcurrency: 30, Requests: 120, Conversations: of(40, 8)}, 8},
		{"no loop", Plan{Requests: 5}, 0},
	} {
		assert.Equal(t, c.plan.LoopUsers(), c.want, "%s", c.name)
	}
}
