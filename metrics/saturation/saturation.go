package saturation

import (
	"math"
	"slices"
	"time"

	"benchtop/metrics"
)

// The rule of saturation; docs/metrics.md explains it.
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

// levelWaits are the times to the first chunk, and the median time to the last one, in milliseconds from the arrival.
type levelWaits struct{ p50, p99, whole float64 }

func (l *Levels) waitsOf(v *level) levelWaits {
	s := l.merge(v.pace.wait).statistic([]float64{50, 99})
	return levelWaits{s.Percentiles[0].Value, s.Percentiles[1].Value, l.merge(v.pace.whole).statistic(nil).Median}
}

// merge joins both halves. The result is valid until the next call.
func (l *Levels) merge(halves [2]figures) figures {
	l.merged = mergeSorted(l.merged[:0], halves[0].sorted(), halves[1].sorted())
	return l.merged
}

// rateSaturation finds the rate from which on the server does not keep up.
func (l *Levels) rateSaturation(a *metrics.Answer, order []*level) {
	lowest, top := order[0].Offered, order[len(order)-1].Offered
	for _, v := range order {
		v.waits = l.waitsOf(v)
	}
	base := baseline(order)
	for _, v := range order {
		for _, times := range []int{longer, muchLonger} {
			if l.isPast(v, base, float64(times)) {
				v.past = times
			}
		}
	}
	order = l.worst(order)
	last := len(order) - 1
	if order[last].index == 0 && order[last].past == 0 {
		last-- // a run that begins at its highest load shows saturation late
	}
	first := last + 1
	for first > 0 && order[first-1].past > 0 {
		first--
	}
	if first > last || first == last && order[last].past < muchLonger {
		a.Why = "no saturation up to " + load(top, false)
		return
	}
	seen := first
	served := l.served(order[first : last+1])
	first = l.refine(order, first, last, served)
	l.behind(order[first].Offered, served)
	if first == 0 {
		a.Why = "saturated from " + load(lowest, false) + " on"
		return
	}
	a.Saturates, a.Before, a.After = true, order[first-1].index, order[first].index
	a.Confirmed = !l.Live || last > first
	a.Shown = shown(order[max(first, seen):last+1], order[first-1].waits).index
}

// behind reduces the completed shares of the levels past saturation, from a load on, to the rate that the server served, 0 if unknown, and
// to the share that follows from the rising length of their requests, which is not chance any more.
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

// shown is the level that shows saturation: the first whose tail is longer than before, else the one with the longest tail.
func shown(past []*level, before levelWaits) *level {
	longest := past[0]
	for _, v := range past {
		if v.waits.p99 > longer*before.p99 {
			return v
		}
		if v.waits.p99 > longest.waits.p99 {
			longest = v
		}
	}
	return longest
}

// refine moves the first level past saturation to the first load above the served rate. Waits show saturation early where arrivals come
// in bunches, and late where a queue has to grow first or requests take long. Earlier levels whose effect had time to show stay.
func (l *Levels) refine(order []*level, first, last int, served float64) int {
	switch {
	case served == 0:
		return first
	case served < order[0].Offered:
		return 0 // every level is past saturation: the early ones had just begun
	}
	for first < last && order[first].Offered <= served {
		first++
	}
	seen := order[first].From
	for moved := 0; first > 0; moved++ {
		before := order[first-1]
		life := time.Duration(before.waits.whole * float64(time.Millisecond)) // of a request, with its wait for a slot
		if before.Offered <= served || moved >= mostMoved && before.To+life <= seen {
			break
		}
		first--
	}
	return first
}

// served is the rate at which the server began to answer the requests of levels past saturation. Where it is below the rate of arrivals
// there was a queue all the time, and it is the capacity of the server. It is 0 where the server kept up.
func (l *Levels) served(past []*level) float64 {
	in := longestRun(past)
	firsts := l.firsts[:0]
	scheduled := 0
	for _, v := range in {
		firsts = append(firsts, v.firsts...)
		scheduled += v.scheduled
	}
	l.firsts = firsts
	served := usualRate(firsts)
	came := metrics.PerSecond(float64(scheduled), (in[len(in)-1].To - in[0].From).Seconds())
	if served >= keepsUp*came {
		return 0
	}
	return served
}

// longestRun is the longest sequence of levels that followed one another, because they share a queue.
func longestRun(all []*level) (longest []*level) {
	in := slices.SortedFunc(slices.Values(all), func(a, b *level) int { return a.index - b.index })
	for from, to := 0, 0; from < len(in); from = to {
		for to = from + 1; to < len(in) && in[to].index == in[to-1].index+1; {
			to++
		}
		if to-from > len(longest) {
			longest = in[from:to]
		}
	}
	return longest
}

// usualRate is the usual number of moments in a second. The time is cut into pieces of twenty moments on average, and the quarters with
// the fewest and with the most moments are left out, so that a stall does not count.
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
		pieces[min(max(piece, 0), n-1)]++ // a damaged journal may hold any times
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
func baseline(order []*level) levelWaits {
	lowest := order[:min(max(1, len(order)/baselinePart), mostBaseline)]
	median := func(of func(levelWaits) float64) float64 {
		return metrics.Median(metrics.Each(lowest, func(l *level) float64 { return of(l.waits) }))
	}
	return levelWaits{
		median(func(w levelWaits) float64 { return w.p50 }),
		median(func(w levelWaits) float64 { return w.p99 }),
		median(func(w levelWaits) float64 { return w.whole }),
	}
}

