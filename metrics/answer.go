package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// LoadLevel is a stretch of the run at one load, and what the server made of it.
type LoadLevel struct {
	// From and To are offsets from the start of the run.
	From, To time.Duration
	// Offered is the load: requests per second that were scheduled, or the number of users of a closed loop.
	Offered float64
	// Users says that Offered counts users.
	Users bool
	// Requests that were scheduled in the level and ended in any way but by being cut; Good of them met every objective.
	Requests, Good int
	// Done is the rate of successes that ended in the level, per second.
	Done float64
	// TTFT and ITL of the requests scheduled in the level, in milliseconds.
	TTFTp50, TTFTp99, ITLp99 float64
}

// Answer is what a person came for: the load at which the server bends, and the highest that was within the objectives.
type Answer struct {
	// Bends says that a bend was found, At which load: halfway between the last level before it and the first after it, for
	// users the last number of them from which more still brought more.
	Bends bool
	At    float64
	// Before and After index the two levels.
	Before, After int
	// Within says that a level was within the objectives, Highest is the load of the highest such level.
	Within  bool
	Highest float64
	// Users says that loads are numbers of users, not requests per second.
	Users bool
	// Why there is no bend, in a few words; "" if there is one.
	Why string
}

// The rule of the bend; docs/metrics.md says why.
const (
	fewestRequests = 5   // in a level that is looked at
	baselinePart   = 3   // the lowest third of the levels is the baseline,
	mostBaseline   = 5   // but no more than so many
	longer         = 2   // times the baseline's wait is past the bend,
	muchLonger     = 4   // and so many times are believed even where only the last level shows them
	longerMS       = 50  // milliseconds that the wait must be above the baseline's as well
	fewestDone     = 0.9 // share of requests that must succeed
	growing        = 0.1 // seconds of wait a second that show a queue that grows,
	shrinking      = 0.05
	keepsUp        = 0.97
	leastGain      = 0.25 // of the proportional throughput that more users must bring
	enoughGood     = 0.95 // share of requests that must meet the objectives
)

// answer reads the finished levels.
func (l *levels) answer() Answer {
	var a Answer
	order := l.byLoad()
	if len(order) == 0 {
		a.Why = tooFew
		return a
	}
	a.Users = l.list[order[0]].Users
	if slices.ContainsFunc(order, func(i int) bool { return l.list[i].Users != a.Users }) {
		a.Why = "stages of rates and of users"
		return a
	}
	l.highest(&a, order)
	switch {
	case len(l.list) == 1 && l.plan.Ramp == nil:
		a.Why = "steady load"
	case len(order) < 2:
		a.Why = tooFew
	case a.Users:
		l.knee(&a, order)
	default:
		l.bend(&a, order)
	}
	return a
}

const tooFew = "too few requests"

// byLoad indexes the levels that have enough requests, by rising load.
func (l *levels) byLoad() []int {
	var order []int
	for i := range l.list {
		if l.list[i].Requests >= fewestRequests {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(l.list[a].Offered, l.list[b].Offered) })
	return order
}

// highest finds the highest load that, with all lower ones, was within the objectives.
func (l *levels) highest(a *Answer, order []int) {
	if len(l.plan.Goodput) == 0 {
		return
	}
	for _, i := range order {
		v := &l.list[i]
		if !l.within(share(v.Good, v.Requests)) {
			return
		}
		a.Within, a.Highest = true, v.Offered
	}
}

// within reports whether a share of good requests is enough: what the plan's own gates on it say, or enoughGood.
func (l *levels) within(good float64) bool {
	asked, missed := false, false
	for _, g := range l.plan.Gates {
		if g.Metric == gateGoodput && (g.Op == "<" || g.Op == "<=") {
			asked, missed = true, missed || g.Missed(good)
		}
	}
	if asked {
		return !missed
	}
	return good >= enoughGood
}

// waits are how long users waited for the first chunk, in milliseconds.
type waits struct{ p50, p99 float64 }

func (v *level) waits() waits {
	all := sample{}
	for _, half := range v.wait {
		for seconds, n := range half {
			all[seconds] += n
		}
	}
	s := all.statistic([]float64{50, 99})
	return waits{s.Percentiles[0].Value, s.Percentiles[1].Value}
}

// trend is by how many seconds a time rose in a second of the level. sure says that chance does not explain it.
func (v *level) trend(of [2]sample) (rise float64, sure bool) {
	if len(of[0]) == 0 || len(of[1]) == 0 {
		return 0, false
	}
	a, b := of[0].statistic(nil), of[1].statistic(nil)
	rose := b.Median - a.Median
	spread := math.Sqrt(a.Std*a.Std/float64(a.N) + b.Std*b.Std/float64(b.N))
	return rose / 1000 / ((v.To - v.From).Seconds() / 2), math.Abs(rose) > 3*spread
}

