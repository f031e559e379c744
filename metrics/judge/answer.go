package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
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

const (
	tooFew   = "too few requests"
	tooShort = "nothing was held long enough"
	notEnded = "%d requests have not ended"
)

// answer reads the finished levels.
func (l *Levels) answer() metrics.Answer {
	a := metrics.Answer{SaturatedAt: metrics.Never, Before: -1, After: -1, Confirmed: true}
	a.ProvenLevel, a.HeldLevel = -1, -1
	for i := range l.list {
		l.stand(&l.list[i])
	}
	order := l.byLoad()
	doubt := l.doubt()
	if len(order) == 0 {
		a.Why = cmp.Or(doubt, tooFew)
		a.TierAnswer.Why = a.Why
		for range max(0, len(l.tiers)-1) {
			a.Others = append(a.Others, a.TierAnswer)
		}
		return a
	}
	a.Unit = order[0].Unit
	if slices.ContainsFunc(order, func(v *level) bool { return v.Unit != a.Unit }) {
		a.Why = "rate stages and user stages mixed"
		a.TierAnswer.Why = a.Why
		return a
	}
	a.LowestTried, a.HighestTried = order[0].Offered, order[len(order)-1].Offered
	switch kept := oneOfEach(order); {
	case a.Unit != metrics.Users:
		l.rateSaturation(&a, order)
	case len(kept) < 2:
		a.Why = "steady load"
	default:
		l.userSaturation(&a, kept)
	}
	if !a.Saturates && doubt != "" && !order[0].Standing.Evidence() {
		a.Why = doubt // the lowest load itself is no evidence
	}
	for i := range l.tiers {
		switch of := l.tier(i, order, &a); i {
		case 0:
			a.TierAnswer = of
		default:
			a.Others = append(a.Others, of)
		}
	}
	return a
}

// doubt describes why most of the levels that are no evidence are none, "" without such levels.
func (l *Levels) doubt() (text string) {
	limited, unanswered, partial := 0, 0, 0
	for i := range l.list {
		switch v := &l.list[i]; {
		case v.unanswered:
			unanswered++
		case v.missing != "":
			partial++
		case v.Standing == metrics.LevelLimited:
			limited++
		}
	}
	switch {
	case unanswered > limited:
		return l.why
	case partial > limited:
		return fmt.Sprintf("parts of the load are missing in %d of %d levels", partial, len(l.list))
	case limited > 0:
		return fmt.Sprintf("client overloaded in %d of %d levels", limited, len(l.list))
	}
	return ""
}

// load writes the load of a level to a tenth, below 1 with the digits that it has.
func (v *level) load() string {
	if v.Offered >= 1 {
		return v.Unit.Text(math.Round(v.Offered*10) / 10)
	}
	return v.Unit.Text(v.Offered)
}

// byLoad are the levels with enough requests of which the server knew, and of which all parts are known, by rising
// load.
func (l *Levels) byLoad() (order []*level) {
	for i := range l.list {
		if v := &l.list[i]; v.Requests >= fewestRequests && !v.unanswered && v.missing == "" {
			order = append(order, v)
		}
	}
	slices.SortStableFunc(order, func(a, b *level) int { return cmp.Compare(a.Offered, b.Offered) })
	return order
}

// stand judges a level by the objectives of each tier.
func (l *Levels) stand(v *level) {
	v.weights = v.weights[:0]
	if v.unanswered {
		v.Standing = metrics.LevelUnanswered
	}
	length := l.judgedFor(v)
	bins := len(v.arrivals)
	if length < v.To-v.From {
		bins = min(bins, int(length/v.width))
	}
	for tier := range l.tiers {
		w := v.tests[tier].weigh(v.width, bins)
		if base := v.base().Seconds(); base > 0 {
			w.lasting = min(w.lasting, (length-w.warm).Seconds()*perRequest/base)
			w.effective = min(w.effective, w.lasting)
		}
		for _, n := range v.arrivals[int(w.warm/v.width):bins] {
			w.arrived += n
		}
		v.weights = append(v.weights, w)
		l.standing(v, tier, &v.weights[tier], length)
		if of := v.verdict(tier); v.missing != "" && !v.unanswered && w.n > 0 {
			unknown(of, "no samples of part "+v.missing+" of the load")
		}
	}
}

