package panels

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"benchtop/metrics"
	"benchtop/tui/screen"
)

// listSort is an order of requests.
type listSort uint8

const (
	newestFirst listSort = iota
	slowestFirst
	ttftFirst
	tpotFirst
	failedFirst
	listSorts
)

// name is the order in words.
func (o listSort) name() string {
	return [...]string{"newest first", "slowest first", "by TTFT", "by TPOT", "failed first"}[o%listSorts]
}

// rows are the places in Snapshot.Requests of what the list shows, in its order.
func (l *List) rows(s *metrics.Snapshot) []int {
	words := strings.Fields(strings.ToLower(l.Filter))
	ranked := make([]rank, 0, len(s.Requests))
	for i := range s.Requests {
		q := &s.Requests[i]
		if l.ErrorsOnly && q.State != metrics.StateFailed || !matches(q, words) {
			continue
		}
		ranked = append(ranked, rank{l.Sort.key(s, q), q.Index, i})
	}
	slices.SortFunc(ranked, rank.compare)
	out := make([]int, len(ranked))
	for i, r := range ranked {
		out[i] = r.at
	}
	return out
}

// rows are those of the list, put in order once for a view.
func (v *View) rows() []int {
	if v.List.shown == nil {
		rows := v.List.rows(v.Snapshot)
		v.List.shown = &rows
	}
	return *v.List.shown
}

// rank is what a row is sorted by: the highest key first, then the newest.
type rank struct {
	key       time.Duration
	index, at int
}

func (r rank) compare(other rank) int {
	return cmp.Or(cmp.Compare(other.key, r.key), cmp.Compare(other.index, r.index), cmp.Compare(r.at, other.at))
}

// key puts the longest first; what is not known is negative and comes last.
func (o listSort) key(s *metrics.Snapshot, q *metrics.RequestRow) time.Duration {
	switch o {
	case slowestFirst:
		return age(s, q)
	case ttftFirst:
		return q.TTFT
	case tpotFirst:
		return q.TPOT
	case failedFirst:
		return -trouble(q)
	}
	return 0
}

// trouble orders failures before what was cut, and that before the rest.
func trouble(q *metrics.RequestRow) time.Duration {
	switch q.State {
	case metrics.StateFailed:
		return 0
	case metrics.StateCancelled:
		return 1
	}
	return 2
}

// age is how long a request took, or takes so far; Never if it was not even due.
func age(s *metrics.Snapshot, q *metrics.RequestRow) time.Duration {
	switch {
	case over(q.State) && q.E2EL >= 0:
		return q.E2EL
	case over(q.State):
		return passed(q.Sent, q.Ended)
	case q.Sent >= 0:
		return passed(q.Sent, s.At)
	}
	return passed(q.Due, s.At)
}

// over: nothing more will come.
func over(s metrics.RequestState) bool {
	return s == metrics.StateDone || s == metrics.StateFailed || s == metrics.StateCancelled
}

// passed is the time between two moments, Never if one of them did not come.
func passed(from, to time.Duration) time.Duration {
	if from < 0 || to < 0 {
		return metrics.Never
	}
	return max(0, to-from)
}

// matches reports whether every word is found in what the list says of a request. Words are in lower case.
func matches(q *metrics.RequestRow, words []string) bool {
	if len(words) == 0 {
		return true
	}
	said := strings.ToLower(haystack(q))
	for _, w := range words {
		if !strings.Contains(said, w) {
			return false
		}
	}
	return true
}

// haystack is all that a filter looks into.
func haystack(q *metrics.RequestRow) string {
	parts := []string{fmt.Sprintf("#%d", q.Index), screen.Sanitize(q.ID), screen.Sanitize(q.Model), screen.Sanitize(string(q.State))}
	if q.Status != 0 {
		parts = append(parts, fmt.Sprint(q.Status))
	}
	if q.Failure != "" {
		parts = append(parts, failureName(q.Failure, q.Status), screen.Sanitize(q.Error))
	}
	if q.Slow {
		parts = append(parts, "slow")
	}
	return strings.Join(parts, "\n")
}

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
