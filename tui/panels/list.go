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
)

// listOrders are the orders in words, and their keys: the longest comes first, an unknown time is negative and comes
// last.
var listOrders = [...]struct {
	name string
	key  func(*metrics.Snapshot, *metrics.RequestRow) time.Duration
}{
	newestFirst:  {"newest first", func(*metrics.Snapshot, *metrics.RequestRow) time.Duration { return 0 }},
	slowestFirst: {"slowest first", age},
	ttftFirst:    {"by TTFT", func(_ *metrics.Snapshot, q *metrics.RequestRow) time.Duration { return q.TTFT }},
	tpotFirst:    {"by TPOT", func(_ *metrics.Snapshot, q *metrics.RequestRow) time.Duration { return q.TPOT }},
	failedFirst:  {"failed, missed first", failureRank},
}

// failureRanks order failures before requests that missed an objective, then cancelled ones, then the rest.
var failureRanks = map[metrics.RequestState]time.Duration{metrics.StateFailed: 3, metrics.StateCancelled: 1,
	metrics.StateAbandoned: 1}

func failureRank(_ *metrics.Snapshot, q *metrics.RequestRow) time.Duration {
	if q.Missed.Any() {
		return 2
	}
	return failureRanks[q.State]
}

// listPart is a part of the requests: all of them, or one kind alone.
type listPart uint8

const (
	allRequests listPart = iota
	ErrorsOnly
	MissedOnly
)

// listParts are the parts in words.
var listParts = [...]string{ErrorsOnly: "errors only", MissedOnly: "missed an objective"}

// has reports whether a request belongs to the part.
func (p listPart) has(q *metrics.RequestRow) bool {
	return p == allRequests || p == ErrorsOnly && q.State == metrics.StateFailed || p == MissedOnly && q.Missed.Any()
}

