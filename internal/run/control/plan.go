package control

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"benchtop/internal/search"
	"benchtop/metrics"
)

// moment is something that happens at an offset of the run, whatever the load does.
type moment struct {
	at time.Duration
	do func()
}

// schedule lists the moments of the plan: the stages, connections ahead of those with more users, the end of the
// warm-up.
func (c *Controller) schedule() {
	if w := c.Plan.Warmup; w > 0 {
		c.moments = append(c.moments, moment{w, func() {
			c.Tell(metrics.LogEntry{Level: metrics.Info, Text: "warm-up finished; measuring", Mark: "warm"})
		}})
	}
	users := 0
	for i, stage := range c.Plan.Stages {
		n := stage.Users()
		if n > users && i > 0 {
			ahead := max(stage.Start-ConnectAhead, c.Plan.Stages[i-1].Start)
			c.moments = append(c.moments, moment{ahead, func() { c.connectAhead(n) }})
		}
		users = max(users, n)
		c.moments = append(c.moments, moment{stage.Start, func() { c.beginStage(i) }})
	}
	slices.SortStableFunc(c.moments, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
}

// untilNextStage is how long it takes until a stage of rates begins that a pause has moved.
func (c *Controller) untilNextStage() time.Duration {
	stages := c.Plan.Stages
	if next := c.stage + 1; c.state.Changes > 0 && !c.inUsers() && next < len(stages) {
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

// connectAhead opens connections for a stage of more users, unless the load was set.
func (c *Controller) connectAhead(users int) {
	if !c.loadSet {
		c.Connect(users)
	}
}

// beginStage announces a stage of the plan and lets it set its users, unless its stages no longer happen at their
// times: the load was set or, for rates, moved by a pause.
func (c *Controller) beginStage(i int) {
	if c.loadSet || c.state.Changes > 0 && !c.inUsers() {
		return
	}
	var set *metrics.LoadSetting // where there was a pause before, the stage is a load of its own
	if stage := c.Plan.Stages[i]; stage.Users() > 0 {
		c.Engine.SetLimit(stage.Users())
		c.state.Load = stage.Load
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

// setting is the load in force for an event: without a number where the plan moves it in a way that an event cannot
// say.
func (c *Controller) setting() *metrics.LoadSetting {
	set := new(c.state.LoadSetting)
	if r := c.Plan.Ramp; !c.loadSet && r != nil && (r.Over == 0 || r.Strategy != "linear" && set.RampTo > 0) {
		*set = metrics.LoadSetting{By: set.By}
	}
	return set
}

const (
	// verdictEvery is how often a search looks at what its load came to.
	verdictEvery = 100 * time.Millisecond
	// patienceFor is the least time that requests of a load get to end before they are judged by what they showed.
	patienceFor = 30 * time.Second
	// mostSettled are the most steps that a load may take to show its effect.
	mostSettled = 2
)

// activeSearch is a search under way: it ends the sending when the highest load within the objectives was held, or when
// there is nothing left to try. A command by hand ends it.
type activeSearch struct {
	finder *Finder
	step   Step
	began  time.Duration // of the step
	next   time.Duration // when to look at its outcome
}

func (c *Controller) beginSearch() {
	tiers := metrics.Each(c.Plan.TiersUnder(c.Plan.Goodput), func(tier metrics.Tier) string { return tier.Name })
	f := NewFinder(*c.Plan.Find, tiers...)
	c.search = &activeSearch{finder: f}
	c.try(f.Step())
}

// try puts the load of a step in force and begins its trial.
func (c *Controller) try(step Step) {
	s := c.search
	s.step, s.began = step, c.now()
	s.next = s.began + verdictEvery
	if step.Phase == metrics.SearchDone {
		c.found()
		return
	}
	c.state.Search = step.Words
	if step.Phase == metrics.SearchDraining {
		c.hold(metrics.BySearch, step.Words)
		return
	}
	c.set(step.Load, metrics.BySearch, step.Words)
	from, expected := c.now(), 0.0
	if step.Settle > 0 {
		from += max(step.Settle, min(c.Trial.Running(), mostSettled*c.Plan.Find.Step))
	}
	if !c.inUsers() {
		expected = step.Load * step.For.Seconds()
	}
	c.Trial.Begin(from, from+step.For, expected, max(patienceFor, 2*c.Plan.Find.Step),
		step.Phase == metrics.SearchHolding)
}

// searchOn takes the next step as soon as the outcome of this one is known.
func (c *Controller) searchOn(now time.Duration) {
	s := c.search
	s.next += verdictEvery
	var tiers []search.Evidence
	if s.step.Phase == metrics.SearchDraining {
		if now-s.began < s.step.For && c.Trial.Unfinished() > 0 {
			return
		}
	} else {
		verdicts, decided := c.Trial.Verdicts(now)
		if !decided && !(s.step.Phase == metrics.SearchHolding && proven(verdicts, s.step.Tier) && c.complete()) {
			return
		}
		tiers = c.Trial.Evidence(now)
	}
	c.try(s.finder.Next(tiers))
}

// proven reports whether a load is proven to be within the objectives of a tier.
func proven(of []metrics.LevelVerdict, tier int) bool {
	return tier < len(of) && of[tier].Standing == metrics.LevelWithin && of[tier].Confidence >= metrics.EnoughConfidence
}

// giveUpSearch ends a search because the load is set by hand.
func (c *Controller) giveUpSearch() {
	c.search, c.state.Search = nil, ""
	text := "search stopped: load changed manually"
	if c.Plan.Duration == 0 { // the search would have ended it
		text += "; the run continues until q"
	}
	c.tellf(metrics.Warn, "%s", text)
}

// endSearch tells that the run ended before the search did.
func (c *Controller) endSearch() {
	if s := c.search; s != nil {
		c.search = nil
		c.tellf(metrics.Warn, "search: no result before the end of the run; last step: %s", s.step.Words)
	}
}

// found tells how the search ended, and ends the sending.
func (c *Controller) found() {
	s := c.search
	c.search, c.state.Search = nil, s.step.Words
	c.tellState()
	e := metrics.LogEntry{Level: metrics.Warn, Text: "search: " + s.step.Words, Mark: metrics.NotFoundMark}
	loads := metrics.Each(s.finder.Found(), func(r search.Result) string {
		return strings.TrimSpace(r.Tier + " " + c.String(r.Passed))
	})
	if len(loads) > 0 {
		e = metrics.LogEntry{Level: metrics.Info, Text: "search: highest load within SLO: " + strings.Join(loads, ", "),
			Mark: metrics.FoundMark}
	}
	e.Search = &s.step.Told
	c.Tell(e)
	if c.confirm == nil {
		c.Engine.StopSending()
	}
}