// looked reports whether a level is judged by looks: its load was set, and may have been ended because of what was
// seen.
func (l *Levels) looked(v *level) bool {
	if l.sampled != nil {
		return l.sampled[0].Looks
	}
	return v.set != nil && !v.set.load.Ramping()
}

// ramps reports whether a level is a part of a ramp.
func (l *Levels) ramps(v *level) bool {
	return v.set != nil && v.set.load.Ramping() || v.set == nil && l.plan.Ramp != nil
}

// Look is the last look at a load that was held for so long, and the time to the next; 0 before the first.
func Look(held time.Duration) (look, next time.Duration) {
	for next = FirstLook; next <= held+shortestSlack/2; next *= 2 {
		look = next
	}
	return look, next - held
}

// heldFor is the length of a level so far: a Sample may be judged while its load is in force.
func (l *Levels) heldFor(v *level) time.Duration {
	if l.sampled != nil {
		return max(0, min(v.To, l.now)-v.From)
	}
	return v.To - v.From
}

// judgedFor is the length of a level of which its requests are judged: of one that was set, until the last look.
func (l *Levels) judgedFor(v *level) time.Duration {
	length := l.heldFor(v)
	if !l.looked(v) {
		return length
	}
	if look, _ := Look(length); look > 0 {
		return min(look, length)
	}
	return length
}

// standing fills in the verdict of a tier on a level, of which so much is judged.
func (l *Levels) standing(v *level, tier int, w *weight, length time.Duration) {
	of := v.verdict(tier)
	of.Effective, of.Standing, of.Why, of.Missing, of.Near = w.effective, metrics.LevelOpen, "", 0, false
	enough, passes := l.enough(tier)
	pending := w.arrived - w.n - v.tests[tier].without
	if float64(pending) <= pendingMost*float64(w.arrived) {
		pending = 0
	}
	worst, best := metrics.Share(w.worst, w.n+pending), metrics.Share(w.best+pending, w.n+pending)
	if !passes(worst) && passes(best) {
		w.pending = pending
	}
	because := func(format string, args ...any) {
		unknown(of, fmt.Sprintf(format, args...))
	}
	switch {
	case v.unanswered:
		of.Standing = metrics.LevelUnanswered
		return
	case w.n == 0:
		of.Standing = metrics.LevelOpen
		return
	case v.behind.isBehind():
		of.Standing, of.Confidence = metrics.LevelBehind, normal(v.behind.errors)
	case passes(worst):
		of.Standing, of.Confidence = metrics.LevelWithin, ShareAtLeast(worst*w.effective, w.effective, enough)
		if !v.behind.clear {
			because("the server may be behind by %.0f %%", 100*v.behind.share)
			return
		}
	case !passes(best):
		of.Standing, of.Confidence = metrics.LevelMissed, 1-ShareAtLeast(best*w.effective, w.effective, enough)
		if v.recovers() {
			because("a queue of its start was being worked off")
			return
		}
		if l.inherits(v) {
			because("the queue of the load before was not worked off")
			return
		}
	case w.pending > 0:
		because(notEnded, pending)
		return
	default:
		of.Standing, of.Confidence = metrics.LevelLimited, 0
		v.Limited = l.limitedBy(v)
		return
	}
	of.Confidence = min(of.Confidence, MostFor(length))
	if l.looked(v) {
		if of.Confidence < lookConfidence {
			of.Confidence = min(of.Confidence, shortMost)
		}
		of.Confidence = min(of.Confidence, looksConfidence)
	}
	if of.Standing == metrics.LevelBehind {
		if l.ramps(v) {
			of.Confidence = 0
		}
		return
	}
	l.missing(v, of, w, [2]float64{worst, best}, enough)
	missing := of.Missing
	if w.lasting < lastingLeast {
		missing = max(missing, time.Duration(float64(length-w.warm)*(lastingLeast/max(w.lasting, 0.5)-1)))
	}
	switch {
	case l.ramps(v):
		because("a part of a ramp is too short for a verdict")
	case w.n < int(lastingLeast):
		because("%d of %d good: at least %.0f %% at %.0f %% confidence", w.good, w.n,
			100*lowerBound(float64(w.good), float64(w.n)), 100*metrics.EnoughConfidence)
		of.Missing = missing
	case w.lasting < lastingLeast:
		least := metrics.Duration((length + missing).Round(time.Second))
		because("too short: the load must be held for at least %s", least)
		of.Missing = missing
	}
}

