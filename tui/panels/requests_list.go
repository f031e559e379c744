package panels

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

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

// foldMost bounds how many lines of foreign text are kept for the screen.
const foldMost = 2000

// fold breaks foreign text of several lines into lines of at most w columns, at blanks where there are any. It takes time in
// proportion to the text, where wrap is for a few lines.
func fold(s string, w int) []string {
	var out []string
	for _, part := range strings.Split(s, "\n") {
		if part = screen.Sanitize(part); part == "" {
			if len(out) > 0 && out[len(out)-1] != "" {
				out = append(out, "")
			}
			continue
		}
		if out = foldLine(out, part, max(w, 1)); len(out) >= foldMost {
			return out[:foldMost]
		}
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// foldLine appends the lines of one paragraph that is clean already.
func foldLine(out []string, s string, w int) []string {
	start, blank, n := 0, -1, 0 // bytes where the line begins and where its last blank is, columns so far
	for i := 0; i < len(s) && len(out) < foldMost; {
		size, cols := 1, 1
		if s[i] >= 0x80 || i+1 < len(s) && s[i+1] >= 0x80 {
			var cluster string
			cluster, cols = ansi.FirstGraphemeCluster(s[i:], ansi.GraphemeWidth)
			size = max(1, len(cluster))
		}
		if s[i] == ' ' {
			blank = i
		}
		if n+cols > w && i > start {
			switch {
			case s[i] == ' ':
				out = append(out, s[start:i])
				i++
				start, blank, n = i, -1, 0
				continue
			case blank > start:
				out = append(out, s[start:blank])
				start = blank + 1
				n = screen.Width(s[start:i])
			default:
				out = append(out, s[start:i])
				start, n = i, 0
			}
			blank = -1
		}
		i += size
		n += cols
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}
