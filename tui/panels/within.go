package panels

import (
	"strings"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// tiers are those of the run, with the objectives in force; one without a name for a run without tiers, none without
// objectives. Their names are fit for the screen.
func (v *View) tiers() []metrics.Tier {
	all := v.plan().TiersUnder(v.goals())
	for i := range all {
		all[i].Name = screen.Sanitize(all[i].Name)
	}
	return all
}

// bordersText is the border of each of several tiers in a search: the highest load that passed, and the lowest above it
// that did not.
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
