package export

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"benchtop/metrics"
)

// UnseenGPUs says in words what was not seen of the accelerators that --gpu asked for, and why; "" if nothing is missing, or
// nobody asked for any.
func UnseenGPUs(r *metrics.Report) string {
	asked, g := cutASCII(r.Plan.GPUs, textWidth/2), r.GPUs
	if r.Plan.GPUs == "" {
		return ""
	}
	why := "the run was over before anybody looked"
	if g != nil && g.Absent != "" {
		why = strings.TrimSuffix(cut(Clean(g.Absent), 2*textWidth), ".")
	}
	if g == nil || len(g.Seconds) == 0 {
		return fmt.Sprintf("--gpu %s: nothing was seen of the GPUs: %s", asked, why)
	}
	if missing := neverSeen(r); len(missing) > 0 {
		return fmt.Sprintf("--gpu %s: never seen was GPU %s", asked, cutASCII(strings.Join(missing, ", "), textWidth))
	}
	if g.Absent != "" {
		return fmt.Sprintf("--gpu %s: the GPUs were not seen to the end: %s", asked, why)
	}
	return ""
}

// neverSeen are the indices that were asked for and are in no look.
func neverSeen(r *metrics.Report) (missing []string) {
	for _, word := range strings.Split(r.Plan.GPUs, ",") {
		index, err := strconv.Atoi(word)
		if err == nil && !slices.ContainsFunc(r.GPUs.Seconds, func(s metrics.GPUSecond) bool {
			return slices.ContainsFunc(s.GPUs, func(g metrics.GPU) bool { return g.Index == index })
		}) {
			missing = append(missing, strconv.Itoa(index))
		}
	}
	return missing
}

// gpusRemark leaves out that the figures end early where they stand above with the reason.
func gpusRemark(r *metrics.Report) string {
	words := UnseenGPUs(r)
	if words == "" || saysGPUs(r.GPUs) && len(neverSeen(r)) == 0 {
		return ""
	}
	return remark("GPUs: %s.", words)
}
