package metrics

import "slices"

// EnoughGood is the share of requests, of 1, that must meet the objectives where no gate of the plan says otherwise.
const EnoughGood = 0.95

// EnoughGood is the share of requests, of 1, that must meet the objectives: the most that a gate on goodput asks for, then asked
// is true; else the constant of that name.
func (p *Plan) EnoughGood() (share float64, asked bool) {
	for _, g := range p.Gates {
		if g.asksForGood() {
			share, asked = max(share, g.Limit), true
		}
	}
	if !asked {
		return EnoughGood, false
	}
	return share, true
}

// Enough reports whether a share of good requests is enough: what the gates on it say, or EnoughGood.
func (p *Plan) Enough(good float64) bool {
	enough, asked := p.EnoughGood()
	if !asked {
		return good >= enough
	}
	return !slices.ContainsFunc(p.Gates, func(g Gate) bool { return g.asksForGood() && g.Missed(good) })
}

// asksForGood reports whether the gate asks for a share of good requests. The limit of a plan from a file may be any number.
func (g Gate) asksForGood() bool {
	return g.Metric == gateGoodput && (g.Op == "<" || g.Op == "<=") && g.Limit >= 0 && g.Limit <= 1
}
