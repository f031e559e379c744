package control

import (
	"fmt"
	"time"

	"benchtop/metrics"
)

// moment is something that happens at an offset of the run, whatever the load does.
type moment struct {
	at time.Duration
	do func()
}

// schedule lists the moments of the plan: the stages, connections ahead of those with more users, the end of the warm-up.
func (c *Controller) schedule() {
	users := 0
	for i, stage := range c.Plan.Stages {
		if stage.Users > users && i > 0 {
			c.moments = append(c.moments, moment{max(stage.Start-ConnectAhead, c.Plan.Stages[i-1].Start), func() { c.Connect(stage.Users) }})
		}
		users = max(users, stage.Users)
		c.moments = append(c.moments, moment{stage.Start, func() { c.beginStage(i) }})
	}
	w := c.Plan.Warmup
	if w <= 0 {
		return
	}
	at := 0
	for at < len(c.moments) && c.moments[at].at < w {
		at++
	}
	over := moment{w, func() {
		c.Tell(metrics.LogEntry{Level: metrics.Info, Text: "the warm-up is over: figures begin here", Mark: "warm"})
	}}
	c.moments = append(c.moments[:at:at], append([]moment{over}, c.moments[at:]...)...)
}

// untilNextStage is how long it takes until a stage of rates begins that a pause has moved.
func (c *Controller) untilNextStage() time.Duration {
	stages := c.Plan.Stages
	if next := c.stage + 1; c.state.Changes > 0 && !c.inUsers && next < len(stages) {
		return max(0, stages[next].Start+c.shift-c.now())
	}
	return time.Hour
}

// follow takes over the load that the plan asks for now, unless a load was set.
func (c *Controller) follow(by string) {
	if !c.loadSet {
		at := c.now() - c.shift
		c.state.LoadSetting, c.stage = c.Plan.LoadAt(at, c.Engine.Dispatched()), c.Plan.StageAt(at)
	}
	c.state.By = by
}

// beginStage announces a stage of the plan and lets it set its users, unless its stages no longer happen at their times: the load
// was set or, for rates, moved by a pause.
func (c *Controller) beginStage(i int) {
	if c.loadSet || c.state.Changes > 0 && !c.inUsers {
		return
	}
	var set *metrics.LoadSetting // where there was a pause before, the stage is a load of its own
	if users := c.Plan.Stages[i].Users; users > 0 {
		c.Engine.SetLimit(users)
		c.state.Users = users
		c.tellState()
		if c.state.Changes > 0 {
			set = c.setting()
			set.By = metrics.ByPlan
		}
	}
	c.Tell(c.stageEvent(i, set))
}

func (c *Controller) stageEvent(i int, set *metrics.LoadSetting) metrics.LogEntry {
	stage := c.Plan.Stages[i]
	load := stage.String()
	text := fmt.Sprintf("stage %d/%d: %s for %s", i+1, len(c.Plan.Stages), load, metrics.Duration(stage.Length))
	return metrics.LogEntry{Level: metrics.Info, Text: text, Mark: load, Set: set}
}

// setting is the load in force for an event: without a number where the plan moves it in a way that an event cannot say.
func (c *Controller) setting() *metrics.LoadSetting {
	set := c.state.LoadSetting
	if r := c.Plan.Ramp; !c.loadSet && r != nil && (r.Over == 0 || r.Strategy != "linear" && set.RampTo > 0) {
		set = metrics.LoadSetting{By: set.By}
	}
	return &set
}
