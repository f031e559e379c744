package findings

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"benchtop/internal/text"
	"benchtop/metrics"
)

// within is the load within the objectives of a tier. Only a load that was held is proven, an estimate has no
// confidence, and "no load" is said where the lowest one was proven to miss.
func (r *Run) within(tiers []metrics.Tier, tier int) Finding {
	f, long, short := Finding{ID: Within, Name: "within SLO"}, "within SLO: ", "SLO "
	if len(tiers) > 1 {
		f.Tier, f.Name = tiers[tier].Name, tiers[tier].Name
		long, short = f.Tier+": ", f.Tier+" "
	}
	a := metrics.TierAnswer{Why: "too early", HeldLevel: -1}
	var unit metrics.Unit
	if r.Answer != nil {
		a, unit = r.Answer.Tier(tier), r.Answer.Unit
	}
	switch {
	case a.Proven > 0:
		f.Severity, f.Touches = Good, r.touches(a.ProvenLevel)
		proven := Load(unit.Of(a.Proven))
		brief := proven + sure(a.Confidence)
		return f.say(long, short, proven+" proven"+sure(a.Confidence)+r.above(tier, &a), brief)
	case a.Estimate.Known():
		f.Severity = Open
		about := "estimate " + estimate(&a.Estimate)
		brief := about // several tiers share a line
		if len(tiers) == 1 {
			brief = unit.Words(about)
		}
		return f.say(long, short, unit.Words(about)+r.above(tier, &a), brief)
	case a.None:
		return f.none(long, short, r, tier)
	}
	return f.unknown(long, short, text.Cut(a.Why, mostWords), r.missing(tier, &a))
}

// above is what is known of loads above those that are named: while a load is held, what its proof lacks.
func (r *Run) above(tier int, a *metrics.TierAnswer) string {
	switch held := r.holding(tier, a); {
	case held != "":
		return "; " + held
	case a.Untested:
		return ", higher loads untested"
	case a.Proven > 0:
		return estimateAbove(&a.Estimate, a.Proven)
	}
	return ""
}

// estimate writes a range of loads.
func estimate(e *metrics.Range) string {
	if !(e.High > 0) {
		return "at least " + bound(lowOf(e), math.Floor)
	}
	return Bounds(lowOf(e), e.High)
}

// lowOf is the lower bound of an estimate.
func lowOf(e *metrics.Range) float64 {
	if e.Low > 0 {
		return e.Low
	}
	return e.Load
}

// estimateAbove is the part of an estimate above the load that is proven; "" without one.
func estimateAbove(e *metrics.Range, proven float64) string {
	low, high := bound(lowOf(e), math.Floor), bound(e.High, math.Ceil)
	above := func(number string) bool { // as it is written
		v, _ := strconv.ParseFloat(number, 64)
		than, _ := strconv.ParseFloat(Number(proven), 64)
		return v > than
	}
	switch {
	case !e.Known():
	case above(low):
		return ", estimate " + estimate(e)
	case above(high):
		return ", estimate up to " + high
	}
	return ""
}

// held is the level that needs the least further time for a proof, and its verdict; ok is false where nothing can be
// held or nothing is missing.
func (r *Run) held(tier int, a *metrics.TierAnswer) (l *metrics.LoadLevel, v metrics.LevelVerdict, ok bool) {
	if !r.On || a.HeldLevel < 0 || a.HeldLevel >= len(r.Levels) {
		return nil, v, false
	}
	l = &r.Levels[a.HeldLevel]
	v = l.Tier(tier)
	return l, v, v.Missing > 0 || v.Near
}

// holding is the state of the proof of a higher load: of that which is on, or of one that would have to be held again.
func (r *Run) holding(tier int, a *metrics.TierAnswer) string {
	l, v, ok := r.held(tier, a)
	switch {
	case !ok:
		return ""
	case a.HeldLevel < len(r.Levels)-1:
		return "hold " + Load(l.Unit.Of(l.Offered)) + " for " + wait(v.Missing) + " more"
	}
	text := "holding " + Load(l.Unit.Of(l.Offered)) + ": "
	if share := Confidence(v.Confidence); share != "" {
		text += share + ", "
	}
	if v.Near {
		return text + "so near the SLO that a proof may not come"
	}
	goal := "a verdict"
	if v.Standing == metrics.LevelWithin {
		goal = "a proof"
	}
	return text + "about " + wait(v.Missing) + " more for " + goal
}

// missing is what a first proof lacks.
func (r *Run) missing(tier int, a *metrics.TierAnswer) string {
	if _, v, ok := r.held(tier, a); ok && !v.Near && a.HeldLevel == len(r.Levels)-1 {
		return Missing(v.Missing)
	}
	return r.holding(tier, a)
}

// none: the lowest load missed the objectives.
func (f Finding) none(long, short string, r *Run, tier int) Finding {
	f.Severity = Bad
	missed := ""
	if i := r.lowest(tier); i >= 0 {
		l := &r.Levels[i]
		f.Touches, missed = []int{i}, Load(l.Unit.Of(l.Offered))+" missed"+sure(l.Tier(tier).Confidence)
	}
	f = f.say(long, short, listed("no load", ", ", missed), cmp.Or(missed, "no load"))
	if f.Tier == "" {
		f.Long, f.Short = listed("no load within SLO", ": ", missed), listed("none in SLO", ": ", missed)
	}
	return f
}

// lowest is the level of the lowest load, if it failed; -1 for none.
func (r *Run) lowest(tier int) int {
	return slices.IndexFunc(r.Levels, func(l metrics.LoadLevel) bool {
		return l.Offered == r.Answer.LowestTried && l.Tier(tier).Standing.Failed()
	})
}

// Unknown is the brief text of what is not known.
const Unknown = "unknown"

// unknown: neither a load nor an estimate.
func (f Finding) unknown(long, short, why, missing string) Finding {
	rest := listed(why, ", ", missing)
	if f = f.say(long, short, listed(Unknown, ", ", rest), listed(Unknown, ", ", missing)); f.Tier == "" {
		f.Long = listed("load within SLO "+Unknown, ": ", rest)
	}
	return f
}

// listed joins two texts, either of which may be empty.
func listed(a, between, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + between + b
}

// touches is the level with an index that may be damaged.
func (r *Run) touches(level int) []int {
	if level < 0 || level >= len(r.Levels) {
		return nil
	}
	return []int{level}
}
