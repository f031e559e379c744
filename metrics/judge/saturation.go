package judge

import (
	"math"
	"slices"
	"time"

	"benchtop/metrics"
)

// lag is what a server left undone of the work that a level asked for.
type lag struct {
	share, errors float64 // of the work, and over its standard error
	completed     float64 // share that was done at its pace
	clear         bool    // the server keeps up as far as can be seen
}

// base is about the time of a request when a level begins, before a queue has grown; 0 if it is not known.
func (v *level) base() time.Duration {
	for k := range thirds {
		// Where a queue grows from the start, only the first few requests show it.
		if x := min(v.whole[k].quantile(0.25), shortFew*v.whole[k].quantile(0.05)); x > 0 {
			return time.Duration(x * float64(time.Second))
		}
	}
	return 0
}

// lagOf holds what was asked for in a level against what was done. In a level of few request times that says nothing,
// and the times to the first chunk do, or after some more request times those to the last: if they rise by r seconds a
// second, n/(1+r) requests are done in the time in which n arrive. A batch that fills makes answers slower, and no
// queue.
func (l *Levels) lagOf(v *level, base time.Duration) lag {
	out := lag{completed: 1, clear: true}
	if v.Unit == metrics.Users || v.scheduled == 0 {
		return out
	}
	length := v.To - v.From
	if base > 0 && length < requestTimes*base {
		rise, errors := trend(v.wait[:], length)
		if r, e := trend(v.whole[:], length); length >= wholeTimes*base && r > rise {
			rise, errors = r, e
		}
		if rise > lagBehind && errors > 3 {
			out.share, out.errors, out.clear = rise/(1+rise), errors, false
		}
		out.completed = (1 - metrics.Share(v.failed, v.over)) * (1 - out.share)
		return out
	}
	from := v.From + min(2*base, length/3)
	to := min(v.To, l.work.known)
	switch {
	case l.sampled != nil && base == 0:
		return out // no request has ended
	case l.sampled != nil:
		to = min(v.To, l.now)
	case to-from < (v.To-v.From)/3:
		return out
	}
	asked := l.work.between(l.work.asked, from, to) - l.work.between(l.work.lost, from, to)
	if !(asked > 0) {
		out.completed = 1 - metrics.Share(v.failed, v.over)
		return out
	}
	left := asked - l.work.between(l.work.did, from, to) - l.running/2
	out.share, out.errors = left/asked, left/math.Sqrt(2*asked)
	out.clear = left < lagFewest || out.share < lagMost
	out.completed = (1 - metrics.Share(v.failed, v.over)) * min(1, 1-max(0, out.share))
	return out
}

// trend is the rise of the mean from the first to the last third of a level, in seconds a second, and over its standard
// error; 0 for too few requests.
func trend(of []figures, length time.Duration) (rise, errors float64) {
	first, last := of[0].statistic(nil), of[len(of)-1].statistic(nil)
	if first.N < lagFewest || last.N < lagFewest {
		return 0, 0
	}
	rose := last.Mean - first.Mean
	error := math.Sqrt(first.Std*first.Std/float64(first.N) + last.Std*last.Std/float64(last.N))
	return rose / 1000 / (length.Seconds() * (thirds - 1) / thirds), rose / max(error, 1e-6)
}

// isBehind reports whether the server surely did less than was asked for.
func (g *lag) isBehind() bool { return !g.clear && g.share > lagBehind && g.errors > lagErrors }

// overload is a time in which a server did not keep up with the rising loads of levels.
type overload struct {
	first, last   int // levels
	share, errors float64
	from, to      time.Duration // with a queue
	capacity      metrics.Range
	refused       bool
	queued        bool // first chunks came late
}

// rateSaturation finds the load from which on the server does not keep up, and its capacity.
func (l *Levels) rateSaturation(a *metrics.Answer, order []*level) {
	o, found := l.overloaded(order)
	switch {
	case l.drifts(&o, found):
		a.Drifting, a.Why = true, "the server became slower under a load that stayed the same"
		return
	case !found:
		highest := order[len(order)-1]
		switch a.Why = "no saturation up to " + highest.load(); {
		case len(l.list) == 1 && l.plan.Ramp == nil:
			a.Why = "steady load"
		case highest.behind.isBehind():
			a.Why = "behind at " + highest.load() + ", too short for a capacity"
		}
		return
	}
	passed := o.first // work is left undone before the load is that of the capacity
	for passed < o.last && l.list[passed].Offered < o.capacity.Low {
		passed++
	}
	a.Saturates, a.Capacity, a.SaturatedAt = true, o.capacity, l.list[passed].From
	a.Confirmed = !l.Live || o.errors >= 2*overloadErrors
	for _, v := range order {
		if v.Offered <= o.capacity.Low {
			a.From, a.Before = v.Offered, v.index
		}
		if v.Offered >= o.capacity.High && a.To == 0 {
			a.To, a.After = v.Offered, v.index
		}
	}
	a.Shown = o.last
	if a.After >= 0 && l.list[o.last].Offered < l.list[a.After].Offered {
		a.Shown = a.After
	}
}

