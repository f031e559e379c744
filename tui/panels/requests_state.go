package panels

import (
	"slices"

	"benchtop/metrics"
)

// List is what the reader chose on the page of requests. The zero value follows the first row.
type List struct {
	Sort listSort
	// Filter keeps the requests in which all its words are found, ErrorsOnly those that failed.
	Filter     string
	ErrorsOnly bool
	// Picked is the index of the chosen request plus one; 0 follows the first row. Line is the line of the screen it is on,
	// where it stays while others come and go.
	Picked, Line int
	// Opened shows the chosen request in full, its text scrolled back by Scroll lines.
	Opened bool
	Scroll int
	// shown are the rows of a view, once they were asked for. It stays nil in the state that is kept.
	shown *[]int
}

// ListAction is what a key does on the page of requests.
type ListAction uint8

const (
	// ListUp and ListDown choose a neighbour, which is opened in place of the one that is.
	ListUp ListAction = iota
	ListDown
	// ListPageUp and ListPageDown, ListTop and ListEnd go through the list, or through the text of the open request.
	ListPageUp
	ListPageDown
	ListTop
	ListEnd
	// ListSortNext takes the next order, ListErrors leaves only failures or not.
	ListSortNext
	ListErrors
	// ListOpen and ListClose open and close the chosen request.
	ListOpen
	ListClose
)

// Act does what a key asks for on a page that covers r. It is false if there was nothing to do: nothing open or chosen that
// could be let go.
func (l *List) Act(do ListAction, v *View, r Rect) bool {
	switch do {
	case ListSortNext:
		l.Sort = (l.Sort + 1) % listSorts
		return true
	case ListErrors:
		l.ErrorsOnly = !l.ErrorsOnly
		return true
	case ListClose:
		return l.close()
	}
	if l.Opened {
		switch do {
		case ListPageUp, ListPageDown, ListTop, ListEnd:
			l.turn(do, v, r)
			return true
		}
	}
	rows := l.rows(v.Snapshot)
	if len(rows) == 0 {
		return false
	}
	high := max(1, listHeight(r, l.Opened))
	at := l.place(v.Snapshot, rows)
	top := l.top(len(rows), high, at)
	switch do {
	case ListUp:
		at--
	case ListDown:
		at++
	case ListPageUp:
		at -= high
	case ListPageDown:
		at += high
	case ListEnd:
		at = len(rows) - 1
	case ListTop:
		l.Picked, l.Line, l.Scroll = 0, 0, 0
		return true
	case ListOpen:
		at, l.Opened = max(at, 0), true
	}
	at = min(max(at, 0), len(rows)-1)
	if picked := v.Requests[rows[at]].Index + 1; picked != l.Picked {
		l.Picked, l.Scroll = picked, 0
	}
	l.Line = min(max(at-top, 0), high-1)
	return true
}

// Point chooses the request on a line of the list, on a page that covers r, and opens the one that is chosen already.
func (l *List) Point(v *View, r Rect, line int) {
	rows, high := l.rows(v.Snapshot), max(1, listHeight(r, l.Opened))
	at := l.top(len(rows), high, l.place(v.Snapshot, rows)) + line
	if line < 0 || line >= high || at >= len(rows) {
		return
	}
	picked := v.Requests[rows[at]].Index + 1
	if picked == l.Picked {
		l.Opened = true
		return
	}
	l.Picked, l.Line, l.Scroll = picked, line, 0
}

// close lets go of what is open, or else of what is chosen.
func (l *List) close() bool {
	was := l.Opened || l.Picked != 0
	if !l.Opened {
		l.Picked, l.Line = 0, 0
	}
	l.Opened, l.Scroll = false, 0
	return was
}

// place is where the chosen request stands among the rows; if it is not there, the one nearest to it by index, and -1 if
// none is chosen.
func (l *List) place(s *metrics.Snapshot, rows []int) int {
	if l.Picked == 0 || len(rows) == 0 {
		return -1
	}
	if i := slices.IndexFunc(rows, func(k int) bool { return s.Requests[k].Index == l.Picked-1 }); i >= 0 {
		return i
	}
	best := 0
	for i, k := range rows {
		if apart(s.Requests[k].Index, l.Picked-1) < apart(s.Requests[rows[best]].Index, l.Picked-1) {
			best = i
		}
	}
	return best
}

// apart is how far two indices lie from each other; foreign ones may be as far as numbers go.
func apart(a, b int) uint { return uint(max(a, b)) - uint(min(a, b)) }

// top is the first row to show of n, so that the chosen one stays on its line of the screen.
func (l *List) top(n, high, at int) int {
	if at < 0 {
		return 0
	}
	return max(0, min(at-min(l.Line, high-1), n-high))
}

// turn moves through the text of the open request. It begins at its end, which follows what streams in.
func (l *List) turn(do ListAction, v *View, r Rect) {
	lines, high := openText(v, openRect(r))
	most := max(0, lines-high)
	switch do {
	case ListPageUp:
		l.Scroll += max(1, high)
	case ListPageDown:
		l.Scroll -= max(1, high)
	case ListTop:
		l.Scroll = most
	case ListEnd:
		l.Scroll = 0
	}
	l.Scroll = min(max(l.Scroll, 0), most)
}

// Look is what the page needs of the next snapshots.
func (l *List) Look() metrics.Look {
	out := metrics.Look{Rows: true}
	if l.Opened {
		out.Open = l.Picked
	}
	return out
}
