package saturation

import (
	"math"
	"slices"
	"time"

	"benchtop/metrics"
)

// The rule of saturation; docs/metrics.md says why.
const (
	baselinePart = 3    // the lowest third of the levels is the baseline,
	mostBaseline = 5    // but no more than so many
	longer       = 2    // times the baseline's wait is past saturation,
	muchLonger   = 4    // and so many times are believed even where only the last level shows them
	longerMS     = 50.0 // milliseconds that the wait must be above the baseline's as well
	fewestDone   = 0.9  // share of requests that must succeed
	growing      = 0.1  // seconds a second: requests that take longer at this rate show a queue that grows,
	shrinking    = 0.05 // and a wait that falls at this rate one that shrinks
	keepsUp      = 0.97 // share of what comes that a server begins to answer if it keeps up
	mostMoved    = 3    // levels that may turn out to have been past saturation although their waits were short
)

// waits are how long users waited for the first chunk, and the median of how long for the last, in milliseconds.
type waits struct{ p50, p99, whole float64 }

func (l *Levels) waits(i int) waits {
	v := &l.list[i]
	s := l.merge(v.pace.wait).statistic([]float64{50, 99})
	return waits{s.Percentiles[0].Value, s.Percentiles[1].Value, l.merge(v.pace.whole).statistic(nil).Median}
}

// merge puts both halves together, until it is called again.
func (l *Levels) merge(halves [2]figures) figures {
	l.merged = mergeSorted(l.merged[:0], halves[0].sorted(), halves[1].sorted())
	return l.merged
}

// saturation finds the load from which on the server does not keep up.
func (l *Levels) saturation(a *metrics.Answer, order []int) {
	lowest, top := l.list[order[0]].Offered, l.list[order[len(order)-1]].Offered
	all := make([]waits, len(order))
	for k, i := range order {
		all[k] = l.waits(i)
	}
	base := baseline(all)
	order, all = l.worst(order, all, base)
	last := len(order) - 1
	if order[last] == 0 && !l.past(0, all[last], base, longer) {
		last-- // a load that begins at its highest takes time to be felt
	}
	first := last + 1
	for first > 0 && l.past(order[first-1], all[first-1], base, longer) {
		first--
	}
	if first > last || first == last && !l.past(order[last], all[last], base, muchLonger) {
		a.Why = "no saturation up to " + load(top, false)
		return
	}
	seen := first
	served := l.served(order[first : last+1])
	first = l.refine(order, first, last, served)
	l.behind(l.list[order[first]].Offered, served)
	if first == 0 {
		a.Why = "saturated from " + load(lowest, false) + " on"
		return
	}
	a.Saturates, a.Before, a.After = true, order[first-1], order[first]
	a.Confirmed = !l.Live || last > first
	a.Shown = order[first+shown(all[first:last+1], all[first-1], max(0, seen-first))]
}

// behind has the levels from a load on, which are past saturation, complete no more than what the server was seen to do there, 0 if that is
// not known, and than the rising length of their requests tells: it is no chance any more.
func (l *Levels) behind(from, served float64) {
	for i := range l.list {
		v := &l.list[i]
		if v.Offered < from {
			continue
		}
		v.Completed = min(v.Completed, v.pace.completed(v.To-v.From, true))
		if served > 0 {
			v.Completed = min(v.Completed, served/v.Offered)
		}
	}
}

// shown is the level past saturation that shows it: the first, from the one on that waits were seen at, whose tail is longer than
// before, else the one with the longest tail.
func shown(past []waits, before waits, seen int) int {
	longest := seen
	for k := seen; k < len(past); k++ {
		if past[k].p99 > longer*before.p99 {
			return k
		}
		if past[k].p99 > past[longest].p99 {
			longest = k
		}
	}
	return longest
}

// refine moves the first level past saturation to where the load came to exceed what the server can do. Waits alone show it
// early where arrivals come in bunches, and late where a queue has to grow first or requests take long. But levels before
// whose effect had the time to show stay what they are.
func (l *Levels) refine(order []int, first, last int, served float64) int {
	switch {
	case served == 0:
		return first
	case served < l.list[order[0]].Offered:
		return 0 // not one level was below: what looked well had only just begun
	}
	for first < last && l.list[order[first]].Offered <= served {
		first++
	}
	seen := l.list[order[first]].From
	for moved := 0; first > 0; moved++ {
		before := &l.list[order[first-1]]
		if before.Offered <= served || moved >= mostMoved && before.To+l.life(before) <= seen {
			break
		}
		first--
	}
	return first
}

// life is how long a request takes, the wait for a client slot included.
func (l *Levels) life(v *level) time.Duration {
	return time.Duration(l.merge(v.pace.whole).statistic(nil).Median * float64(time.Millisecond))
}

