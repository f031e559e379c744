package control

import (
	"fmt"
	"math"

	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// Command changes the load, or says in a few words why it cannot. A change by hand ends a search and a confirmation.
func (c *Controller) Command(o metrics.Command) (said string, ok bool) {
	if problem := c.refuse(&o); problem != "" {
		return problem, false
	}
	c.takeOver(o.Do != metrics.Pause && o.Do != metrics.Resume)
	switch o.Do {
	case metrics.Pause:
		c.hold(metrics.ByUser, "arrivals paused")
		said = "paused"
	case metrics.Resume:
		c.Resume()
		c.follow(metrics.ByUser)
		c.state.Changes++
		load := c.String(c.state.Value)
		c.file(metrics.LogEntry{Level: metrics.Info, Text: "resumed at " + load, Mark: load, Set: c.setting()})
		said = "resumed"
	case metrics.SetLoad:
		c.set(o.Value, metrics.ByUser, "changed manually to "+c.String(o.Value))
		said = c.String(o.Value)
	case metrics.RampLoad:
		c.beginRamp(o)
		said = fmt.Sprintf("ramping to %s over %s", c.String(o.Value), metrics.Duration(o.Over))
	case metrics.HoldLoad:
		looks := looksWithin(longestLook)
		c.holdLoad(o.Value, metrics.ByUser,
			fmt.Sprintf("holding %s by hand for looks after %s", c.String(o.Value), lookWords(looks)), looks)
		said = "holding " + c.String(o.Value)
	}
	c.next = c.now() + c.pause()
	return said, true
}

// takeOver ends all that set the load by itself, as a command does, whether it leaves the plan or not.
func (c *Controller) takeOver(leaves bool) {
	if c.search != nil {
		c.giveUpSearch()
		if c.confirm != nil {
			c.confirm.phase = leftToClock
		}
	}
	if c.confirm != nil {
		c.endHold()
		c.giveUpConfirmation(leaves)
	}
	c.giveUpHold("load changed manually")
}

// refuse says why a command cannot be followed, "" if it can. It rounds users.
func (c *Controller) refuse(o *metrics.Command) string {
	switch {
	case c.closed || !c.Engine.Sending():
		return "all requests have been sent"
	case c.why != "":
		return c.why
	}
	switch o.Do {
	case metrics.Pause:
		if c.state.Paused {
			return "already paused"
		}
		return ""
	case metrics.Resume:
		if !c.state.Paused {
			return "not paused"
		}
		return ""
	case metrics.RampLoad:
		if o.Over <= 0 || o.Over > shape.LongestRun {
			return "a ramp needs a time, such as 30s"
		}
	case metrics.HoldLoad:
		if !c.Looks.Judges() {
			return "nothing to judge by: o sets objectives"
		}
		if o.Value = c.state.Value; !(o.Value > 0) {
			return "no load to hold: i sets one"
		}
	case metrics.SetLoad:
	default:
		return fmt.Sprintf("unknown command %q", string(o.Do))
	}
	if c.inUsers() {
		return c.refuseUsers(o)
	}
	if !(o.Value > 0) || o.Value > shape.HighestRate {
		return fmt.Sprintf("a rate must be above 0 and at most %g req/s; P pauses", shape.HighestRate)
	}
	return ""
}

func (c *Controller) refuseUsers(o *metrics.Command) string {
	o.Value = math.Round(o.Value)
	least := max(1, c.Plan.Part.N) // a machine without users would never send its part
	if !(o.Value >= float64(least)) || o.Value > mostUsers {
		return fmt.Sprintf("%d to %d users; P pauses", least, mostUsers)
	}
	if err := c.Room(int(o.Value)); err != nil {
		return err.Error()
	}
	return ""
}
