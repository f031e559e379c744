package tui

import (
	"math"
	"sort"
	"time"

	"benchtop/metrics"
	"benchtop/tui/number"
)

type point struct{ x, v float64 } // x from 0 at the left edge to 1 at the right

// points cuts windows down to what the columns can show, as many whole seconds as share a column of dots: the mean of them,
// or the percentile of all their latencies. The groups are aligned to the start of the run, so a line does not crawl as time
// goes on.
func (p plot) points(of []series, ws []metrics.Window, end time.Duration, ts timeScale) [][]point {
	group := ts.group(2 * ts.w)
	out := make([][]point, len(of))
	for len(ws) > 0 {
		n := sharing(ws, group)
		some := ws[:n]
		ws = ws[n:]
		at := min(some[n-1].Start+time.Second, end)
		if at < ts.from {
			continue
		}
		for i := range of { // all lines while the seconds are at hand: there may be a day of them
			out[i] = append(out[i], point{ts.part(at), p.value(&of[i], some, group)})
		}
	}
	return out
}

// value is what a line shows of seconds that share a column, NaN for nothing.
func (p plot) value(s *series, ws []metrics.Window, group int) float64 {
	if s.percentile != nil && len(ws) > 1 {
		return s.percentile.of(p.v.merged(s.percentile.metric, ws, group, s.behind))
	}
	sum, n := 0.0, 0
	for i := range ws {
		if v := s.value(&ws[i]); !math.IsNaN(v) {
			sum, n = sum+number.Sane(v), n+1
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}

// sharing is how many of the first windows share a group of so many seconds; at least one. The windows are not empty.
func sharing(ws []metrics.Window, group int) int {
	end := time.Duration(columnGroup(ws, group)+1) * time.Duration(group) * time.Second
	n := sort.Search(min(group, len(ws)), func(i int) bool { return ws[i].Start >= end })
	for n == 0 || n < len(ws) && ws[n].Start < end { // a damaged result may have a second twice
		n++
	}
	return n
}

// columnGroup is the number of the group of the first window.
func columnGroup(ws []metrics.Window, group int) int { return int(ws[0].Start/time.Second) / group }
