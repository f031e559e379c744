package metrics_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"benchtop/metrics"
)

// The load of a plan at a moment, and the figures of the plan that follow from its load.
func TestLoadOfAPlan(t *testing.T) {
	inf := metrics.Rate(math.Inf(1))
	ramp := &metrics.Ramp{Strategy: "linear", From: 10, To: 20, Over: 10 * time.Second}
	stages := []metrics.Stage{{Length: time.Second, Load: metrics.Load{Value: 5}}, {Start: time.Second, Length: time.Second, Load: metrics.Users.Of(7)}}
	for name, c := range map[string]struct {
		plan           metrics.Plan
		at             time.Duration
		want           metrics.LoadSetting
		target         float64
		paced, inUsers bool
	}{
		"rate":                 {metrics.Plan{Rate: 4}, time.Second, metrics.LoadSetting{Load: metrics.Load{Value: 4}}, 4, true, false},
		"all at once":          {metrics.Plan{Rate: inf}, time.Second, metrics.LoadSetting{}, 0, false, false},
		"closed loop":          {metrics.Plan{Rate: inf, MaxConcurrency: 3}, 0, metrics.LoadSetting{Load: metrics.Users.Of(3)}, 0, false, true},
		"ramp":                 {metrics.Plan{Rate: inf, Ramp: ramp}, 4 * time.Second, metrics.LoadSetting{Load: metrics.Load{Value: 14}, RampTo: 20, RampOver: 6 * time.Second}, 14, true, false},
		"after a ramp":         {metrics.Plan{Rate: inf, Ramp: ramp}, time.Minute, metrics.LoadSetting{Load: metrics.Load{Value: 20}}, 20, true, false},
		"ramp over requests":   {metrics.Plan{Rate: inf, Requests: 11, Ramp: &metrics.Ramp{From: 1, To: 2}}, 0, metrics.LoadSetting{Load: metrics.Load{Value: 1.5}}, 0, true, false},
		"stage of a rate":      {metrics.Plan{Rate: inf, Stages: stages}, 0, metrics.LoadSetting{Load: metrics.Load{Value: 5}}, 5, true, false},
		"last stage":           {metrics.Plan{Rate: inf, Stages: stages}, time.Hour, metrics.LoadSetting{Load: metrics.Users.Of(7)}, 0, true, false},
		"stages of users":      {metrics.Plan{Rate: inf, Stages: stages[1:]}, time.Second, metrics.LoadSetting{Load: metrics.Users.Of(7)}, 0, false, true},
		"search of rates":      {metrics.Plan{Rate: inf, Find: &metrics.Find{From: 2}}, 0, metrics.LoadSetting{Load: metrics.Load{Value: 2}}, 2, true, false},
		"search of users":      {metrics.Plan{Rate: inf, Find: &metrics.Find{From: 2, Unit: metrics.Users}}, 0, metrics.LoadSetting{Load: metrics.Users.Of(2)}, 0, false, true},
		"exponential, halfway": {metrics.Plan{Rate: inf, Ramp: &metrics.Ramp{Strategy: "exponential", From: 1, To: 4, Over: 2 * time.Second}}, time.Second, metrics.LoadSetting{Load: metrics.Load{Value: 2}, RampTo: 4, RampOver: time.Second}, 2, true, false},
	} {
		p := &c.plan
		if got := p.LoadAt(c.at, 5); got != c.want || p.Target(c.at) != c.target || p.Paced() != c.paced || (p.Unit() == metrics.Users) != c.inUsers {
			t.Errorf("%s: load %+v, target %v, paced %t, in users %t; want %+v", name, got, p.Target(c.at), p.Paced(), p.Unit() == metrics.Users, c)
		}
	}
	if got := stages[0].String() + ", " + stages[1].String(); got != "5 req/s, 7 users" || stages[1].End() != 2*time.Second {
		t.Errorf("stages %q", got)
	}
}