// bend finds the load from which on the server does not keep up.
func (l *levels) bend(a *Answer, order []int) {
	all := make([]waits, len(order))
	for k, i := range order {
		all[k] = l.list[i].waits()
	}
	base := baseline(all)
	first := len(order)
	for first > 0 && l.past(order[first-1], all[first-1], base, longer) {
		first--
	}
	lowest := l.list[order[0]].Offered
	top := l.list[order[len(order)-1]].Offered
	last := len(order) - 1
	if first > last || first == last && !l.past(order[last], all[last], base, muchLonger) {
		a.Why = "no bend up to " + load(top, false)
		return
	}
	if served := l.served(order[first:]); served > 0 {
		first = 0
		for first < last && l.list[order[first]].Offered <= served {
			first++
		}
	}
	if first == 0 {
		a.Why = fmt.Sprintf("past the bend from %s on", load(lowest, false))
		return
	}
	a.Bends, a.Before, a.After = true, order[first-1], order[first]
	a.At = (l.list[a.Before].Offered + l.list[a.After].Offered) / 2
}

// served is the rate at which the server began to answer the requests of levels past the bend, where that is less than
// came: then there was a queue all the time, and the rate is what the server can do. It is 0 where the server kept up.
func (l *levels) served(past []int) float64 {
	in := slices.Sorted(slices.Values(past))
	var n, began, came float64
	for len(in) > 0 {
		k := 1
		for k < len(in) && in[k] == in[k-1]+1 { // levels that followed one another share a queue
			k++
		}
		var firsts []time.Duration
		scheduled := 0
		for _, i := range in[:k] {
			firsts = append(firsts, l.list[i].firsts...)
			scheduled += l.list[i].scheduled
		}
		slices.Sort(firsts)
		// A few stragglers at either end would stretch the time.
		trim := len(firsts) / 20
		firsts = firsts[trim : len(firsts)-trim]
		if len(firsts) > 1 {
			n += float64(len(firsts) - 1)
			began += (firsts[len(firsts)-1] - firsts[0]).Seconds()
			_ = scheduled
			came += (l.list[in[k-1]].To - l.list[in[0]].From).Seconds()
		}
		in = in[k:]
	}
	offered := 0.0
	for _, i := range past {
		offered += float64(l.list[i].scheduled)
	}
	served := perSecond(n, began)
	if served >= keepsUp*perSecond(offered, came) {
		return 0
	}
	return served
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
	return waits{median(func(w waits) float64 { return w.p50 }), median(func(w waits) float64 { return w.p99 })}
}

// past reports whether a level is past the bend: too many of its requests failed, or they waited times as long as in the
// baseline and it is not just an older queue that they waited for.
func (l *levels) past(i int, w, base waits, times float64) bool {
	v := &l.list[i]
	if float64(v.succeeded) < fewestDone*float64(v.Requests) {
		return true
	}
	if rise, sure := v.trend(v.whole); sure && rise > growing {
		return true
	}
	above := func(ms, base float64) bool { return ms > times*base && ms > base+longerMS }
	rise, _ := v.trend(v.wait)
	return above(w.p50, base.p50) && above(w.p99, base.p99) && !(l.afterMore(i) && rise < -shrinking)
}

// afterMore reports whether the load was higher before level i.
func (l *levels) afterMore(i int) bool {
	return slices.ContainsFunc(l.list[:i], func(v level) bool { return v.Offered > l.list[i].Offered })
}

// knee finds the number of users from which on more users bring little more throughput.
func (l *levels) knee(a *Answer, order []int) {
	last := len(order) - 1
	knee := last
	for knee > 0 && l.gain(order[knee-1], order[knee]) < leastGain {
		knee--
	}
	if knee == last {
		a.Why = "no bend up to " + load(l.list[order[last]].Offered, true)
		return
	}
	a.Bends, a.Before, a.After = true, order[knee], order[knee+1]
	a.At = l.list[a.Before].Offered
}

// gain is the share of the proportional throughput that the step from one number of users to a higher one brought.
func (l *levels) gain(low, high int) float64 {
	a, b := &l.list[low], &l.list[high]
	if a.Done <= 0 || b.Offered <= a.Offered {
		return math.Inf(1)
	}
	return (b.Done/a.Done - 1) / (b.Offered/a.Offered - 1)
}

func load(v float64, users bool) string {
	if users {
		return fmt.Sprintf("%.0f users", v)
	}
	return fmt.Sprintf("%.3g req/s", v)
}
