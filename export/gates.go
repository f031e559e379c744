package export

import (
	"fmt"
	"math"
	"strconv"

	"benchtop/internal/pyjson"
	"benchtop/metrics"
)

// missedGates lists the missed gates, as many as fit into width columns, at least one.
func missedGates(r *metrics.Report, width int) string {
	const words = "FAILED "
	var missed []string
	for i := range r.Gates {
		if g := &r.Gates[i]; g.Missed {
			missed = append(missed, fmt.Sprintf("%s (%s)", cutASCII(g.Gate.String(), width/2), gateValue(g)))
		}
	}
	if len(missed) == 0 {
		return ""
	}
	return words + joinFitting(missed, width-len(words))
}

// gateValue is the value of a gate's metric in the unit of its limit, with enough digits to show on which side of the limit it
// lies.
func gateValue(g *metrics.GateResult) string {
	if !g.Known {
		return "unknown"
	}
	scale, unit := 1.0, ""
	if g.Gate.Percent {
		scale, unit = 100, "%"
	}
	v := g.Value * scale
	if !finite(v) {
		return pyjson.Float(v) + unit
	}
	decimals := 0
	switch a := math.Abs(v); {
	case v == math.Trunc(v):
	case a < 1:
		decimals = 3
	case a < 10:
		decimals = 2
	case a < 100:
		decimals = 1
	}
	for ; ; decimals++ {
		text := strconv.FormatFloat(v, 'f', decimals, 64)
		shown, _ := strconv.ParseFloat(text, 64)
		if decimals >= 9 || g.Gate.Missed(shown/scale) == g.Gate.Missed(g.Value) {
			return text + unit
		}
	}
}

// gates lists all gates.
func (t *remarks) gates() {
	if len(t.r.Gates) > 0 {
		t.text += "Gates (the run fails where one holds):\n"
	}
	for _, g := range t.r.Gates {
		state := "ok"
		if g.Missed {
			state = "FAILED"
		}
		t.text += cut(fmt.Sprintf("%8s  %s  (%s)", state, Clean(g.Gate.String()), gateValue(&g)), textWidth) + "\n"
	}
}
