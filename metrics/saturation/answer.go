package saturation

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"benchtop/metrics"
)

// fewestRequests is the number of requests from which on a level counts.
const fewestRequests = 5

// Judge computes the figures of each level, and from them the answer.
func (l *Levels) Judge() ([]metrics.LoadLevel, metrics.Answer) {
	l.finish()
	a := l.answer()
	return metrics.Each(l.list, func(v level) metrics.LoadLevel { return v.LoadLevel }), a
}

// answer reads the finished levels.
func (l *Levels) answer() metrics.Answer {
	a := metrics.Answer{SaturatedAt: metrics.Never}
	l.stand()
	order := l.byLoad()
	doubt, lowest := l.doubt()
	if len(order) == 0 {
		a.Why = cmp.Or(doubt, tooFew)
		return a
	}
	a.Users = order[0].Users
	if slices.ContainsFunc(order, func(v *level) bool { return v.Users != a.Users }) {
		a.Why = "rate stages and user stages mixed"
		return a
	}
	switch {
	case len(l.list) == 1 && l.plan.Ramp == nil:
		a.Why = "steady load"
	case len(order) < 2:
		a.Why = cmp.Or(doubt, tooFew)
	case a.Users:
		l.userSaturation(&a, l.longest(order))
	default:
		l.rateSaturation(&a, order)
	}
	if !a.Saturates && lowest {
		a.Why = doubt // the baseline itself is no evidence
	}
	if a.Saturates {
		a.From, a.To = l.list[a.Before].Offered, l.list[a.After].Offered
		a.SaturatedAt = l.list[a.After].From
	}
	l.stand() // the search for saturation may have lowered the completed shares
	for i := range l.tiers {
		switch of := l.tier(i, order); {
		case i == 0:
			a.Within, a.Highest, a.HighestLevel, a.Confidence = of.Within, of.Highest, of.HighestLevel, of.Confidence
		default:
			a.Others = append(a.Others, of)
		}
	}
	return a
}

const tooFew = "too few requests"

// doubt describes why most of the levels that are no evidence are none, "" without such levels, and reports whether the lowest of all loads is one of them.
func (l *Levels) doubt() (text string, lowest bool) {
	limited, unanswered := 0, 0
	var least *level
	for i := range l.list {
		v := &l.list[i]
		switch {
		case v.unanswered:
			unanswered++
		case len(v.Limited) > 0:
			limited++
		}
		if least == nil || v.Offered < least.Offered {
			least = v
		}
	}
	switch {
	case unanswered > limited:
		text = l.outages.why
	case limited > 0:
		text = fmt.Sprintf("client overloaded in %d of %d levels", limited, len(l.list))
	}
	return text, least != nil && !least.evidence()
}

func load(v float64, users bool) string {
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) + " " + metrics.LoadUnit(users)
}

// A load may be set more than once in a run. One of its levels represents it then, so that equal loads are no step between loads.

// worst keeps one level of each load that was set: the first of those furthest past saturation. A queue takes time to grow, so a
// shorter level of the same load may miss it.
func (l *Levels) worst(order []*level) []*level {
	return l.oneOfEach(order, func(v, than *level) bool {
		return v.past > than.past || v.past == 0 && than.past == 0 && v.Requests > than.Requests
	})
}

// longest keeps the longest level of each load that was set.
func (l *Levels) longest(order []*level) []*level {
	return l.oneOfEach(order, func(v, than *level) bool { return v.To-v.From > than.To-than.From })
}

// oneOfEach keeps the best level of each load, the first of equals. Levels of the same load are neighbours in order. All levels of a
// plan are kept.
func (l *Levels) oneOfEach(order []*level, better func(v, than *level) bool) []*level {
	if !l.steered {
		return order
	}
	var kept []*level
	for _, v := range order {
		last := len(kept) - 1
		switch {
		case last < 0 || kept[last].Offered != v.Offered:
			kept = append(kept, v)
		case better(v, kept[last]):
			kept[last] = v
		}
	}
	return kept
}

// byLoad are the levels with enough requests that are evidence of the server, by rising load. Where the load was set during the run, a
// level that missed the objectives does not count if the queue of a higher load right before it explains that.
func (l *Levels) byLoad() (order []*level) {
	for i := range l.list {
		if v := &l.list[i]; v.Requests >= fewestRequests && v.evidence() && !l.suffered(i) {
			order = append(order, v)
		}
	}
	slices.SortStableFunc(order, func(a, b *level) int { return cmp.Compare(a.Offered, b.Offered) })
	return order
}