// The length of a plan is known where a clock, or a number at a rate, ends it.
func TestLengthOfAPlan(t *testing.T) {
	inf := metrics.Rate(math.Inf(1))
	line := func(strategy string, over time.Duration) *metrics.Ramp {
		return &metrics.Ramp{Strategy: strategy, From: 10, To: 20, Over: over}
	}
	for name, c := range map[string]struct {
		plan metrics.Plan
		want time.Duration // 0: not known
	}{
		"a duration":                            {metrics.Plan{Rate: inf, MaxConcurrency: 4, Duration: time.Minute}, time.Minute},
		"a number at a rate":                    {metrics.Plan{Rate: 4, Requests: 10}, 2500 * time.Millisecond},
		"as many as fit into a duration":        {metrics.Plan{Rate: 0.5, Requests: 2, Duration: 5 * time.Second}, 5 * time.Second},
		"a number before the end of a duration": {metrics.Plan{Rate: 4, Requests: 10, Duration: time.Minute}, 2500 * time.Millisecond},
		"a number after the end of a duration":  {metrics.Plan{Rate: 4, Requests: 1000, Duration: time.Minute}, time.Minute},
		"stages":                                {metrics.Plan{Rate: inf, Requests: 7, Stages: []metrics.Stage{{Length: time.Minute, Load: metrics.Load{Value: 1}}}, Duration: time.Minute}, time.Minute},
		"a ramp in time":                        {metrics.Plan{Rate: inf, Requests: 151, Ramp: line("linear", 10*time.Second), Duration: 10 * time.Second}, 10 * time.Second},
		"a number at a ramp in time":            {metrics.Plan{Rate: inf, Requests: 190, Ramp: line("linear", 10*time.Second)}, 12 * time.Second},
		"a ramp over the requests":              {metrics.Plan{Rate: inf, Requests: 11, Ramp: line("linear", 0)}, 768147 * time.Microsecond},
		"an exponential one":                    {metrics.Plan{Rate: inf, Requests: 11, Ramp: line("exponential", 0)}, 796348 * time.Microsecond},
		"a part of a ramp over the requests":    {metrics.Plan{Rate: inf, Requests: 1, Ramp: &metrics.Ramp{From: 10, To: 20, Requests: 11}}, 100 * time.Millisecond},
		"a ramp that does not rise":             {metrics.Plan{Rate: inf, Requests: 8, Ramp: &metrics.Ramp{From: 4, To: 4}}, 2 * time.Second},
		"a closed loop of a number":             {metrics.Plan{Rate: inf, MaxConcurrency: 4, Requests: 100}, 0},
		"all at once":                           {metrics.Plan{Rate: inf, Requests: 100}, 0},
		"a search":                              {metrics.Plan{Rate: 2, Requests: 100, Duration: time.Hour, Find: &metrics.Find{From: 2}}, 0},
		"a number that no run can have":         {metrics.Plan{Rate: 1e-300, Requests: 1 << 40}, 0},
		"a ramp from 0 over the requests":       {metrics.Plan{Rate: inf, Requests: 5, Ramp: &metrics.Ramp{To: 20}}, 0},
		"a ramp of a damaged journal":           {metrics.Plan{Requests: 5, Ramp: &metrics.Ramp{Strategy: "exponential", From: -1, To: 20}}, 0},
		"a damaged ramp, and a duration":        {metrics.Plan{Requests: 5, Ramp: &metrics.Ramp{From: -1, To: -1}, Duration: time.Second}, time.Second},
	} {
		if got, known := c.plan.Length(); got != c.want || known != (c.want > 0) {
			t.Errorf("%s: %s, known %t, want %s", name, got, known, c.want)
		}
	}
}

// A load that was set stays, ramps or pauses.
func TestLoadSettingAt(t *testing.T) {
	for _, c := range []struct {
		set  metrics.LoadSetting
		want float64
	}{
		{metrics.LoadSetting{Load: metrics.Load{Value: 3}}, 3}, {metrics.LoadSetting{Load: metrics.Users.Of(4)}, 4}, {metrics.LoadSetting{Load: metrics.Load{Value: 3}, Paused: true}, 0},
		{metrics.LoadSetting{Load: metrics.Load{Value: 10}, RampTo: 20, RampOver: 10 * time.Second}, 15}, {metrics.LoadSetting{Load: metrics.Users.Of(10), RampTo: 20, RampOver: time.Second}, 20},
	} {
		if got := c.set.LoadAt(5 * time.Second); got != c.want {
			t.Errorf("%+v: %v, want %v", c.set, got, c.want)
		}
	}
}

