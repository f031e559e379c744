package findings

import (
	"strings"

	"benchtop/internal/text"
	"benchtop/metrics"
)

// saturation is the load at which the server saturates, or the reason for which none is named.
func (r *Run) saturation() (Finding, bool) {
	f, a := Finding{ID: Saturation, Name: "saturation"}, r.Answer
	switch {
	case a == nil:
	case a.Drifting:
		f.Severity = Bad
		const drift = "drifting: the server became slower under a constant load; no border named"
		return f.say("", "", drift, "drifting"), true
	case a.Saturates:
		f.Severity, f.Touches = Bad, append(r.touches(a.Before), r.touches(a.After)...)
		exact, load := saturationLoad(a)
		if !a.Confirmed {
			f.Severity = Open
			return f.say("saturating? ", "saturating? ", load, load), true
		}
		return f.say("saturates ", "saturates ", exact, load), true
	case a.Why == "" && !r.Over:
	case strings.Contains(a.Why, "saturat"):
		return f.say("", "", text.Cut(a.Why, mostWords), text.Cut(a.Why, mostWords)), true
	case r.Plan.Find == nil && !r.Steady():
		why := listed("unknown", ": ", text.Cut(a.Why, mostWords))
		return f.say("saturation ", "saturation ", why, "unknown"), true
	}
	return f, false
}

// saturationLoad is the load at which the server saturates, exactly and in few words. A capacity has the unit of a
// rate, so a closed loop saturates between numbers of users that were tried.
func saturationLoad(a *metrics.Answer) (exact, load string) {
	c := &a.Capacity
	at, close := a.At()
	switch {
	case close && a.Unit != metrics.Users:
		load = Load(a.Unit.Of(at))
		return "at " + load + " (" + Bounds(c.Low, c.High) + ")", load
	case a.From > 0 && a.To > 0:
		from, to := Number(a.From), Load(a.Unit.Of(a.To))
		return "between " + from + " and " + to, from + "–" + to
	case a.To > 0:
		load = "below " + Load(a.Unit.Of(a.To))
	case c.Known() && a.Unit != metrics.Users:
		load = a.Unit.Words(Bounds(c.Low, c.High))
		return "at " + load, load
	case a.From > 0:
		load = "above " + Load(a.Unit.Of(a.From))
	default:
		load = "at an unknown load"
	}
	return load, load
}
