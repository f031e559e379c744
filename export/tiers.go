package export

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"benchtop/metrics"
)

// Tiers writes a line for each tier of a run with several: its highest load within the objectives, and what these are. The text starts with an
// empty line; it is empty for other runs.
//
//	gold    up to 34.2 req/s (97 % confidence)  ttft:200 tpot:20
//	bronze  none                                ttft:400
func Tiers(w io.Writer, r metrics.Report) error {
	all := r.Plan.TiersUnder(r.Objectives)
	if len(all) < 2 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t)
	for i, tier := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\n", cutASCII(tier.Name, textWidth/4), highestOf(&r, i, false), tier.SLO)
	}
	return t.Flush()
}

// highestLoad is the highest load within the objectives, of each tier where there are several. It is empty where no level had
// enough requests for a verdict.
func highestLoad(r *metrics.Report) string {
	switch text := highestOf(r, 0, false); {
	case len(r.Plan.Tiers) > 1:
		return highestLoads(r, false)
	case text == unknownLoad:
		return "load within SLO unknown"
	case text == noLoad:
		return "no load within SLO"
	case text != "":
		return "within SLO " + text
	}
	return ""
}

// highestLoads are those of all tiers; a brief text leaves out the confidence.
func highestLoads(r *metrics.Report, brief bool) string {
	var all []string
	for i, tier := range r.Plan.TiersUnder(r.Objectives) {
		if text := highestOf(r, i, brief); text != "" {
			all = append(all, cutASCII(tier.Name, textWidth/4)+" "+text)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "within SLO " + strings.Join(all, ", ")
}

// The tier's load is not known, or none is within its objectives.
const unknownLoad, noLoad = "unknown", "none"

// highestOf is the highest load of a tier, as "up to 34.2 req/s (97 % confidence)"; "" if nothing is to be said.
func highestOf(r *metrics.Report, tier int, brief bool) string {
	if tier == 0 && !r.Judged() {
		return ""
	}
	a := r.Answer.Tier(tier)
	if !a.Within {
		switch missed, unknown := metrics.NotWithin(r.Levels, tier); {
		case unknown:
			return unknownLoad
		case missed != nil:
			return noLoad
		}
		return ""
	}
	text := loadText(a.Highest, r.Answer.Users)
	// The achieved rate may lie a little below the offered one.
	i, f := a.HighestLevel, r.Plan.Find
	if f != nil && f.Most > 0 && i >= 0 && i < len(r.Levels) && r.Levels[i].Offered >= f.Most {
		text += " or more" // the search ended at its upper bound
	}
	if brief {
		return text
	}
	text = "up to " + text
	if a.Confidence > 0 {
		text += fmt.Sprintf(" (%.0f %% confidence)", math.Floor(min(a.Confidence*100+1e-9, 99))) // no measurement is certain
	}
	return text
}

// goodShare is rounded down: 100.0 % means all.
func goodShare(good, of int) string { return fmt.Sprintf("%.1f %%", float64(good*1000/of)/10) }

// otherShares are the shares of good requests of the tiers after the first, in a run at one load.
func otherShares(r *metrics.Report) (all []string) {
	for i, tier := range r.Plan.TiersUnder(r.Objectives) {
		if of := r.Levels[0].Tier(i); i > 0 && of.Requests > 0 {
			all = append(all, goodShare(of.Good, of.Requests)+" within "+cutASCII(tier.Name, textWidth/4))
		}
	}
	return all
}

// tierAnswers has a key for the answers of the tiers, none for a run without tiers.
func tierAnswers(r *metrics.Report) object {
	if len(r.Plan.Tiers) == 0 {
		return nil
	}
	var all []object
	for i, tier := range r.Plan.TiersUnder(r.Objectives) {
		a := r.Answer.Tier(i)
		all = append(all, object{
			{"name", tier.Name}, {"objectives", objectiveChange(&tier.SLO)}, {"highest_within_slo", when(a.Within, a.Highest)}, {"sure", when(a.Within, finiteOrNull(a.Confidence))},
		})
	}
	return tierKey(all)
}

// tierLevels has a key for a level as each tier judges it, none for a run without tiers.
func tierLevels(r *metrics.Report, l *metrics.LoadLevel) object {
	var all []object
	for i, tier := range r.Plan.Tiers[:min(len(r.Plan.Tiers), metrics.MostTiers)] {
		of := l.Tier(i)
		all = append(all, object{{"name", tier.Name}, {"requests", of.Requests}, {"good", of.Good}, {"standing", orNull(string(of.Standing))}})
	}
	if all == nil {
		return nil
	}
	return tierKey(all)
}

func tierKey(all []object) object {
	return object{{"tiers", each(all, func(o *object) object { return *o })}}
}
