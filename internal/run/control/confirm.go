package control

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"benchtop/internal/findings"
	"benchtop/internal/search"
	"benchtop/metrics"
	"benchtop/metrics/judge"
)

// The constants of a confirmation.
const (
	// firstHeld is the part of the estimate that is held first, and of a load without a proof that is held next. Holds
	// of 60 s at 0.8 of the border are proven in 47 %, at 0.7 in 72 %.
	firstHeld = 0.75
	// aboveEstimate is how far above an estimate without a bound the border may be.
	aboveEstimate = 1.3
	// leastRise is the part by which a load has to be higher than one that is proven to be worth a hold.
	leastRise = 0.03
	// drainMost is the longest wait for a queue.
	drainMost = time.Minute
	// mostUnproven are the holds without any proof after which a confirmation ends: whatever the server does, it ends.
	mostUnproven = 8
)

// confirmation holds loads after the plan's own, to prove the highest within the objectives, and ends the run.
//
//	awaited ──the plan is over──▶ draining ⇄ holding ──▶ the end of the run
//	   └──a load by hand──▶ left to the clock
type confirmation struct {
	phase confirmPhase
	next  time.Duration // when to look
	began time.Duration // of the drain
	left  time.Duration // of the budget
	holds int
	// proven is the highest load that is, unproven the lowest that was held without a proof; 0 for none.
	proven, unproven float64
	confidence       float64
	last             string // what became of the last load
}

type confirmPhase uint8

const (
	awaited confirmPhase = iota
	draining
	holding
	leftToClock
)

// confirmOn takes the next step of a confirmation when it is due.
func (c *Controller) confirmOn(now time.Duration) {
	f := c.confirm
	f.next = now + verdictEvery
	switch f.phase {
	case awaited:
		if c.planOver(now) {
			c.drainFor(now, "the load of the plan is over; confirmation: waiting for the queue to drain")
		}
	case leftToClock:
		if c.Plan.Duration > 0 && now >= c.Plan.Duration || !c.loadSet && c.Engine.PlanSent() {
			c.confirm = nil
			c.Engine.StopSending()
		}
	case draining:
		if now-f.began >= drainMost || c.Looks.Unfinished() == 0 {
			c.confirmNext()
		}
	case holding:
		c.confirmHeld(now)
	}
}

// planOver reports whether the load of the plan, or its search, has ended. The clock ends a search.
func (c *Controller) planOver(now time.Duration) bool {
	byClock := c.Plan.Duration > 0 && now >= c.Plan.Duration
	if c.Plan.Find == nil {
		return byClock || c.Engine.PlanSent()
	}
	if byClock {
		c.endSearch()
	}
	return c.search == nil
}

// drainFor pauses the arrivals until the queue is gone.
func (c *Controller) drainFor(now time.Duration, text string) {
	f := c.confirm
	f.phase, f.began = draining, now
	c.hold(metrics.ByConfirm, text)
	if !c.loadSet {
		c.loadSet = true
		c.Engine.LeavePlan()
	}
}

// confirmNext holds the next load, or ends the run.
func (c *Controller) confirmNext() {
	f := c.confirm
	looks := looksWithin(f.left)
	brief := f.holds == 0 && f.left < judge.ShortestProof // all that was asked for: evidence, if no proof
	switch {
	case len(looks) == 0, looks[len(looks)-1] < judge.ShortestProof && !brief:
		why := fmt.Sprintf("its time, %s, is up", metrics.Duration(c.Plan.Confirm))
		if left := f.left.Round(time.Second); left > 0 {
			why = fmt.Sprintf("the last %s of %s are too short", metrics.Duration(left),
				metrics.Duration(c.Plan.Confirm))
		}
		c.confirmed(why)
		return
	case f.proven == 0 && f.holds >= mostUnproven:
		c.confirmed(fmt.Sprintf("%d loads were held", f.holds))
		return
	}
	load, why := c.toConfirm()
	if load == 0 {
		c.confirmed(why)
		return
	}
	f.phase = holding
	f.holds++
	text := fmt.Sprintf("confirming %s: holding for looks after %s", c.String(load), lookWords(looks))
	if brief {
		text += ", too short for a proof"
	}
	c.holdLoad(load, metrics.ByConfirm, text, looks)
}

// toConfirm is the load to hold next, or why there is none.
func (c *Controller) toConfirm() (load float64, why string) {
	f := c.confirm
	a, levels := c.Judged()
	e, perArrival := c.estimate(&a, levels), c.requestsPerArrival()
	known := max(f.proven, a.Proven/perArrival)
	switch {
	case known > 0:
		top := e.High
		if !(top > 0) {
			top = max(e.Load, known) * aboveEstimate
		}
		if a.Capacity.Known() && !c.inUsers() {
			top = min(top, a.Capacity.Load/perArrival)
		}
		if f.unproven > 0 {
			top = min(top, f.unproven)
		}
		if load = c.whole(known + (top-known)/2); load < known*(1+leastRise) {
			return 0, "no higher load is left to hold"
		}
		return load, ""
	case f.unproven > 0:
		load = c.whole(f.unproven * firstHeld)
	case a.None:
		return 0, fmt.Sprintf("the lowest load, %s, missed the SLO", a.Unit.Text(a.LowestTried))
	case !e.Known():
		return 0, "no estimate to hold: " + cmp.Or(a.TierAnswer.Why, a.Why, "too few requests")
	default:
		load = c.whole(e.Load * firstHeld)
	}
	if !(load > 0) {
		return 0, "no lower load is left to hold"
	}
	return load, ""
}

