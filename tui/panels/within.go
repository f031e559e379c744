package panels

import (
	"strings"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// tiers are those of the run, with the objectives in force; one without a name for a run without tiers, none without objectives. Their names
// are fit for the screen.
func (v *View) tiers() []metrics.Tier {
	all := v.plan().TiersUnder(v.goals())
	for i := range all {
		all[i].Name = screen.Sanitize(all[i].Name)
	}
	return all
}

// withinRemark is the highest load within the objectives, of each tier where there are several.
func (v *View) withinRemark() (remark, bool) {
	tiers := v.tiers()
	switch {
	case v.answer() == nil || !v.judges():
		return remark{}, false
	case len(tiers) > 1:
		return v.withinTiers(tiers), true
	}
	out := v.highestOf(0)
	switch {
	case v.answer().Within:
		out.long, out.short = "within SLO "+out.long, "SLO "+out.long
		out.short, _, _ = strings.Cut(out.short, "  ") // without the confidence
	case out.long == unknownLoad:
		out.long, out.short = "load within SLO unknown", ""
	default:
		out.long, out.short = strings.Replace(out.long, noLoad, "no load within SLO", 1), strings.Replace(out.short, noLoad, "none in SLO", 1)
	}
	return out, true
}

// withinTiers names the highest load of each tier.
func (v *View) withinTiers(tiers []metrics.Tier) remark {
	var long, short []string
	style := screen.Label
	for i, tier := range tiers {
		load := "–"
		if a := v.answer().Tier(i); a.Within {
			load, style = loadNumber(a.Highest), screen.Success
		}
		long, short = append(long, tier.Name+" "+load), append(short, load)
	}
	unit := " " + metrics.LoadUnit(v.answer().Users)
	return remark{long: "within SLO " + strings.Join(long, between) + unit, short: "SLO " + strings.Join(short, between) + unit, style: style}
}

const unknownLoad, noLoad = "unknown", "no load"

// highestOf is the highest load within the objectives of a tier, or the load that missed them where there is none.
func (v *View) highestOf(tier int) remark {
	a := v.answer().Tier(tier)
	if a.Within {
		out := remark{long: "up to " + loadName(a.Highest, v.answer().Users), style: screen.Success}
		out.short = out.long
		if a.Confidence > 0 {
			out.long += "  " + confidence(a.Confidence)
		}
		return out
	}
	missed, unknown := metrics.NotWithin(v.levels(), tier)
	out := remark{long: noLoad, style: screen.Label}
	switch over := v.State == metrics.Finished; {
	case unknown:
		return remark{long: unknownLoad, style: screen.Label}
	case over:
		out.style = screen.Warning
	case missed == nil:
		out.long += " yet"
	}
	out.short = out.long
	if missed != nil {
		out.long += ": " + loadName(missed.Offered, missed.Users) + " missed"
		out.short += ": " + loadNumber(missed.Offered) + " missed"
	}
	return out
}

// bordersText is the border of each of several tiers in a search: the highest load that passed, and the lowest above it that did not.
func (v *View) bordersText(s *metrics.Search) string {
	tiers := v.tiers()
	if len(tiers) < 2 {
		return ""
	}
	var out []string
	load := func(v float64) string { return metrics.LoadNumber(number.Sane(v)) }
	for i := range min(len(tiers), len(s.Tiers)) {
		text := tiers[i].Name + " "
		switch t := s.Tiers[i]; {
		case t.Passed > 0 && t.Failed > 0:
			text += load(t.Passed) + "–" + load(t.Failed)
		case t.Passed > 0:
			text += "≥" + load(t.Passed)
		case t.Failed > 0:
			text += "<" + load(t.Failed)
		default:
			text += "–"
		}
		out = append(out, text)
	}
	return strings.Join(out, between)
}
