package saturation

// A load may be set more than once while a run is on: then one of its levels speaks for it, so that it is no step from one
// load to the next.

// worst leaves one level of each load that was set, the first of those that are furthest past saturation: a queue takes time to
// grow, and another, shorter look at the load need not show it. all are the waits of the levels in order.
func (l *Levels) worst(order []int, all []waits, base waits) ([]int, []waits) {
	how := make(map[int]int, len(order)) // far past saturation: not, longer or much longer
	for k, i := range order {
		for _, times := range []float64{longer, muchLonger} {
			if l.past(i, all[k], base, times) {
				how[i]++
			}
		}
	}
	of := make(map[int]waits, len(order))
	for k, i := range order {
		of[i] = all[k]
	}
	order = l.oneOfEach(order, func(i, than int) bool {
		return how[i] > how[than] || how[i] == 0 && how[than] == 0 && l.list[i].Requests > l.list[than].Requests
	})
	all = make([]waits, len(order))
	for k, i := range order {
		all[k] = of[i]
	}
	return order, all
}

// longest leaves the longest level of each load that was set.
func (l *Levels) longest(order []int) []int {
	length := func(i int) int64 { return int64(l.list[i].To - l.list[i].From) }
	return l.oneOfEach(order, func(i, than int) bool { return length(i) > length(than) })
}

// oneOfEach leaves of levels of the same load, which follow each other in order, the first than which no other is better. Of a
// plan's own levels each speaks for itself.
func (l *Levels) oneOfEach(order []int, better func(i, than int) bool) []int {
	if !l.steered {
		return order
	}
	var kept []int
	for _, i := range order {
		last := len(kept) - 1
		switch {
		case last < 0 || l.list[kept[last]].Offered != l.list[i].Offered:
			kept = append(kept, i)
		case better(i, kept[last]):
			kept[last] = i
		}
	}
	return kept
}
