package metrics_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"benchtop/metrics"
)

// The load of a plan at a moment, and the figures of the plan that follow from its load.
func TestLoadOfAPlan(t *testing.T) {
	inf := metrics.Rate(math.Inf(1))
	ramp := &metrics.Ramp{Strategy: "linear", From: 10, To: 20, Over: 10 * time.Second}
	stages := []metrics.Stage{{Length: time.Second, Rate: 5}, {Start: time.Second, Length: time.Second, Users: 7}}
	for name, c := range map[string]struct {
		plan           metrics.Plan
		at             time.Duration
		want           metrics.LoadSetting
		target         float64
		paced, inUsers bool
	}{
		"rate":                 {metrics.Plan{Rate: 4}, time.Second, metrics.LoadSetting{Rate: 4}, 4, true, false},
		"all at once":          {metrics.Plan{Rate: inf}, time.Second, metrics.LoadSetting{}, 0, false, false},
		"closed loop":          {metrics.Plan{Rate: inf, MaxConcurrency: 3}, 0, metrics.LoadSetting{Users: 3}, 0, false, true},
		"ramp":                 {metrics.Plan{Rate: inf, Ramp: ramp}, 4 * time.Second, metrics.LoadSetting{Rate: 14, RampTo: 20, RampOver: 6 * time.Second}, 14, true, false},
		"after a ramp":         {metrics.Plan{Rate: inf, Ramp: ramp}, time.Minute, metrics.LoadSetting{Rate: 20}, 20, true, false},
		"ramp over requests":   {metrics.Plan{Rate: inf, Requests: 11, Ramp: &metrics.Ramp{From: 1, To: 2}}, 0, metrics.LoadSetting{Rate: 1.5}, 0, true, false},
		"stage of a rate":      {metrics.Plan{Rate: inf, Stages: stages}, 0, metrics.LoadSetting{Rate: 5}, 5, true, false},
		"last stage":           {metrics.Plan{Rate: inf, Stages: stages}, time.Hour, metrics.LoadSetting{Users: 7}, 0, true, false},
		"stages of users":      {metrics.Plan{Rate: inf, Stages: stages[1:]}, time.Second, metrics.LoadSetting{Users: 7}, 0, false, true},
		"search of rates":      {metrics.Plan{Rate: inf, Find: &metrics.Find{From: 2}}, 0, metrics.LoadSetting{Rate: 2}, 2, true, false},
		"search of users":      {metrics.Plan{Rate: inf, Find: &metrics.Find{From: 2, Users: true}}, 0, metrics.LoadSetting{Users: 2}, 0, false, true},
		"exponential, halfway": {metrics.Plan{Rate: inf, Ramp: &metrics.Ramp{Strategy: "exponential", From: 1, To: 4, Over: 2 * time.Second}}, time.Second, metrics.LoadSetting{Rate: 2, RampTo: 4, RampOver: time.Second}, 2, true, false},
	} {
		p := &c.plan
		if got := p.LoadAt(c.at, 5); got != c.want || p.Target(c.at) != c.target || p.Paced() != c.paced || p.InUsers() != c.inUsers {
			t.Errorf("%s: load %+v, target %v, paced %t, in users %t; want %+v", name, got, p.Target(c.at), p.Paced(), p.InUsers(), c)
		}
	}
	if got := stages[0].String() + ", " + stages[1].String(); got != "5 req/s, 7 users" || stages[1].End() != 2*time.Second {
		t.Errorf("stages %q", got)
	}
}

// A load that was set stays, ramps or pauses.
func TestLoadSettingAt(t *testing.T) {
	for _, c := range []struct {
		set  metrics.LoadSetting
		want float64
	}{
		{metrics.LoadSetting{Rate: 3}, 3}, {metrics.LoadSetting{Users: 4}, 4}, {metrics.LoadSetting{Rate: 3, Paused: true}, 0},
		{metrics.LoadSetting{Rate: 10, RampTo: 20, RampOver: 10 * time.Second}, 15}, {metrics.LoadSetting{Users: 10, RampTo: 20, RampOver: time.Second}, 20},
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
	if pooling.TimedAlike() || !new(metrics.Plan).TimedAlike() || !(&metrics.Snapshot{Plan: pooling}).Pooling() {
		t.Error("clocks without a rule differ for chat alone")
	}
	if metrics.TTFT.Possible(pooling) || !metrics.E2EL.Possible(pooling) || !metrics.ITL.Streams() || metrics.SlotWait.Possible(pooling) {
		t.Error("a pooling run has no TTFT")
	}
}