// whole is a load as it is set: a number of users, or a rate of a few digits.
func (c *Controller) whole(load float64) float64 {
	if c.inUsers() {
		return math.Floor(load + 1e-9)
	}
	return search.Readable(load)
}

// requestsPerArrival is what a rate of the report is divided by for a rate that can be set.
func (c *Controller) requestsPerArrival() float64 {
	if of := c.Plan.Conversations; of != nil && !c.inUsers() && of.Turns > 0 {
		return of.Turns
	}
	return 1
}

// estimate is where the highest load within the objectives probably is: below the capacity where that is all that is
// known, and of users between the levels around it, which are tried in steps, so that there is no closer one.
func (c *Controller) estimate(a *metrics.Answer, levels []metrics.LoadLevel) (r metrics.Range) {
	if !c.inUsers() || a.Estimate.Known() {
		n, r := c.requestsPerArrival(), a.Estimate
		if !r.Known() && a.Saturates { // too wide to be told; the capacity bounds it
			r = metrics.Range{Load: a.Capacity.Low, High: a.Capacity.High}
		}
		return metrics.Range{Load: r.Load / n, Low: r.Low / n, High: r.High / n}
	}
	for i := range levels {
		if v := &levels[i]; v.Standing.Failed() && (r.High == 0 || v.Offered < r.High) {
			r.High = v.Offered
		}
	}
	for i := range levels {
		if v := &levels[i]; v.Good > 0 && (r.High == 0 || v.Offered < r.High) && !v.Standing.Failed() {
			r.Load = max(r.Load, v.Offered)
		}
	}
	r.Low = r.Load
	return r
}

// confirmHeld goes on when it is known what became of a load.
func (c *Controller) confirmHeld(now time.Duration) {
	f := c.confirm
	o, v, after := c.look(now)
	if o == undecided {
		return
	}
	load := c.held.load
	c.endHold()
	f.left -= after
	f.last = c.outcomeWords(load, o, &v, after)
	if o == proved {
		f.proven, f.confidence = max(f.proven, load), v.Confidence
	} else if f.unproven == 0 || load < f.unproven {
		f.unproven = load
	}
	if o != proved && f.left >= judge.ShortestProof {
		c.drainFor(now, "confirmation: "+f.last+"; waiting for the queue to drain")
		return
	}
	c.tellf(metrics.Info, "confirmation: %s", f.last)
	c.confirmNext()
}

// confirmed tells how the confirmation ended, and ends the sending.
func (c *Controller) confirmed(why string) {
	f := c.confirm
	c.confirm = nil
	if f.proven > 0 {
		text := fmt.Sprintf(metrics.ConfirmationEnded+": %s proven (%s); %s", c.String(f.proven),
			findings.Confidence(f.confidence), why)
		c.Tell(metrics.LogEntry{Level: metrics.Info, Text: text, Mark: "proven"})
	} else {
		if f.last != "" {
			why = f.last + "; " + why
		}
		c.Tell(metrics.LogEntry{Level: metrics.Warn, Text: metrics.ConfirmationEnded + " unproven: " + why,
			Mark: "unproven"})
	}
	c.Engine.StopSending()
}

// giveUpConfirmation ends a confirmation because the load is set by hand. One that was still to come leaves the end of
// the run to its clock or its number of requests.
func (c *Controller) giveUpConfirmation(leaves bool) {
	f := c.confirm
	if f.phase == leftToClock {
		return
	}
	begun := f.phase != awaited
	f.phase = leftToClock
	text := "no confirmation: load changed manually"
	if begun {
		text = "confirmation stopped: load changed manually"
		c.confirm = nil
	}
	if begun || leaves && c.Plan.Duration == 0 {
		text += "; the run continues until q"
	}
	c.tellf(metrics.Warn, "%s", text)
}

// endConfirmation tells that the run ended before the confirmation did.
func (c *Controller) endConfirmation() {
	f := c.confirm
	c.confirm = nil
	switch {
	case f.phase == leftToClock:
	case f.phase == awaited:
		c.tellf(metrics.Warn, "no confirmation: the run ended before")
	case f.proven > 0:
		c.tellf(metrics.Info, "confirmation stopped: %s proven (%s)", c.String(f.proven),
			findings.Confidence(f.confidence))
	default:
		c.tellf(metrics.Warn, metrics.ConfirmationEnded+" unproven: the run ended before")
	}
	c.Engine.StopSending() // the engine waits for it
}
