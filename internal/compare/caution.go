package compare

import (
	"math"
	"slices"

	"benchtop/export"
)

// Apart says that no other configuration has a load of the first, so that there are no ratios; "" where one has.
func (c *Comparison) Apart() string {
	if len(c.Labels) < 2 {
		return ""
	}
	all := slices.Clone(c.Offline)
	for i := range c.Groups {
		all = append(all, c.Groups[i].Metrics...)
	}
	for i := range all {
		for _, l := range all[i].Lines {
			if slices.ContainsFunc(l.Ratios, func(v float64) bool { return !math.IsNaN(v) }) {
				return ""
			}
		}
	}
	note := "No ratios: the configurations have no model, lengths and load in common"
	if c.X == Concurrency {
		note += " (by " + Concurrency + "; -x qps goes by rates)"
	}
	return note + "."
}

// Caution says what single runs prove, where the first configuration and another one have one run each; "" where none
// of them do.
func (c *Comparison) Caution() string {
	single, several := false, false
	all := slices.Clone(c.Offline)
	for i := range c.Groups {
		all = append(all, c.Groups[i].Metrics...)
	}
	for i := range all {
		for _, l := range all[i].Lines {
			first := l.Values[0].Runs
			for _, v := range l.Values[1:] {
				single = single || first == 1 && v.Runs == 1
				several = several || first > 0 && v.Runs > 0 && first+v.Runs > 2
			}
		}
	}
	switch {
	case !single:
		return ""
	case several:
		return "Where each side has one run: " + export.SingleRuns + "."
	}
	return "One run each: " + export.SingleRuns + "."
}
