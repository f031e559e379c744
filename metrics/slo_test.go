package metrics_test

import (
	"math"
	"strings"
	"testing"

	"benchtop/internal/assert"
	. "benchtop/metrics"
)

func TestEnoughGood(t *testing.T) {
	for _, c := range []struct {
		gates []Gate
		want  float64
		asked bool
	}{
		{nil, EnoughGood, false},
		{[]Gate{{Metric: "goodput", Op: "<", Limit: 0.9}}, 0.9, true},
		{[]Gate{{Metric: "goodput", Op: "<", Limit: 0.5}, {Metric: "goodput", Op: "<=", Limit: 0.8}}, 0.8, true},
		{[]Gate{{Metric: "goodput", Op: "<", Limit: 0}}, 0, true},
		{[]Gate{{Metric: "goodput", Op: ">", Limit: 0.5}, {Metric: "request_goodput", Op: "<", Limit: 0.8}}, EnoughGood,
			false},
		{[]Gate{{Metric: "goodput", Op: "<", Limit: math.NaN()}, {Metric: "goodput", Op: "<", Limit: 7}}, EnoughGood,
			false},
	} {
		p := Plan{Gates: c.gates}
		if got, asked := p.EnoughGood(); got != c.want || asked != c.asked {
			t.Errorf("%v: %g, %v; want %g, %v", c.gates, got, asked, c.want, c.asked)
		}
		if !p.Enough(1) || !p.Enough(c.want+1e-9) || c.want > 0 && p.Enough(c.want-1e-9) {
			t.Errorf("%v: levels do not go by it", c.gates)
		}
	}
}

func TestParseObjective(t *testing.T) {
	var slo SLO
	for _, text := range []string{"ttft:500", "e2el: 3000.5", "ttft:250"} {
		o := assert.Must(ParseObjective(text))(t)
		slo = slo.With(o)
	}
	assert.Equal(t, slo.String(), "ttft:250 e2el:3000.5", "objectives")
	for _, text := range []string{"ttft", "itl:5", "nonsense:5", "ttft:-1", "ttft:NaN", "tpot:x"} {
		if o, err := ParseObjective(text); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v, %v", text, o, err)
		}
	}
	if SLO(nil).Chosen() == nil || len(slo.Chosen()) != 2 {
		t.Error("a chosen SLO is nil, or another")
	}
}

// The ratio of an outcome to its objectives is at most 1 exactly where all are met.
func TestRatio(t *testing.T) {
	outcome := OutcomeOf(200*ms, 1200*ms, 11, OtherObjectives{})
	for _, c := range []struct {
		ttft, tpot, want float64
	}{{400, 1000, .5}, {400, 125, .8}, {100, 1000, 2}, {100, 25, 4}, {200, 100, 1}, {0, 100, math.Inf(1)},
		{math.Nextafter(200, 0), 1000, math.Nextafter(1, 2)}} {
		slo := SLO{{Metric: TTFT, LimitMS: c.ttft}, {Metric: TPOT, LimitMS: c.tpot}}
		got := slo.Ratio(&outcome)
		if got != c.want || (got <= 1) != slo.Judge(&outcome).Good() {
			t.Errorf("%v: %v, want %v", slo, got, c.want)
		}
	}
}
