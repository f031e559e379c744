package panels

import (
	"math"
	"sort"
	"time"

	"benchtop/metrics"
	"benchtop/tui/number"
)

// staleAfter is how long a look at the server stands for what it is like.
const staleAfter = 2 * time.Second

// serverIn is the look at the server that covers a second of the run, nil if there is none. A look tells of the time since
// the one before, and looks do not come at full seconds: the one that covers the middle counts. Those that came in one second,
// as when a run begins, count together.
func serverIn(all []metrics.ServerSecond, w *metrics.Window) *metrics.ServerSecond {
	looks := serverLooks{all: all}
	if n := len(all); n > 1 && all[n-1].At > all[0].At { // looks come about as regularly as seconds
		part := float64(w.Start-all[0].At) / float64(all[n-1].At-all[0].At)
		looks.next = int(min(max(part, 0), 1) * float64(n-1))
	}
	return looks.in(w)
}

// serverLooks finds look after look: seconds of a chart come in order of time, so the next look is near the last one found.
type serverLooks struct {
	all  []metrics.ServerSecond
	next int // where to look first
	both metrics.ServerSecond
}

// in is the look that covers a second, as serverIn has it. Seconds may be asked for in any order.
func (l *serverLooks) in(w *metrics.Window) *metrics.ServerSecond {
	const steps = 4 // further away a search is faster
	mid, all := w.Start+time.Second/2, l.all
	i := l.next
	for k := 0; k < steps && i < len(all) && all[i].At < mid; k++ {
		i++
	}
	for k := 0; k < steps && i > 0 && all[i-1].At >= mid; k++ {
		i--
	}
	if i < len(all) && all[i].At < mid || i > 0 && all[i-1].At >= mid {
		i = sort.Search(len(all), func(i int) bool { return all[i].At >= mid })
	}
	l.next = i
	found := covering(all, i, mid, func(s *metrics.ServerSecond) (at, took time.Duration) { return s.At, s.Took })
	inside := func(k int) bool {
		return k >= 0 && k < len(all) && all[k].At > w.Start && all[k].At <= w.Start+time.Second
	}
	first, last := i, i
	for inside(first - 1) {
		first--
	}
	for inside(last + 1) {
		last++
	}
	if found == nil || !inside(i) || first == last {
		return found
	}
	l.both = all[first]
	for _, s := range all[first+1 : last+1] {
		l.both = s.Behind(&l.both)
	}
	return &l.both
}

// covering is the look that tells of a moment: the first one not before it, all[i], if it covers it, else the one before if that
// is not stale; nil if neither is so.
func covering[T any](all []T, i int, mid time.Duration, when func(*T) (at, took time.Duration)) *T {
	if i < len(all) {
		if at, took := when(&all[i]); at-max(took, time.Second) <= mid {
			return &all[i]
		}
	}
	if i > 0 {
		if at, _ := when(&all[i-1]); mid-at < staleAfter {
			return &all[i-1]
		}
	}
	return nil
}

// serverValue is a figure of the server over time, for a plot.
func serverValue(v *View, of func(*metrics.ServerSecond) float64) func(*metrics.Window) float64 {
	looks := serverLooks{all: v.Server}
	return func(w *metrics.Window) float64 {
		if s := looks.in(w); s != nil {
			return of(s)
		}
		return math.NaN()
	}
}

// perTook turns what moved since the look before into a rate.
func perTook(s *metrics.ServerSecond, n float64) float64 {
	if s.Took <= 0 {
		return math.NaN()
	}
	return n / s.Took.Seconds()
}

// serverSpan are the looks at the server within the span, or of the whole run: those that metrics.ServerOver sums up, as a look
// tells of the time before it.
func (v *View) serverSpan() []metrics.ServerSecond {
	from, to := v.stretch()
	all := v.Server
	all = all[sort.Search(len(all), func(i int) bool { return all[i].At > from }):]
	return all[:sort.Search(len(all), func(i int) bool { return all[i].At > to })]
}

// stretch is the part of the run that figures are of: the span, or all of it but the warm-up.
func (v *View) stretch() (from, to time.Duration) {
	from, to, all := figureSpan(v.Snapshot, v.Span, v.Back)
	if v.Whole || all {
		return v.plan().Warmup, endless
	}
	return from, to
}

// newest is the figure at the right edge of the charts; Unsaid if there is none.
func newest(v *View, of func(*metrics.ServerSecond) float64) float64 {
	if look := v.edgeLook(); look != nil {
		return of(look)
	}
	return metrics.Unsaid()
}

// total adds up what was said; Unsaid if nothing was.
func total(all []metrics.ServerSecond, of func(*metrics.ServerSecond) float64) float64 {
	sum, said := 0.0, false
	for i := range all {
		if x := of(&all[i]); metrics.Said(x) {
			sum, said = sum+number.Sane(x), true
		}
	}
	if !said {
		return metrics.Unsaid()
	}
	return sum
}

// said writes a figure in at most five columns, a dash if there is none.
func said(x float64) string {
	if !metrics.Said(x) {
		return "–"
	}
	return number.Short(math.Round(number.Sane(x)*10) / 10)
}

// saidShare writes a share from 0 to 1 in whole percent.
func saidShare(x float64) string {
	if !metrics.Said(x) {
		return "–"
	}
	return said(math.Round(100*min(number.Sane(x), 1))) + "%"
}