// overloaded finds the overload that is surest: levels that follow one another, of rising load, in which the server
// left the most work undone, in standard errors.
func (l *Levels) overloaded(order []*level) (best overload, found bool) {
	low := order[:max(1, len(order)/3)]
	base := metrics.Median(metrics.Each(low, func(v *level) float64 { return v.base().Seconds() }))
	wait := metrics.Median(metrics.Each(low, func(v *level) float64 { return v.wait[thirds-1].quantile(0.5) }))
	failing := metrics.Median(metrics.Each(low, func(v *level) float64 { return metrics.Share(v.failed, v.over) }))
	for last := range l.list {
		v := &l.list[last]
		if v.Unit == metrics.Users || last+1 < len(l.list) && l.follows(last+1) && l.list[last+1].Offered >= v.Offered {
			continue
		}
		for first := last; first >= 0; first-- {
			if o, sure := l.overloadOf(first, last, base, wait, failing); sure && o.errors > best.errors {
				best, found = o, true
			}
			if first == 0 || !l.follows(first) || l.list[first-1].Offered > l.list[first].Offered {
				break
			}
		}
	}
	if !found {
		return best, false
	}
	l.measure(&best, base, wait)
	return best, best.capacity.Known()
}

// staysBehind reports whether a level is behind, by its own work or its first chunks, and all later ones up to another
// are too, or failed most of their requests or have none that ended.
func (l *Levels) staysBehind(first, last int) bool {
	if v := &l.list[first]; !v.behind.isBehind() || l.ramps(v) {
		return false
	}
	recovered := func(v level) bool { return !v.behind.isBehind() && 2*v.Good > v.Requests }
	return !slices.ContainsFunc(l.list[first+1:last+1], recovered)
}

// queued reports whether the requests at the end of a level waited that many times as long for their first chunk as at
// low loads.
func (v *level) queued(wait, times float64) bool {
	return v.wait[thirds-1].quantile(0.5) > times*wait+waitLongerBy
}

// follows reports whether a level begins where the one before ends.
func (l *Levels) follows(i int) bool {
	return i > 0 && l.list[i].From-l.list[i-1].To < shortestLevel && !l.list[i-1].unanswered && !l.list[i].unanswered
}

// overloadOf is what levels left undone, and whether that is surely an overload.
func (l *Levels) overloadOf(first, last int, base, wait, failing float64) (o overload, sure bool) {
	o = l.undone(first, last, base, failing)
	v := &l.list[last]
	o.queued = v.queued(wait, waitLonger)
	longer := v.whole[thirds-1].quantile(0.5) > overloadLonger*base || o.queued || o.refused
	sure = o.share >= overloadShare && (o.errors >= overloadErrors || longer && o.errors >= overloadFewer)
	if l.staysBehind(first, last) {
		sure, o.queued, o.errors = true, true, max(o.errors, overloadErrors)
	}
	return o, sure || v.queued(wait, waitMuchLonger) && o.share > 0
}

// undone is what levels left undone. More requests are in flight at a higher load, without a queue.
func (l *Levels) undone(first, last int, base, failing float64) overload {
	a, b := &l.list[first], &l.list[last]
	w := &l.work
	o := overload{first: first, last: last, from: a.From, to: min(b.To, w.known)}
	if first == 0 { // a server that warms up is slower than it will be
		o.from += time.Duration(warmMost * float64(a.To-a.From))
	}
	asked, lost := w.between(w.asked, o.from, o.to), w.between(w.lost, o.from, o.to)
	before := 0.0
	if first > 0 && l.follows(first) {
		before = l.list[first-1].Offered
	}
	grown := max(0, b.Offered-before) * base
	lost -= failing * asked
	left := w.backlog(o.to) - w.backlog(o.from) - grown + max(0, lost)
	if asked > 0 {
		o.share, o.errors = left/asked, left/math.Sqrt(2*asked)
		o.refused = lost/asked > overloadFailing && lost > left/2
	}
	return o
}

