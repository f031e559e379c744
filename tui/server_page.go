package tui

// Heights of panels with their borders.
const (
	absentHeight = 4 // of one that only says why it is empty
	whyHeight    = 8
	cacheHeight  = 6
	gpusMost     = 16 // rows of accelerators on the page; a zoomed panel shows more
)

// serverPage lays out what the server and the accelerators say. What is absent takes little room, and what the client itself
// knows stands in its place.
func serverPage(r rect, v *view) []box {
	if len(v.s.Server) == 0 {
		return silentServerPage(r, v)
	}
	switch {
	case r.w >= 180 && r.h >= 34 && len(v.s.GPUs) > 0:
		low := max(gpuHeight(v), whyHeight+cacheHeight)
		rows := r.rows(0, (r.h-low)/2, low)
		a, b, c := rows[0].even(2), rows[1].even(2), rows[2].columns(r.w*2/5, 0)
		left := c[0].rows(0, cacheHeight)
		return []box{
			{"server queue", a[0]}, {"kv", a[1]}, {"server tokens", b[0]}, {"server ttft", b[1]},
			{"why ttft", left[0]}, {"cache", left[1]}, {"gpu", c[1]},
		}
	case r.w >= 110 && r.h >= 29:
		low := min(gpuHeight(v), r.h-whyHeight-14)
		rest := r.h - whyHeight - low
		rows := r.rows((rest+1)/2, 0, whyHeight, low)
		a, b, c := rows[0].even(2), rows[1].even(2), rows[2].columns(r.w*14/25, 0)
		return []box{
			{"server queue", a[0]}, {"kv", a[1]}, {"server tokens", b[0]}, {"server ttft", b[1]},
			{"why ttft", c[0]}, {"cache", c[1]}, {"gpu", rows[3]},
		}
	case r.w >= 80 && r.h >= 18:
		low := min(gpuHeight(v), r.h-whyHeight-6)
		rows := r.rows(0, whyHeight, low)
		a, b := rows[0].even(2), rows[1].columns(r.w*11/20, 0)
		return []box{{"server queue", a[0]}, {"kv", a[1]}, {"why ttft", b[0]}, {"cache", b[1]}, {"gpu", rows[2]}}
	}
	return stacked(r, []box{
		{"server queue", rect{h: 8}}, {"why ttft", rect{h: whyHeight}}, {"kv", rect{h: 8}}, {"gpu", rect{h: gpuHeight(v)}},
		{"cache", rect{h: cacheHeight}},
	})
}

// silentServerPage is the page where the server says nothing of itself.
func silentServerPage(r rect, v *view) []box {
	low := gpuHeight(v)
	if r.w < 80 || r.h < absentHeight+whyHeight+low {
		return stacked(r, []box{
			{"why ttft", rect{h: whyHeight}}, {"server queue", rect{h: absentHeight}}, {"gpu", rect{h: low}},
		})
	}
	rows := r.rows(absentHeight, 0, whyHeight, low)
	if rows[1].h < 6 {
		rows = r.rows(absentHeight, 0, low)
		return []box{{"server queue", rows[0]}, {"why ttft", rows[1]}, {"gpu", rows[2]}}
	}
	b := rows[1].even(2)
	return []box{
		{"server queue", rows[0]}, {"ttft over time", b[0]}, {"load", b[1]}, {"why ttft", rows[2]}, {"gpu", rows[3]},
	}
}

// stacked puts as many of the boxes as fit below each other, by the heights they need; the first takes what is left.
func stacked(r rect, all []box) []box {
	n, used := 0, 0
	for n < len(all) && (n == 0 || used+all[n].rect.h <= r.h) {
		used += all[n].rect.h
		n++
	}
	heights := make([]int, n)
	for i := range heights[1:] {
		heights[i+1] = all[i+1].rect.h
	}
	out := all[:n]
	for i, at := range r.rows(heights...) {
		out[i].rect = at
	}
	return out
}