// rows are the indices in Snapshot.Requests of the rows of the list, in its order.
func (l *List) rows(s *metrics.Snapshot) []int {
	words := strings.Fields(strings.ToLower(l.Filter))
	key := listOrders[int(l.Sort)%len(listOrders)].key
	ranked := make([]rank, 0, len(s.Requests))
	for i := range s.Requests {
		q := &s.Requests[i]
		if !l.Only.has(q) || !matches(q, words) {
			continue
		}
		ranked = append(ranked, rank{key(s, q), q.Index, i})
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

// rank is the key of a row for sorting: the highest key first, then the newest.
type rank struct {
	key       time.Duration
	index, at int
}

func (r rank) compare(other rank) int {
	return cmp.Or(cmp.Compare(other.key, r.key), cmp.Compare(other.index, r.index), cmp.Compare(r.at, other.at))
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

// over reports whether a request in the state is over.
func over(s metrics.RequestState) bool {
	return s == metrics.StateDone || s == metrics.StateFailed || s == metrics.StateCancelled ||
		s == metrics.StateAbandoned
}

// passed is the time between two moments, Never if one of them did not come.
func passed(from, to time.Duration) time.Duration {
	if from < 0 || to < 0 {
		return metrics.Never
	}
	return max(0, to-from)
}

// matches reports whether every word is in the text of a request. Words are in lower case.
func matches(q *metrics.RequestRow, words []string) bool {
	if len(words) == 0 {
		return true
	}
	said := strings.ToLower(searchText(q))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(said, w) })
}

// searchText is the text of a request that a filter searches.
func searchText(q *metrics.RequestRow) string {
	_, state, _ := describeState(q)
	parts := []string{fmt.Sprintf("#%d", q.Index), screen.Sanitize(q.ID), screen.Sanitize(q.Model),
		screen.Sanitize(string(q.State)), state}
	if q.Status != 0 {
		parts = append(parts, fmt.Sprint(q.Status))
	}
	if q.Failure != "" {
		parts = append(parts, failureName(q.Failure, q.Status), screen.Sanitize(q.Error))
	}
	if q.Slow {
		parts = append(parts, "slow")
	}
	if q.Turns > 1 {
		parts = append(parts, fmt.Sprintf("turn %d of %s", q.Turn+1, screen.Sanitize(q.Session)))
	}
	if parts = append(parts, screen.Sanitize(q.Class), missedText(q)); q.Wrong != "" {
		parts = append(parts, "wrong: "+screen.Sanitize(q.Wrong))
	}
	return strings.Join(parts, "\n")
}

// List is the state of the page of requests. The zero value follows the first row.
type List struct {
	Sort listSort
	// Filter keeps the requests in which all its words are found, Only those of a part.
	Filter string
	Only   listPart
	// Picked is the index of the chosen request plus one; 0 follows the first row. Line is the line of the screen it is
	// on, where it stays while others come and go.
	Picked, Line int
	// Opened shows the chosen request in full, its text scrolled back by Scroll lines.
	Opened bool
	Scroll int
	// shown are the rows of a view, once they were asked for. It stays nil in the state that is kept.
	shown *[]int
}

// Move is a step through a list or through the lines of a text.
type Move uint8

// The moves. A page has as many lines as the screen.
const (
	Up Move = iota
	Down
	PageUp
	PageDown
	Top
	End
)

// From is the place after a move from another, in pages of high lines; places are from 0 to last.
func (m Move) From(at, high, last int) int {
	switch m {
	case Up:
		at--
	case Down:
		at++
	case PageUp:
		at -= high
	case PageDown:
		at += high
	case Top:
		at = 0
	case End:
		at = last
	}
	return min(max(at, 0), last)
}

// FromEnd is the same for a place that is counted from the end.
func (m Move) FromEnd(back, high, last int) int { return last - m.From(last-back, high, last) }

// NextOrder takes the next order.
func (l *List) NextOrder() { l.Sort = (l.Sort + 1) % listSort(len(listOrders)) }

// NextPart takes the next part.
func (l *List) NextPart() { l.Only = (l.Only + 1) % listPart(len(listParts)) }

// Move goes through the text of the open request by pages and to its ends, else chooses another request, which is
// opened in place of the one that is. The page covers r. It is false if there is nothing to choose.
func (l *List) Move(to Move, v *View, r Rect) bool {
	if l.Opened && to >= PageUp {
		_, open := requestRects(r, true)
		lines, high := openText(v, open)
		// the text begins at its end, which follows the stream
		l.Scroll = to.FromEnd(l.Scroll, max(1, high), max(0, lines-high))
		return true
	}
	if to == Top && len(l.rows(v.Snapshot)) > 0 {
		l.Picked, l.Line, l.Scroll = 0, 0, 0
		return true
	}
	return l.choose(to.From, v, r)
}

// Open opens the chosen request, or the first; false if there is none.
func (l *List) Open(v *View, r Rect) bool {
	if !l.choose(func(at, _, _ int) int { return max(at, 0) }, v, r) {
		return false
	}
	l.Opened = true
	return true
}

// choose chooses the request at a place that follows from the place of the one chosen before.
func (l *List) choose(place func(at, high, last int) int, v *View, r Rect) bool {
	rows := l.rows(v.Snapshot)
	if len(rows) == 0 {
		return false
	}
	high := max(1, listHeight(r, l.Opened))
	at := l.place(v.Snapshot, rows)
	top := l.top(len(rows), high, at)
	at = place(at, high, len(rows)-1)
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

// Close closes the open request, or else lets go of the chosen one; false if there is neither.
func (l *List) Close() bool {
	was := l.Opened || l.Picked != 0
	if !l.Opened {
		l.Picked, l.Line = 0, 0
	}
	l.Opened, l.Scroll = false, 0
	return was
}

// place is where the chosen request stands among the rows; if it is not there, the one nearest to it by index, and -1
// if none is chosen.
func (l *List) place(s *metrics.Snapshot, rows []int) int {
	if l.Picked == 0 || len(rows) == 0 {
		return -1
	}
	if i := slices.IndexFunc(rows, func(k int) bool { return s.Requests[k].Index == l.Picked-1 }); i >= 0 {
		return i
	}
	best := 0
	for i, k := range rows {
		if distance(s.Requests[k].Index, l.Picked-1) < distance(s.Requests[rows[best]].Index, l.Picked-1) {
			best = i
		}
	}
	return best
}

// distance is that of two indices. Those of foreign results may be any numbers.
func distance(a, b int) uint { return uint(max(a, b)) - uint(min(a, b)) }

// top is the first row to show of n, so that the chosen one stays on its line of the screen.
func (l *List) top(n, high, at int) int {
	if at < 0 {
		return 0
	}
	return max(0, min(at-min(l.Line, high-1), n-high))
}

// Inspect chooses the requests that the page needs in the next snapshots.
func (l *List) Inspect() metrics.Inspection {
	out := metrics.Inspection{Rows: true}
	if l.Opened {
		out.Open = l.Picked
	}
	return out
}
