package tui

// splitWidth is how wide a page is that has room for the list and the open request beside each other.
const splitWidth = 110

// requestsPage lays out the list of requests and, once one is open, that one beside it or in its place.
func requestsPage(r rect, v *view) []box {
	switch {
	case !v.list.opened:
		return []box{{"requests", r}}
	case r.w < splitWidth:
		return []box{{"request", r}}
	}
	return []box{{"requests", listRect(r, true)}, {"request", openRect(r)}}
}

// listRect is where the list is, openRect where the open request is.
func listRect(r rect, opened bool) rect {
	if opened && r.w >= splitWidth {
		return r.columns(r.w*9/20, 0)[0]
	}
	return r
}

func openRect(r rect) rect {
	if r.w >= splitWidth {
		return r.columns(r.w*9/20, 0)[1]
	}
	return r
}

// listHeight is how many rows the list shows: what its border and the names of its columns leave.
func listHeight(r rect, opened bool) int { return listRect(r, opened).h - 3 }