// measure finds the time in which there was a queue, and how fast the server worked in it.
func (l *Levels) measure(o *overload, base, wait float64) {
	w := &l.work
	if o.refused {
		o.capacity = w.doneRate(o.from, o.to)
		if o.first == o.last { // one load does not show what the server refuses because of bunches
			o.capacity.High = max(o.capacity.High, l.list[o.last].Offered)
		}
		return
	}
	most := 2*l.list[o.last].Offered*base + 3 // in flight without a queue
	from, to := o.to, o.to
	for from > 0 && from > l.list[o.first].From-(o.to-o.from)/2 && w.backlog(from) > most {
		from -= w.width
	}
	from = max(0, from)
	for to < min(l.now, w.known) && w.backlog(to) > most {
		to += w.width
	}
	if to > o.to { // the last requests are not served at full speed any more
		to = max(o.to, to-w.width)
	}
	if o.queued {
		first := o.last
		for first > o.first && l.list[first-1].queued(wait, waitLonger) {
			first--
		}
		from = min(from, max(o.from, l.list[first].From))
	}
	if from >= o.to {
		from = o.from
	}
	if full := l.list[o.first].From + time.Duration(base*float64(time.Second)); from < full && full < to-(to-from)/2 {
		from = full // the first requests take their time
	}
	o.from, o.to = from, to
	o.capacity = w.doneRate(from, to)
	// Where requests take a large part of that time, short ones have ended before long ones.
	last := l.list[o.last].whole[thirds-1].quantile(0.5)
	if part := last / (2 * (to - from).Seconds()); part > 0 {
		o.capacity.Low = max(0, min(o.capacity.Low, o.capacity.Load*(1-part)))
	}
}

// drifts reports whether the server became slower under a load that stayed the same: where it keeps up, by the time of
// serving a request; behind a queue, by the work that it does.
func (l *Levels) drifts(o *overload, found bool) bool {
	w := &l.work
	for i := range l.list {
		v := &l.list[i]
		length := v.To - v.From
		if v.Unit == metrics.Users || length < max(driftShortest, requestTimes*v.base()) ||
			l.plan.Ramp != nil && v.set == nil || !v.Standing.Evidence() || !v.behind.clear {
			continue
		}
		rises := true
		for k := 1; k < thirds; k++ {
			before, after := v.service[k-1], v.service[k]
			rises = rises && len(before) >= 30 && len(after) >= 30
			for _, q := range []float64{0.25, 0.5, 0.75} {
				rises = rises && after.quantile(q) > (1+driftRise)*before.quantile(q)
			}
		}
		if rises {
			return true
		}
	}
	if !found || o.refused || o.to-o.from < driftShortest {
		return false
	}
	a, b := o.from+(o.to-o.from)/3, o.from+2*((o.to-o.from)/3)
	first, middle, last := w.doneRate(o.from, a), w.doneRate(a, b), w.doneRate(b, o.to)
	return last.High < (1-driftFall)*first.Load && last.Load < (1-driftFall)*first.Low &&
		middle.Load < first.Load && last.Load < middle.Load
}

// userSaturation finds the number of users from which on more users add little throughput.
func (l *Levels) userSaturation(a *metrics.Answer, order []*level) {
	last := len(order) - 1
	top := 0.0
	for _, v := range order {
		top = max(top, v.Done)
	}
	served, full := -1, -1 // the last level that more users added to, and the first that reaches the highest throughput
	for i, v := range order {
		switch {
		case v.Done >= fullThroughput*top && full < 0:
			full = i
		case v.Done < fullThroughput*top && full < 0:
			served = i
		}
	}
	for full > 0 && order[full].Done < leastDone(order[full-1], order[full]) {
		full-- // a step that added little
	}
	served = min(served, full-1)
	if full < 0 || full == last || order[last].Done > leastDone(order[full], order[last]) {
		a.Why = "no saturation up to " + order[last].load()
		return
	}
	a.Saturates, a.To, a.After, a.Shown = true, order[full].Offered, order[full].index, order[full].index
	a.SaturatedAt = l.list[a.After].From
	if served >= 0 {
		a.From, a.Before = order[served].Offered, order[served].index
	}
	a.Confirmed = !l.Live || last-full > 1
}

const (
	// leastGain is the share of the proportional throughput that more users must add.
	leastGain = 0.25
	// fullThroughput is the part of the highest throughput from which on it counts as reached.
	fullThroughput = 0.93
)

// leastDone is the throughput at a level of more users from which on these add more than little to that of another.
func leastDone(of, more *level) float64 { return of.Done * (1 + leastGain*(more.Offered/of.Offered-1)) }

// oneOfEach keeps the longest level of each load, of those in order.
func oneOfEach(order []*level) (kept []*level) {
	for _, v := range order {
		switch n := len(kept); {
		case n == 0 || kept[n-1].Offered != v.Offered:
			kept = append(kept, v)
		case v.To-v.From > kept[n-1].To-kept[n-1].From:
			kept[n-1] = v
		}
	}
	return slices.Clip(kept)
}