// isPast reports whether a level is past saturation: too many of its requests failed, or requests took longer and longer, or the waits
// are the given times those of the baseline, for the whole requests twice that, and no older queue explains them.
func (l *Levels) isPast(v *level, base levelWaits, times float64) bool {
	if v.pace.Succeeded() < 1-(1-fewestDone)*times/longer {
		return true
	}
	if rise, significant := trend(v.pace.whole, v.To-v.From); significant && rise > growing && times == longer {
		return true
	}
	higher := func(before level) bool { return before.Offered > v.Offered }
	if rise, _ := trend(v.pace.wait, v.To-v.From); rise < -shrinking && slices.ContainsFunc(l.list[:v.index], higher) {
		return false
	}
	w := &v.waits
	above := func(ms, base, times float64) bool { return ms > times*base && ms > base+longerMS }
	return above(w.p50, base.p50, times) && above(w.p99, base.p99, times) || above(w.whole, base.whole, 2*times)
}

// userSaturation finds the number of users from which on more users add little throughput.
func (l *Levels) userSaturation(a *metrics.Answer, order []*level) {
	last := len(order) - 1
	turn := last
	for turn > 0 && gain(order[turn-1], order[turn]) < leastGain {
		turn--
	}
	if turn == last {
		a.Why = "no saturation up to " + load(order[last].Offered, true)
		return
	}
	a.Saturates, a.Before, a.After, a.Shown = true, order[turn].index, order[turn+1].index, order[turn+1].index
	a.Confirmed = !l.Live || last-turn > 1
}

// leastGain is the share of the proportional throughput that more users must add.
const leastGain = 0.25

// gain is the share of the proportional throughput that the step to a higher number of users added.
func gain(a, b *level) float64 {
	if a.Done <= 0 || b.Offered <= a.Offered {
		return math.Inf(1)
	}
	return (b.Done/a.Done - 1) / (b.Offered/a.Offered - 1)
}

// Pace measures whether requests are completed as fast as they arrive. If the time from the arrival of a request to its end rises by r
// seconds in a second of arrivals, n/(1+r) requests are completed in the time in which n arrive, and the rest is the queue. This holds
// for any length of requests, so it needs no guess as to which requests belong to a level.
type Pace struct {
	succeeded, failed int
	// wait and whole are the times to the first and to the last chunk, of the requests of the first and of the second half.
	wait, whole [2]figures
}

// Add counts a success that arrived between from and to. wait and whole are the times from its arrival to its first and last chunk.
func (p *Pace) Add(at, from, to, wait, whole time.Duration) {
	p.succeeded++
	half := 0
	if at-from >= to-at {
		half = 1
	}
	p.wait[half].add(wait.Seconds())
	p.whole[half].add(whole.Seconds())
}

// Fail counts a failure, which is not completed.
func (p *Pace) Fail() { p.failed++ }

// Succeeded is the share of successes, from 0 to 1; 1 without requests.
func (p *Pace) Succeeded() float64 { return 1 - metrics.Share(p.failed, p.succeeded+p.failed) }

// Empty forgets all requests.
func (p *Pace) Empty() {
	p.succeeded, p.failed = 0, 0
	for _, of := range []*[2]figures{&p.wait, &p.whole} {
		of[0], of[1] = of[0][:0], of[1][:0]
	}
}

// settledBy is the length of a level, in usual lengths of a request, from which on a rise of that length counts. A load that begins fills
// the server's batch, and each request takes longer than the one before. Requests that are served together are fast or slow together.
const settledBy = 10

// fewestPerHalf is the number of requests from which on their spread measures chance.
const fewestPerHalf = 10

// Completed is the share, from 0 to 1, of the arrivals of a level of this length that were completed at its pace: the share of successes,
// reduced where requests took longer and longer by more than chance.
func (p *Pace) Completed(length time.Duration) float64 {
	usual := p.whole[0].statistic(nil).Median / 1000
	return p.completed(length, usual > 0 && length.Seconds() >= settledBy*usual)
}

// completed also counts the time to the last chunk if byWhole, as for a server that begins every request at once.
func (p *Pace) completed(length time.Duration, byWhole bool) float64 {
	most := 0.0
	if rise, significant := trend(p.wait, length); significant {
		most = max(most, rise)
	}
	if rise, significant := trend(p.whole, length); significant && byWhole {
		most = max(most, rise)
	}
	return p.Succeeded() / (1 + most)
}

// trend is the rise of the mean from the first to the second half of a level of this length, in seconds a second. It is significant if
// it exceeds three standard errors of enough requests.
func trend(of [2]figures, length time.Duration) (rise float64, significant bool) {
	if len(of[0]) == 0 || len(of[1]) == 0 {
		return 0, false
	}
	a, b := of[0].statistic(nil), of[1].statistic(nil)
	rose := b.Mean - a.Mean
	spread := math.Sqrt(a.Std*a.Std/float64(a.N) + b.Std*b.Std/float64(b.N))
	return rose / 1000 / (length.Seconds() / 2), min(a.N, b.N) >= fewestPerHalf && math.Abs(rose) > 3*spread
}

// figures are times in seconds, one for each request, in any order. Their memory can be reused, unlike that of a sample.
type figures []float64

func (f *figures) add(seconds float64) { *f = append(*f, seconds) }

// sorted puts the figures in rising order.
func (f figures) sorted() figures {
	if !slices.IsSorted(f) {
		slices.Sort(f)
	}
	return f
}

// statistic sorts the figures and sums them up.
func (f figures) statistic(percentiles []float64) metrics.Statistic {
	return metrics.StatisticOf(f.sorted(), percentiles)
}

// mergeSorted merges two lists in rising order.
func mergeSorted(out, a, b figures) figures {
	for len(a) > 0 && len(b) > 0 {
		if a[0] <= b[0] {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}