// unknown takes a standing back.
func unknown(of *metrics.LevelVerdict, why string) {
	of.Standing, of.Why, of.Confidence, of.Missing, of.Near = metrics.LevelUnknown, why, 0, 0, false
}

// enough is the share of good requests that a tier asks for, and the test of a share.
func (l *Levels) enough(tier int) (share float64, passes func(float64) bool) {
	if l.sampled == nil {
		share, _ = l.plan.EnoughGood()
		return share, l.plan.Enough
	}
	const surplus = 1e-9 // shares are not quite what they are written as
	share = l.sampled[tier].Enough
	return share, func(good float64) bool { return good >= share-surplus }
}

// recovers reports whether the first chunks come sooner and sooner, because the server was slow at first.
func (v *level) recovers() bool {
	rise, errors := trend(v.wait[:], v.To-v.From)
	return rise < -lagBehind && errors < -3
}

// inherits reports whether a level began with the queue of a higher load.
func (l *Levels) inherits(v *level) bool {
	return v.index > 0 && l.list[v.index-1].Offered > v.Offered &&
		l.work.backlog(v.From) > 2*v.Offered*v.base().Seconds()+lagFewest
}

// foreseen is how many times as many requests as there are, or as all good ones would be, a proof may need. Where it
// needs more, their share is within half of its standard error of the one asked for, and their number may be any.
const foreseen = 16

// missing is how much longer the load must be held for a proof, by a share of good requests at worst, or else at best.
func (l *Levels) missing(v *level, of *metrics.LevelVerdict, w *weight, shares [2]float64, enough float64) {
	if of.Standing != metrics.LevelWithin || of.Confidence >= metrics.EnoughConfidence {
		return
	}
	confidence := metrics.EnoughConfidence
	if l.looked(v) {
		confidence = lookConfidence
	}
	if w.effective == 0 {
		return
	}
	n, most := 0.0, foreseen*max(w.effective, needed(1, enough, confidence))
	for _, share := range shares {
		if n = needed(share, enough, confidence); n > 0 && n <= most {
			break
		}
	}
	if of.Near = n == 0 || n > most; of.Near {
		return
	}
	held, judged := l.heldFor(v), l.judgedFor(v)
	whole := max(ShortestProof, time.Duration(float64(judged-w.warm)*n/w.effective)+w.warm)
	if l.looked(v) {
		look, _ := Look(max(whole, held))
		for look < whole || look <= held {
			look *= 2
		}
		whole = look
	}
	of.Missing = max(0, whole-held)
}

