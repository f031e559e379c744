package metrics

import (
	"testing"

	"benchtop/internal/assert"
)

// A gate on a conclusion fires on evidence alone, and is unknown without.
func TestGateOnVerdict(t *testing.T) {
	proven := Answer{TierAnswer: TierAnswer{Proven: 24, Confidence: 0.97}}
	tooHigh := []LoadLevel{{Offered: 29, LevelVerdict: LevelVerdict{Standing: LevelMissed, Confidence: 0.96}}}
	weak := []LoadLevel{{Offered: 29, LevelVerdict: LevelVerdict{Standing: LevelMissed, Confidence: 0.9}}}
	saturated := Answer{Saturates: true, Confirmed: true, Capacity: Range{20, 19, 21}}
	for _, c := range []struct {
		gate          string
		answer        Answer
		levels        []LoadLevel
		known, missed bool
	}{
		{"slo<24", proven, nil, true, false},
		{"slo<25", proven, nil, false, true},
		{"slo<25", proven, weak, false, true},
		{"slo<29", proven, tooHigh, true, true},
		{"slo<28", proven, tooHigh, false, true},
		{"slo<30", saturated, nil, true, true},
		{"slo<10", Answer{TierAnswer: TierAnswer{Estimate: Range{29, 27, 33}}}, nil, false, true},
		{"saturation<19", saturated, nil, true, false},
		{"saturation<21", saturated, nil, true, true},
		{"saturation<20", saturated, nil, false, true},
		{"saturation<20", Answer{Drifting: true}, nil, false, true},
	} {
		gate := assert.Must(ParseGate(c.gate))(t)
		slo := SLO{{TTFT, 500}}
		r := Report{Plan: Plan{Goodput: slo, Gates: []Gate{gate}}, Objectives: slo, Answer: c.answer, Levels: c.levels}
		if got := r.CheckGates()[0]; got.Known != c.known || got.Missed != c.missed {
			t.Errorf("%s of %+v: %+v, want known %t, missed %t", c.gate, c.answer, got, c.known, c.missed)
		}
		s := Snapshot{Plan: &r.Plan, Objectives: slo, Answer: &c.answer, Levels: c.levels}
		if got := s.CheckGates()[0]; got.Missed != (c.known && c.missed) {
			t.Errorf("%s while the run is on: %+v", c.gate, got)
		}
	}
	if _, err := ParseGate("slo>30"); err == nil {
		t.Error("slo>30 is taken, which no evidence can settle")
	}
}
