package tui

import (
	"slices"

	"benchtop/metrics"
)

// listState is what the reader chose on the page of requests. The zero value follows the first row.
type listState struct {
	sort listSort
	// filter keeps the requests in which all its words are found, errorsOnly those that failed.
	filter     string
	errorsOnly bool
	// picked is the index of the chosen request plus one; 0 follows the first row. line is the line of the screen it is on,
	// where it stays while others come and go.
	picked, line int
	// opened shows the chosen request in full, its text scrolled so many lines back.
	opened bool
	scroll int
	// shown are the rows of a view, once they were asked for. It stays nil in the state that is kept.
	shown *[]int
}

// listAction is what a key does on the page of requests.
type listAction uint8

const (
	// listUp and listDown choose a neighbour, which is opened in place of the one that is.
	listUp listAction = iota
	listDown
	// listPageUp and listPageDown, listTop and listEnd go through the list, or through the text of the open request.
	listPageUp
	listPageDown
	listTop
	listEnd
	// listSortNext takes the next order, listErrors leaves only failures or not.
	listSortNext
	listErrors
	// listOpen and listClose open and close the chosen request.
	listOpen
	listClose
)

// act does what a key asks for on a page that covers r. It is false if there was nothing to do: nothing open or chosen that
// could be let go.
func (l *listState) act(do listAction, v *view, r rect) bool {
	switch do {
	case listSortNext:
		l.sort = (l.sort + 1) % listSorts
		return true
	case listErrors:
		l.errorsOnly = !l.errorsOnly
		return true
	case listClose:
		return l.close()
	}
	if l.opened {
		switch do {
		case listPageUp, listPageDown, listTop, listEnd:
			l.turn(do, v, r)
			return true
		}
	}
	rows := l.rows(v.s)
	if len(rows) == 0 {
		return false
	}
	high := max(1, listHeight(r, l.opened))
	at := l.place(v.s, rows)
	top := l.top(len(rows), high, at)
	switch do {
	case listUp:
		at--
	case listDown:
		at++
	case listPageUp:
		at -= high
	case listPageDown:
		at += high
	case listEnd:
		at = len(rows) - 1
	case listTop:
		l.picked, l.line, l.scroll = 0, 0, 0
		return true
	case listOpen:
		at, l.opened = max(at, 0), true
	}
	at = min(max(at, 0), len(rows)-1)
	if picked := v.s.Requests[rows[at]].Index + 1; picked != l.picked {
		l.picked, l.scroll = picked, 0
	}
	l.line = min(max(at-top, 0), high-1)
	return true
}

// point chooses the request on a line of the list, on a page that covers r, and opens the one that is chosen already.
func (l *listState) point(v *view, r rect, line int) {
	rows, high := l.rows(v.s), max(1, listHeight(r, l.opened))
	at := l.top(len(rows), high, l.place(v.s, rows)) + line
	if line < 0 || line >= high || at >= len(rows) {
		return
	}
	picked := v.s.Requests[rows[at]].Index + 1
	if picked == l.picked {
		l.opened = true
		return
	}
	l.picked, l.line, l.scroll = picked, line, 0
}

// close lets go of what is open, or else of what is chosen.
func (l *listState) close() bool {
	was := l.opened || l.picked != 0
	if !l.opened {
		l.picked, l.line = 0, 0
	}
	l.opened, l.scroll = false, 0
	return was
}

// place is where the chosen request stands among the rows; if it is not there, the one nearest to it by index, and -1 if
// none is chosen.
func (l *listState) place(s *metrics.Snapshot, rows []int) int {
	if l.picked == 0 || len(rows) == 0 {
		return -1
	}
	if i := slices.IndexFunc(rows, func(k int) bool { return s.Requests[k].Index == l.picked-1 }); i >= 0 {
		return i
	}
	best := 0
	for i, k := range rows {
		if apart(s.Requests[k].Index, l.picked-1) < apart(s.Requests[rows[best]].Index, l.picked-1) {
			best = i
		}
	}
	return best
}

// apart is how far two indices lie from each other; foreign ones may be as far as numbers go.
func apart(a, b int) uint { return uint(max(a, b)) - uint(min(a, b)) }

// top is the first row to show of n, so that the chosen one stays on its line of the screen.
func (l *listState) top(n, high, at int) int {
	if at < 0 {
		return 0
	}
	return max(0, min(at-min(l.line, high-1), n-high))
}

// turn moves through the text of the open request. It begins at its end, which follows what streams in.
func (l *listState) turn(do listAction, v *view, r rect) {
	lines, high := openText(v, openRect(r))
	most := max(0, lines-high)
	switch do {
	case listPageUp:
		l.scroll += max(1, high)
	case listPageDown:
		l.scroll -= max(1, high)
	case listTop:
		l.scroll = most
	case listEnd:
		l.scroll = 0
	}
	l.scroll = min(max(l.scroll, 0), most)
}

// setFilter keeps only requests in which all the words are found; "" shows all.
func (l *listState) setFilter(words string) { l.filter = words }

// look is what the page needs of the next snapshots.
func (l *listState) look() metrics.Look {
	out := metrics.Look{Rows: true}
	if l.opened {
		out.Open = l.picked
	}
	return out
}