// suffered reports whether a level missed the objectives right after a higher load that missed them.
func (l *Levels) suffered(i int) bool {
	if !l.steered || i == 0 || !l.plan.Judges(l.SLO) {
		return false
	}
	v, before := &l.list[i], &l.list[i-1]
	return before.Offered > v.Offered && v.From-before.To < 2*shortestLevel &&
		!l.plan.Enough(v.share()) && !l.plan.Enough(before.share())
}

func (v *level) share() float64 { return metrics.Share(v.Good, v.Requests) }

// ShareAtLeast is the probability that the true share of good requests is at least least, when good of n were. It follows from
// Bayes' rule with a uniform prior, and is that of a beta distribution,
//
//	P(share >= least) = 1 - I_least(good+1, n-good+1) = P(X <= good), X binomial of n+1 draws with chance least,
//
// where the sum of the binomial's terms is exact for any n. It assumes independent requests, which neighbours in a queue are not, so it
// is a lower bound for the effect of chance.
func ShareAtLeast(good, n int, least float64) float64 {
	switch {
	case n <= 0 || good < 0 || good > n || math.IsNaN(least):
		return 0
	case least <= 0:
		return 1
	case least >= 1:
		return 0
	}
	draws := n + 1
	odds := least / (1 - least)
	if float64(good) >= float64(draws)*least {
		// The terms above good are the smaller part, and fall from there.
		sum, term := 0.0, binomial(good+1, draws, least)
		for k := good + 1; k <= draws && term > sum*1e-17; k++ {
			sum += term
			term *= float64(draws-k) / float64(k+1) * odds
		}
		return max(0, 1-sum)
	}
	sum, term := 0.0, binomial(good, draws, least)
	for k := good; k >= 0 && term > sum*1e-17; k-- {
		sum += term
		term *= float64(k) / float64(draws-k+1) / odds
	}
	return min(sum, 1)
}

// binomial is the chance of k out of n.
func binomial(k, n int, p float64) float64 {
	lgamma := func(v int) float64 {
		l, _ := math.Lgamma(float64(v))
		return l
	}
	return math.Exp(lgamma(n+1) - lgamma(k+1) - lgamma(n-k+1) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

// Summary is a request that ended, as the levels count it.
type Summary struct {
	// LoadTime decides to which level the request belongs; see Plan.LoadTime.
	LoadTime      time.Duration
	Class         string
	OK, Cancelled bool

	NoSocket  bool // the client's own system refused it
	Unreached bool // it failed as without a server

	// Answered is the last sign of the server after Sent, Never for none.
	Sent, Answered, Done time.Duration

	// The following are set for successes only. Wait and Whole are the times from LoadTime to the first and the last chunk, Late is the
	// client's own lateness.
	First                   time.Duration
	TTFT, Wait, Whole, Late time.Duration
	Rest                    metrics.OtherObjectives
	Output                  int
}

// Summarize sums up a request that ended.
func Summarize(p *metrics.Plan, q *metrics.Request) Summary {
	f := Summary{
		LoadTime: p.LoadTime(q), OK: q.OK(), Cancelled: q.Failure == metrics.Cancelled, NoSocket: q.Failure == metrics.FailedNoSocket,
		Class: q.Class, Unreached: q.Unreached(), Sent: q.Sent, Answered: q.Answered(), Done: q.Done,
	}
	if f.OK {
		f.First, f.TTFT, f.Output = q.FirstChunk, q.TTFT(), q.OutputTokens
		f.Wait, f.Whole = max(f.TTFT, q.FirstChunk-f.LoadTime), max(q.E2EL(), q.LastChunk-f.LoadTime)
		f.Late = max(0, q.OwnLateness())
		f.Rest = q.OtherObjectives()
	}
	return f
}

// outcome of a success, with its latencies counted from LoadTime.
func (f *Summary) outcome() metrics.Outcome {
	return metrics.OutcomeOf(f.Wait, f.Whole, f.Output, f.Rest)
}

// Ratio is the latency of a request that is nearest to its limit over that limit, with latencies counted from its load time: at most 1 for a
// success that met every objective, infinite for a failure.
func Ratio(p *metrics.Plan, slo metrics.SLO, q *metrics.Request) float64 {
	f := Summarize(p, q)
	if !f.OK {
		return math.Inf(1)
	}
	o := f.outcome()
	return p.ObjectivesFor(q.Class, slo).Ratio(&o)
}
