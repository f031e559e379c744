package export

import (
	"fmt"
	"slices"
	"strings"

	"benchtop/metrics"
)

// steeredRemark says that the load was not, or not all the time, the plan's.
func steeredRemark(r *metrics.Report) string {
	if r.Steered == 0 {
		return ""
	}
	by := map[string]int{}
	for i := range r.Events {
		if s := r.Events[i].Set; s != nil {
			by[s.By]++
		}
	}
	who := ""
	switch hand, search := by[metrics.ByHand], by[metrics.BySearch]; {
	case hand > 0 && search > 0:
		who = fmt.Sprintf(" (%d by hand, %d by the search)", hand, search)
	case hand > 0:
		who = " (by hand)"
	case search > 0:
		who = " (by the search)"
	}
	return remark("Steered: the load was set %s while the run was on%s, so it was not the plan's.", times(r.Steered), who)
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// objectivesRemark says by which objectives requests were judged, where those are not the plan's.
func objectivesRemark(r *metrics.Report) string {
	if slices.Equal(r.Objectives, r.Plan.Goodput) {
		return ""
	}
	if len(r.Objectives) == 0 {
		return remark("Objectives: they were taken away while the run was on, so no request was judged.")
	}
	var words []string
	for _, o := range r.Objectives {
		words = append(words, fmt.Sprintf("%s of at most %s", strings.ToUpper(o.Metric.Key()), latency(o.LimitMS)))
	}
	return remark("Objectives: changed while the run was on. All requests are judged by those in force at the end: %s.",
		strings.Join(words, ", "))
}

// priceRemark says why there is no cost though there is a price.
func priceRemark(r *metrics.Report) string {
	g := r.GPUs
	if r.Plan.GPUPrice <= 0 || g != nil && finite(g.CostPerMillion) || r.Completed == 0 {
		return ""
	}
	why := "nobody looked at the GPUs"
	if g != nil && g.Absent != "" {
		why = strings.TrimSuffix(cut(Clean(g.Absent), 2*textWidth), ".")
	}
	return remark("Cost: unknown, though there is a price: %s.", why)
}
