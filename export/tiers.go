package export

import (
	"benchtop/internal/findings"
	"benchtop/internal/table"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// Tiers has a line for each tier of a run with several: its highest load within the objectives, and what these are. The
// text starts with an empty line; it is empty for other runs.
//
//	gold    24 req/s proven (97 %), estimate 29-33         ttft:200 tpot:20
//	bronze  no load, 8 req/s missed (97 %)                 ttft:400
func Tiers(r metrics.Report) string {
	all := r.Plan.TiersUnder(r.Objectives)
	if len(all) < 2 {
		return ""
	}
	t := table.List("", "", "", "")
	found := findings.OfReport(&r).Findings()
	for i, tier := range all { // these are the first findings, in the same order
		t.Add(cutASCII(tier.Name, textWidth/4), ascii(found[i].Value), tier.SLO)
	}
	return t.String()
}

// tierAnswers has a key for the answers of the tiers, none for a run without tiers.
func tierAnswers(r *metrics.Report) object {
	if len(r.Plan.Tiers) == 0 {
		return nil
	}
	var all []object
	for i, tier := range r.Plan.TiersUnder(r.Objectives) {
		a := r.Answer.Tier(i)
		names := object{{"name", tier.Name}, {"objectives", objectiveChange(&tier.SLO)}}
		all = append(all, append(names, tierAnswer(&a)...))
	}
	return tierKey(all)
}

// tierAnswer are the keys of what is known of the load within the objectives of a tier.
func tierAnswer(a *metrics.TierAnswer) object {
	return object{
		{"highest_within_slo", positiveOrNull(a.Highest())}, {"sure", when(a.Proven > 0, finiteOrNull(a.Confidence))},
		{"estimate", loadRange(&a.Estimate)}, {"proven", a.Proven > 0}, {"no_load", a.None}, {"untested", a.Untested},
	}
}

// loadRange is null where it is not known; its end is null where that is open.
func loadRange(r *metrics.Range) any {
	return when(r.Known(),
		object{{"load", finiteOrNull(r.Load)}, {"low", finiteOrNull(r.Low)}, {"high", positiveOrNull(r.High)}})
}

func positiveOrNull(v float64) any { return when(text.Finite(v) && v > 0, v) }

// evidenceOf are the keys of the evidence of a level: how sure its standing is, or what is missing.
func evidenceOf(v *metrics.LevelVerdict) object {
	return object{
		{"confidence", positiveOrNull(v.Confidence)}, {"effective_requests", positiveOrNull(v.Effective)},
		{"missing_s", orNull(v.Missing.Seconds())}, {"why", orNull(v.Why)},
	}
}

// tierLevels has a key for a level as each tier judges it, none for a run without tiers.
func tierLevels(r *metrics.Report, l *metrics.LoadLevel) object {
	var all []object
	for i, tier := range r.Plan.Tiers[:min(len(r.Plan.Tiers), metrics.MostTiers)] {
		of := l.Tier(i)
		counts := object{
			{"name", tier.Name}, {"requests", of.Requests}, {"good", of.Good},
			{"standing", orNull(string(of.Standing))},
		}
		all = append(all, append(counts, evidenceOf(&of)...))
	}
	if all == nil {
		return nil
	}
	return tierKey(all)
}

func tierKey(all []object) object {
	return object{{"tiers", each(all, func(o *object) object { return *o })}}
}
