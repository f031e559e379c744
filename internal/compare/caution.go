package compare

import "benchtop/export"

// Caution says what single runs prove, where the first configuration and another one have one run each; "" where none of them do.
func (c *Comparison) Caution() string {
	single, several := false, false
	look := func(metrics []Metric) {
		for i := range metrics {
			for _, l := range metrics[i].Lines {
				for _, n := range l.Runs[1:] {
					single = single || l.Runs[0] == 1 && n == 1
					several = several || l.Runs[0] > 0 && n > 0 && l.Runs[0]+n > 2
				}
			}
		}
	}
	for i := range c.Groups {
		look(c.Groups[i].Metrics)
	}
	look(c.Offline)
	switch {
	case !single:
		return ""
	case several:
		return "Where each side has one run: " + export.SingleRuns + "."
	}
	return "One run each: " + export.SingleRuns + "."
}