func TestRateInJSON(t *testing.T) {
	for _, v := range []metrics.Rate{4.5, metrics.Rate(math.Inf(1)), metrics.Rate(math.Inf(-1))} {
		b, err := json.Marshal(v)
		var got metrics.Rate
		if err != nil || json.Unmarshal(b, &got) != nil || got != v {
			t.Errorf("%v became %s and %v: %v", v, b, got, err)
		}
	}
	if b, _ := json.Marshal(metrics.Rate(math.Inf(1))); string(b) != `"inf"` {
		t.Errorf("unlimited is %s", b)
	}
}

func TestPlanOfAnswers(t *testing.T) {
	pooling := &metrics.Plan{Pooling: true, Backend: "openai-chat"}
	if pooling.FirstWait() != metrics.E2EL || new(metrics.Plan).FirstWait() != metrics.TTFT {
		t.Error("the first wait of a pooling run is E2EL, else TTFT")
	}
	if pooling.TimedAlike() || !new(metrics.Plan).TimedAlike() || pooling.Generates() {
		t.Error("clocks without a rule differ for chat alone")
	}
	if metrics.TTFT.Possible(pooling) || !metrics.E2EL.Possible(pooling) || !metrics.ITL.Streams() || metrics.SlotWait.Possible(pooling) {
		t.Error("a pooling run has no TTFT")
	}
}

// A workload's objectives hold for its requests, also where these are of another class besides.
func TestObjectivesFor(t *testing.T) {
	run, gold := metrics.SLO{{Metric: metrics.TTFT, LimitMS: 9}}, metrics.SLO{{Metric: metrics.TTFT, LimitMS: 1}}
	p := metrics.Plan{Workloads: []metrics.Workload{{Name: "gold", Goodput: gold}, {Name: "tin"}}}
	for class, want := range map[string]metrics.SLO{
		"": run, "gold": gold, "tin": run, "golden": run, "gold, priority 1": gold, "constrained, gold": gold, "marigold, x": run,
	} {
		if got := p.ObjectivesFor(class, run); got[0] != want[0] {
			t.Errorf("class %q: got %v, want %v", class, got, want)
		}
	}
	p.Tiers = []metrics.Tier{{Name: "all", SLO: run}}
	if got := p.ObjectivesFor("gold", run); got[0] != run[0] {
		t.Errorf("with tiers: got %v", got)
	}
}

// A rate of a plan with conversations is one of conversations.
func TestUnit(t *testing.T) {
	talks := &metrics.Conversations{}
	for want, p := range map[string]*metrics.Plan{
		"10 req/s": nil, "1 user": {Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 1, Conversations: talks}, "2 conversations/s": {Rate: 2, Conversations: talks},
		"7 users": {Find: &metrics.Find{Unit: metrics.Users}}, "0.25 req/s": {Rate: 1},
	} {
		if got := p.Unit().Words(strings.Fields(want)[0]); got != want {
			t.Errorf("%+v: got %s, want %s", p, got, want)
		}
	}
}

// There are no more users than conversations, or requests, for them.
func TestLoopUsers(t *testing.T) {
	of := func(count, active int) *metrics.Conversations {
		return &metrics.Conversations{Count: count, Active: active}
	}
	for name, c := range map[string]struct {
		plan metrics.Plan
		want int
	}{
		"more requests":             {metrics.Plan{MaxConcurrency: 30, Requests: 100}, 30},
		"fewer requests":            {metrics.Plan{MaxConcurrency: 30, Requests: 24}, 24},
		"without end":               {metrics.Plan{MaxConcurrency: 30, Duration: time.Minute}, 30},
		"fewer conversations":       {metrics.Plan{MaxConcurrency: 30, Requests: 72, Conversations: of(24, 30)}, 24},
		"more conversations":        {metrics.Plan{MaxConcurrency: 30, Requests: 120, Conversations: of(40, 0)}, 30},
		"conversations without end": {metrics.Plan{MaxConcurrency: 30, Conversations: of(0, 30)}, 30},
		"few at once":               {metrics.Plan{MaxConcurrency: 30, Requests: 120, Conversations: of(40, 8)}, 8},
		"no loop":                   {metrics.Plan{Requests: 5}, 0},
	} {
		if got := c.plan.LoopUsers(); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
