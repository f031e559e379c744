package compare

import (
	"slices"

	"benchtop/export"
)

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
