package tui

// latencyPage lays out the page of latencies. The sizes are those of the area below the header.
func latencyPage(r rect, v *view) []box {
	table := 1 + len(latencyMetrics) + 2
	switch {
	case r.w >= 180 && r.h >= 30: // the table beside the histogram
		if v.baseline != nil && r.h >= 40 {
			table += len(latencyMetrics)
		}
		rows := r.rows(max(table, r.h*2/5), 0)
		a, b := rows[0].columns(0, fullTable+2), rows[1].even(2)
		return []box{{"latency histogram", a[0]}, {"percentiles", a[1]}, {"latency band", b[0]}, {"latency heat", b[1]}}
	case r.w >= 110 && r.h >= 26:
		rows := r.rows((r.h-table+1)/2, 0, table)
		a := rows[1].even(2)
		return []box{{"latency histogram", rows[0]}, {"latency band", a[0]}, {"latency heat", a[1]}, {"percentiles", rows[2]}}
	case r.w >= 80 && r.h >= 18:
		rows := r.rows(0, min(table, r.h/2))
		a, b := rows[0].even(2), rows[1].columns(shortTable+2, 0)
		return []box{{"latency histogram", a[0]}, {"latency band", a[1]}, {"percentiles", b[0]}, {"latency heat", b[1]}}
	}
	return stack(r, table, "percentiles", "latency histogram", "latency band", "latency heat")
}

// stack lays out panels below each other, for a small terminal, or a narrow and high one: the first with as many lines as it
// needs, then as many of the rest as fit.
func stack(r rect, lines int, names ...string) []box {
	first := min(lines, r.h)
	if r.h-first < leastChart {
		first = r.h
	}
	out := []box{{names[0], rect{r.x, r.y, r.w, first}}}
	rest := rect{r.x, r.y + first, r.w, r.h - first}
	n := min(rest.h/leastChart, len(names)-1)
	for i, name := range names[1 : n+1] {
		y0, y1 := rest.h*i/n, rest.h*(i+1)/n
		out = append(out, box{name, rect{rest.x, rest.y + y0, rest.w, y1 - y0}})
	}
	return out
}

// leastChart is how many lines a chart needs to say anything.
const leastChart = 7
