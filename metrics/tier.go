package metrics

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Tier is a named SLO, such as that of a class of customers.
type Tier struct {
	// Name is ASCII and at most longestTierName characters; "" for the only SLO of a run, which has none.
	Name string `json:"name"`
	SLO  SLO    `json:"slo"`
}

const (
	longestTierName = 16
	// MostTiers bounds the tiers of a run.
	MostTiers = 16
)

// String writes the tier as ParseTier reads it.
func (t Tier) String() string { return t.Name + "=" + strings.ReplaceAll(t.SLO.String(), " ", ",") }

// ParseTier reads NAME=OBJECTIVE,OBJECTIVE, such as "gold=ttft:200,tpot:20"; a space separates objectives as well.
func ParseTier(text string) (t Tier, err error) {
	name, list, ok := strings.Cut(text, "=")
	if t.Name = strings.TrimSpace(name); !ok {
		return Tier{}, fmt.Errorf("%q: expected NAME=OBJECTIVES, such as gold=ttft:200,tpot:20", text)
	}
	if !tierName(t.Name) {
		const rule = "%q: the name of a tier has 1 to %d letters of ASCII, digits, - or _"
		return Tier{}, fmt.Errorf(rule, text, longestTierName)
	}
	for _, item := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		o, err := ParseObjective(item)
		if err != nil {
			return Tier{}, fmt.Errorf("tier %s: %w", t.Name, err)
		}
		if t.SLO.has(o.Metric) {
			return Tier{}, fmt.Errorf("tier %s: %s is given twice", t.Name, o.Metric.Key())
		}
		t.SLO = append(t.SLO, o)
	}
	if len(t.SLO) == 0 {
		return Tier{}, fmt.Errorf("tier %s has no objectives: expected such as %s=ttft:200,tpot:20", t.Name, t.Name)
	}
	return t, nil
}

func tierName(s string) bool {
	odd := func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_')
	}
	return s != "" && len(s) <= longestTierName && !strings.ContainsFunc(s, odd)
}

func (s SLO) has(l Latency) bool {
	return slices.ContainsFunc(s, func(o Objective) bool { return o.Metric == l })
}

// CheckTiers reports what is wrong with several tiers together.
func CheckTiers(all []Tier) error {
	if len(all) > MostTiers {
		return fmt.Errorf("%d tiers; at most %d", len(all), MostTiers)
	}
	seen := map[string]bool{}
	for _, t := range all {
		if seen[t.Name] {
			return fmt.Errorf("tier %s is given twice; each needs a name of its own", t.Name)
		}
		seen[t.Name] = true
	}
	return nil
}

// TiersUnder are the tiers that a run is judged by while objectives are in force: slo stands in for those of the first
// tier, since they may be changed during the run. A run without tiers has one without a name; a run without objectives
// has none.
func (p *Plan) TiersUnder(slo SLO) []Tier {
	if len(p.Tiers) == 0 {
		if !p.Judges(slo) {
			return nil
		}
		return []Tier{{SLO: slo}}
	}
	all := slices.Clone(p.Tiers[:min(len(p.Tiers), MostTiers)]) // a plan in a file may have any number
	all[0].SLO = slo
	return all
}

// Title is the name of the tier for a person: SLO where it has none.
func (t Tier) Title() string { return cmp.Or(t.Name, "SLO") }
