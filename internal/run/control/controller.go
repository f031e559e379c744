// Package control drives the load of a run: along the plan and its stages, along ramps, in search of the highest load
// within the objectives, and by hand. It has no goroutine and opens no socket: its owner gives it commands and calls
// Move when Next says so.
package control

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"benchtop/metrics"
)

// Engine is what sends the load.
type Engine interface {
	SetRate(perSecond float64) bool
	// SetLimit changes the users as the plan says, SetUsers for another reason.
	SetLimit(users int)
	SetUsers(users int)
	Pause() bool
	Resume() bool
	StopSending()
	// LeavePlan ends the plan's arrivals in a run that goes on, and PlanSent says that all of them have come.
	LeavePlan()
	PlanSent() bool
	// Dispatched counts the requests handed over so far; Sending says that more may follow.
	Dispatched() int
	Sending() bool
}

// Options are what a Controller drives, and whom it tells.
type Options struct {
	Plan *metrics.Plan
	// Start is offset 0 of the run.
	Start time.Time
	// Led: another machine leads the run, so that the load only follows the plan here, until Yield.
	Led    bool
	Engine Engine
	// Tell files a fact of the run.
	Tell func(fact any)
	// Connect opens connections for so many users, beside the run.
	Connect func(users int)
	// Room says why this machine cannot hold so many connections, nil if it can.
	Room func(connections int) error
	// Whole reports whether all machines of the run are in sight, without which no load is proven; nil for one machine.
	Whole func() bool
	// Trial judges the loads of a search; nil where the plan has none.
	Trial *Trial
	// Looks judge the loads that are held.
	Looks *Looks
	// Judged is the answer of the run so far, and the levels that it follows from.
	Judged func() (metrics.Answer, []metrics.LoadLevel)
}

// Controller is the one driver of a load. One goroutine owns it.
type Controller struct {
	Options
	unit metrics.Unit // of the plan's load
	why  string       // the load cannot be set, "" if it can

	state metrics.Steering
	told  metrics.Steering // what Tell knows of it
	ramp  *ramp
	// loadSet says that the plan's load is no longer in force. A pause alone does not end it, but moves what follows:
	// shift is by how much, pausedAt when the last pause began.
	loadSet         bool
	shift, pausedAt time.Duration
	stage           int      // of the plan, told of last
	moments         []moment // of the plan, still to come
	next            time.Duration
	search          *activeSearch
	confirm         *confirmation
	held            *heldLoad
	closed          bool
}

// ramp moves a load in a straight line from a moment on, as the event that began it says.
type ramp struct {
	set   metrics.LoadSetting
	start time.Duration
}

const (
	// rampEvery is how often a ramp moves the load, planEvery how often the load that the plan asks for is told.
	rampEvery = 100 * time.Millisecond
	planEvery = 500 * time.Millisecond
	// mostUsers bounds the users that may be asked for to what a client can mean.
	mostUsers = 1_000_000
	// ConnectAhead is how long before more users begin their connections are opened, and how long that may take.
	ConnectAhead = time.Second
	// never is a moment beyond every run.
	never = time.Duration(math.MaxInt64)
)

// New prepares the control of a run whose plan is known, and tells the load it begins with.
func New(o Options) *Controller {
	c := &Controller{Options: o, unit: o.Plan.Unit(), next: planEvery}
	if !c.inUsers() && !o.Plan.Paced() {
		// The remedy comes first: a screen may be narrow.
		c.why = "needs --request-rate or --max-concurrency: all requests are due at once, so there is no rate to change"
		if o.Plan.Trace {
			c.why = "needs --no-self-timed and --request-rate: the trace sets the times, so there is no rate to change"
		}
	}
	c.state = metrics.Steering{LoadSetting: o.Plan.LoadAt(0, 0), Steerable: c.why == "", Why: c.why}
	c.schedule()
	c.tellState()
	return c
}

// Begin sends what the plan cannot: the first load of a search.
func (c *Controller) Begin() {
	if c.Plan.Find != nil && !c.Led {
		c.beginSearch()
	}
	if c.Plan.Confirm > 0 && !c.Led {
		c.confirm = &confirmation{left: c.Plan.Confirm}
	}
	c.next = c.now() + c.pause()
}

// Next is the offset of the run at which Move has something to do.
func (c *Controller) Next() time.Duration {
	next := c.next
	if c.search != nil {
		next = min(next, c.search.next)
	}
	if c.confirm != nil {
		next = min(next, c.confirm.next)
	} else if c.held != nil {
		next = min(next, c.held.when)
	}
	if len(c.moments) > 0 {
		next = min(next, c.moments[0].at)
	}
	if c.closed {
		return never
	}
	return next
}

// Move does what is due by now.
func (c *Controller) Move() {
	if c.closed {
		return
	}
	now := c.now()
	for len(c.moments) > 0 && c.moments[0].at <= now {
		c.moments[0].do()
		c.moments = c.moments[1:]
	}
	if now >= c.next {
		c.moveLoad()
		c.next = c.now() + c.pause()
	}
	if c.search != nil && now >= c.search.next {
		c.searchOn(now)
	}
	switch {
	case c.confirm != nil && now >= c.confirm.next:
		c.confirmOn(now)
	case c.confirm == nil && c.held != nil && now >= c.held.when:
		c.holdOn(now)
	}
}