// normal is the distribution function of the standard normal distribution.
func normal(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// alone makes an estimate by a single load say no more than it can: if most requests missed, of lower loads nothing is
// known.
func alone(t *metrics.TierAnswer, load metrics.LevelVerdict) {
	if t.Untested = t.Estimate.High == 0; t.Proven == 0 && 2*load.Good < load.Requests {
		t.Untested, t.Estimate, t.Why = false, metrics.Range{}, "most requests missed at the only load so far"
	}
}

// tier is the highest load within the objectives of a tier.
func (l *Levels) tier(tier int, order []*level, a *metrics.Answer) metrics.TierAnswer {
	t := metrics.TierAnswer{ProvenLevel: -1, HeldLevel: -1}
	if a.Drifting { // what held at first need not hold now
		t.Why = a.Why
		return t
	}
	for k := len(order) - 1; k >= 0; k-- {
		v := order[k]
		of := v.verdict(tier)
		if !sure(of, metrics.LevelWithin) || blocked(order[:k], v, tier) {
			continue
		}
		t.Proven, t.ProvenLevel, t.Confidence = v.achieved(), v.index, of.Confidence
		t.Untested = k == len(order)-1
		break
	}
	if a.Unit != metrics.Users && !t.Untested && !l.broken(order[0]) {
		t.Estimate = l.estimate(tier, order, a)
	}
	if t.Proven == 0 && sure(order[0].verdict(tier), metrics.LevelMissed) {
		t.None, t.Estimate = true, metrics.Range{}
	}
	if t.Proven == 0 && !t.Estimate.Known() && !t.None {
		t.Why = whyOpen(order, tier)
	}
	if t.Estimate.Known() && a.LowestTried == a.HighestTried {
		alone(&t, order[0].Tier(tier))
	}
	t.HeldLevel = l.held(order, tier, t.Proven)
	bound(&t, a)
	return t
}

// held is the level that needs the least further time for a proof of more than is proven, or the one that is on; -1 for
// none.
func (l *Levels) held(order []*level, tier int, proven float64) (held int) {
	if n := len(l.list) - 1; l.Live && n >= 0 {
		if of := l.list[n].verdict(tier); of.Missing > 0 || of.Near {
			return n
		}
	}
	held = -1
	for _, v := range order {
		missing := v.verdict(tier).Missing
		least := held < 0 || missing < l.list[held].verdict(tier).Missing
		if missing > 0 && v.Offered > proven && least {
			held = v.index
		}
	}
	return held
}

// broken reports whether failures alone keep a level outside the objectives. What fails at the lowest load may fail at
// any, so nothing says that a lower one is better.
func (l *Levels) broken(v *level) bool {
	enough, _ := l.plan.EnoughGood()
	return v.Requests > 0 && metrics.Share(v.failed, v.Requests) > 1-enough
}

// sure reports whether a level has a standing with enough confidence.
func sure(v *metrics.LevelVerdict, standing metrics.Standing) bool {
	return v.Standing == standing && v.Confidence >= metrics.EnoughConfidence
}

// whyOpen says why neither a load nor an estimate is known for a tier.
func whyOpen(order []*level, tier int) string {
	lowest := order[0].verdict(tier)
	switch pending := order[0].weights[tier].pending; {
	case pending > 0:
		return fmt.Sprintf(notEnded, pending)
	case lowest.Standing.Failed():
		return "loads below " + order[0].load() + " are untested"
	case slices.ContainsFunc(order, func(v *level) bool { return v.verdict(tier).Standing == metrics.LevelWithin }):
		return tooShort
	}
	return cmp.Or(lowest.Why, tooFew)
}

// bound makes the answer agree with what is proven: the border is no lower, and neither is the capacity.
func bound(t *metrics.TierAnswer, a *metrics.Answer) {
	if e := &t.Estimate; e.Known() && t.Proven > 0 {
		e.Low, e.Load = max(e.Low, t.Proven), max(e.Load, t.Proven)
		if e.High > 0 && e.High < t.Proven*1.02 {
			*e = metrics.Range{}
		}
	}
	switch c := &a.Capacity; {
	case !a.Saturates || !c.Known():
	case t.Proven > c.High: // the long evidence counts
		a.Saturates, a.Capacity, a.Why = false, metrics.Range{}, "a load above the measured capacity was served"
		a.Before, a.After, a.From, a.To, a.SaturatedAt = -1, -1, 0, 0, metrics.Never
	case t.Proven > c.Low:
		c.Low, c.Load = t.Proven, max(c.Load, t.Proven)
		if t.Proven > a.From {
			a.From, a.Before = t.Proven, t.ProvenLevel
		}
	}
}

// blocked reports whether a level that was within is in doubt, because a lower load failed on evidence that is no
// weaker.
func blocked(lower []*level, by *level, tier int) bool {
	than := by.verdict(tier).Confidence
	return slices.ContainsFunc(lower, func(v *level) bool {
		of := v.verdict(tier)
		return v.Offered < by.Offered && of.Standing.Failed() && of.Confidence >= than
	})
}