// served is the rate at which the server began to answer the requests of levels past saturation, where that is less than
// came: then there was a queue all the time, and the rate is what the server can do. It is 0 where the server kept up.
func (l *Levels) served(past []int) float64 {
	in := longestRow(slices.Sorted(slices.Values(past)))
	firsts := l.firsts[:0]
	scheduled := 0
	for _, i := range in {
		firsts = append(firsts, l.list[i].firsts...)
		scheduled += l.list[i].scheduled
	}
	l.firsts = firsts
	served := usualRate(firsts)
	came := metrics.PerSecond(float64(scheduled), (l.list[in[len(in)-1]].To - l.list[in[0]].From).Seconds())
	if served >= keepsUp*came {
		return 0
	}
	return served
}

// longestRow is the longest part of rising numbers in which each is one more than the one before: levels that followed one
// another share a queue.
func longestRow(in []int) []int {
	var longest []int
	for from := 0; from < len(in); {
		to := from + 1
		for to < len(in) && in[to] == in[to-1]+1 {
			to++
		}
		if to-from > len(longest) {
			longest = in[from:to]
		}
		from = to
	}
	return longest
}

// usualRate is how many moments there were in a second, most of the time: the time is cut into pieces of twenty moments on
// average, and the quarter with the fewest and the quarter with the most do not count. So a stall does not, either.
func usualRate(moments []time.Duration) float64 {
	slices.Sort(moments)
	stragglers := len(moments) / 20
	moments = moments[stragglers : len(moments)-stragglers]
	n := len(moments) / requestsPerLevel
	if n == 0 {
		return 0
	}
	from, length := moments[0], moments[len(moments)-1]-moments[0]+1
	pieces := make([]float64, n)
	for _, at := range moments {
		piece := int(float64(at-from) / float64(length) * float64(n))
		pieces[min(max(piece, 0), n-1)]++ // a damaged journal may have any times
	}
	slices.Sort(pieces)
	pieces = pieces[n/4 : n-n/4]
	var sum float64
	for _, v := range pieces {
		sum += v
	}
	return metrics.PerSecond(sum*float64(n), float64(len(pieces))*length.Seconds())
}

// baseline is the median wait of the lowest loads.
func baseline(all []waits) waits {
	n := min(max(1, len(all)/baselinePart), mostBaseline)
	median := func(of func(waits) float64) float64 {
		var v []float64
		for _, w := range all[:n] {
			v = append(v, of(w))
		}
		slices.Sort(v)
		return (v[(n-1)/2] + v[n/2]) / 2
	}
	return waits{
		median(func(w waits) float64 { return w.p50 }),
		median(func(w waits) float64 { return w.p99 }),
		median(func(w waits) float64 { return w.whole }),
	}
}

// past reports whether a level is past saturation: too many of its requests failed; or they took longer and longer; or they
// waited times as long as in the baseline, or took even longer as a whole, and not just for an older queue. Beyond longer,
// only what is beyond doubt counts.
func (l *Levels) past(i int, w, base waits, times float64) bool {
	v := &l.list[i]
	if v.pace.Succeeded() < 1-(1-fewestDone)*times/longer {
		return true
	}
	if rise, sure := trend(v.pace.whole, v.To-v.From); sure && rise > growing && times == longer {
		return true
	}
	if rise, _ := trend(v.pace.wait, v.To-v.From); l.afterMore(i) && rise < -shrinking {
		return false
	}
	above := func(ms, base, times float64) bool { return ms > times*base && ms > base+longerMS }
	return above(w.p50, base.p50, times) && above(w.p99, base.p99, times) || above(w.whole, base.whole, 2*times)
}

// afterMore reports whether the load was higher before level i.
func (l *Levels) afterMore(i int) bool {
	return slices.ContainsFunc(l.list[:i], func(v level) bool { return v.Offered > l.list[i].Offered })
}

// leastGain is the share of the proportional throughput that more users must bring.
const leastGain = 0.25

// knee finds the number of users from which on more users bring little more throughput.
func (l *Levels) knee(a *metrics.Answer, order []int) {
	last := len(order) - 1
	knee := last
	for knee > 0 && l.gain(order[knee-1], order[knee]) < leastGain {
		knee--
	}
	if knee == last {
		a.Why = "no saturation up to " + load(l.list[order[last]].Offered, true)
		return
	}
	a.Saturates, a.Before, a.After, a.Shown = true, order[knee], order[knee+1], order[knee+1]
	a.Confirmed = !l.Live || last-knee > 1
}

// gain is the share of the proportional throughput that the step from one number of users to a higher one brought.
func (l *Levels) gain(low, high int) float64 {
	a, b := &l.list[low], &l.list[high]
	if a.Done <= 0 || b.Offered <= a.Offered {
		return math.Inf(1)
	}
	return (b.Done/a.Done - 1) / (b.Offered/a.Offered - 1)
}