// pause is how long the load stays as it is unless a command changes it.
func (c *Controller) pause() time.Duration {
	switch {
	case c.ramp != nil:
		return rampEvery
	case !c.loadSet && !c.state.Paused && (c.Plan.Ramp != nil || len(c.Plan.Stages) > 0):
		return min(planEvery, c.untilNextStage())
	}
	return time.Hour // nothing moves by itself
}

// set puts a load in force and ends pauses and ramps.
func (c *Controller) set(load float64, by, text string) {
	c.endRamp()
	c.force(load)
	c.Resume()
	c.changed(by, text, c.String(load))
}

// hold stops the arrivals.
func (c *Controller) hold(by, text string) {
	if c.ramp != nil {
		text += fmt.Sprintf("; ramp ended at %s", c.String(c.state.Value))
	}
	c.endRamp()
	c.Pause()
	c.changed(by, text, "paused")
}

// Pause stops the arrivals without telling of it.
func (c *Controller) Pause() {
	if !c.state.Paused {
		c.state.Paused, c.pausedAt = true, c.now()
		c.Engine.Pause()
	}
}

// Resume ends a pause without telling of it.
func (c *Controller) Resume() {
	if !c.state.Paused {
		return
	}
	c.state.Paused = false
	c.Engine.Resume()
	if !c.inUsers() {
		c.shift += c.now() - c.pausedAt
	}
	c.next = c.now() + c.pause()
}

// beginRamp begins a ramp from the load in force.
func (c *Controller) beginRamp(o metrics.Command) {
	from := c.state.Value
	c.force(from) // the plan is left at once, and the ramp begins where it stood
	c.Resume()
	c.state.RampTo, c.state.RampOver = o.Value, o.Over
	c.ramp = &ramp{c.state.LoadSetting, c.now()}
	if c.inUsers() && o.Value > from {
		c.Connect(int(o.Value))
	}
	c.changed(metrics.ByUser, fmt.Sprintf("manual ramp from %s to %s over %s", metrics.LoadNumber(from),
		c.String(o.Value), metrics.Duration(o.Over)), "→ "+c.String(o.Value))
}

func (c *Controller) endRamp() { c.ramp, c.state.RampTo, c.state.RampOver = nil, 0, 0 }

// moveLoad goes on along the ramp, or tells the load that the plan asks for meanwhile.
func (c *Controller) moveLoad() {
	switch {
	case c.ramp != nil:
		passed, to := c.now()-c.ramp.start, c.ramp.set.RampTo
		if passed >= c.ramp.set.RampOver {
			c.set(to, metrics.ByUser, "ramp finished at "+c.String(to))
			return
		}
		c.force(c.ramp.set.LoadAt(passed))
		c.tellState()
		return
	case c.loadSet || c.state.Paused:
		return
	}
	before := c.stage
	c.follow(c.state.By)
	if c.state.Changes > 0 && !c.inUsers() && c.stage > before {
		c.state.By = metrics.ByPlan
		c.file(c.stageEvent(c.stage, c.setting()))
		return
	}
	c.tellState()
}

// file tells the load in force, and an event.
func (c *Controller) file(e metrics.LogEntry) {
	c.tellState()
	c.Tell(e)
}

// tellState tells the load in force, unless it is known.
func (c *Controller) tellState() {
	if c.state != c.told {
		c.told = c.state
		c.Tell(c.state)
	}
}

// force makes the engine send at a load.
func (c *Controller) force(load float64) {
	c.loadSet = true
	if !c.inUsers() {
		c.state.Value = load
		c.Engine.SetRate(load)
		return
	}
	n := max(1, int(math.Round(load)))
	if n > c.state.Users() {
		c.Connect(n)
	}
	c.state.Value = float64(n)
	c.Engine.SetUsers(n)
}

// changed files a change of the load.
func (c *Controller) changed(by, text, mark string) {
	c.state.By = by
	c.state.Changes++
	e := metrics.LogEntry{Level: metrics.Info, Text: text, Mark: mark, Set: new(c.state.LoadSetting)}
	if by == metrics.BySearch {
		e.Search = new(c.search.step.Told)
	}
	c.file(e)
}

// Changed says that the load was set: the plan no longer tells how many requests there will be.
func (c *Controller) Changed() bool { return c.state.Changes > 0 }

// Yield ends the following of the plan, since the machine that leads the run sets the load.
func (c *Controller) Yield() { c.loadSet = true }

// Close tells that nothing can be steered any more. It may be called again.
func (c *Controller) Close() {
	if c.closed {
		return
	}
	c.closed = true
	c.endSearch()
	if c.confirm != nil {
		c.endHold()
		c.endConfirmation()
	}
	c.giveUpHold("the run ended")
	c.state.Steerable, c.state.Why = false, cmp.Or(c.why, "no new requests are sent")
	c.endRamp()
	c.tellState()
}

// complete reports whether all of the load is sent.
func (c *Controller) complete() bool { return c.Whole == nil || c.Whole() }

func (c *Controller) now() time.Duration { return time.Since(c.Start) }

// String is a load for a person.
func (c *Controller) String(load float64) string { return c.unit.Text(load) }

func (c *Controller) inUsers() bool { return c.unit == metrics.Users }
