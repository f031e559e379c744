package tui

// loadPage lays out the page of the load. The sizes are those of the area below the header. Several endpoints get a place
// even where there is little.
func loadPage(r rect, v *view) []box {
	ends := min(len(v.s.Endpoints)+3, 12)
	switch {
	case r.w >= 110 && r.h >= 26:
		rows := r.rows(0, r.h*3/10, max(11, r.h*3/10))
		a, b := rows[1].even(2), rows[2].columns(r.w*31/50, 0)
		return []box{{"rate", rows[0]}, {"load", a[0]}, {"lateness", a[1]}, {"stages", b[0]}, {"endpoints", b[1]}}
	case r.w >= 80 && r.h >= 18:
		rows := r.rows(0, r.h/2)
		a, b := rows[0].even(2), rows[1].columns(r.w*29/50, 0)
		out := []box{{"rate", a[0]}, {"load", a[1]}, {"stages", b[0]}}
		if len(v.s.Endpoints) > 1 {
			return append(out, box{"endpoints", b[1]})
		}
		return append(out, box{"lateness", b[1]})
	}
	if len(v.s.Endpoints) > 1 {
		return stack(r, ends, "endpoints", "rate", "stages", "load", "lateness")
	}
	return stack(r, max(leastChart, r.h/4), "rate", "stages", "load", "lateness", "endpoints")
}
