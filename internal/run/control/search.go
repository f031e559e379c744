package control

import (
	"time"

	"benchtop/metrics"
)

const (
	// verdictEvery is how often a search looks at what its load came to.
	verdictEvery = 100 * time.Millisecond
	// patienceFor is the least time that requests of a load get to end before they are judged by what they showed.
	patienceFor = 30 * time.Second
)

// search is one under way: it ends the sending when the highest load within the objectives was held, or when there is nothing left
// to try. A command by hand ends it.
type search struct {
	finder *Finder
	step   Step
	began  time.Duration // of the step
	next   time.Duration // when to look at its outcome
}

func (c *Controller) beginSearch() {
	f := NewFinder(*c.Plan.Find)
	c.search = &search{finder: f}
	c.try(f.Step())
}

// try puts the load of a step in force and begins its trial.
func (c *Controller) try(step Step) {
	s := c.search
	s.step, s.began = step, c.now()
	s.next = s.began + verdictEvery
	if step.Phase == Done {
		c.found()
		return
	}
	c.state.Search = step.Words
	if step.Phase == Draining {
		c.hold(metrics.BySearch, step.Words)
		return
	}
	c.set(step.Load, metrics.BySearch, step.Words)
	from, expected := c.now()+step.Settle, 0.0
	if !c.inUsers {
		expected = step.Load * step.For.Seconds()
	}
	c.Trial.Begin(from, from+step.For, expected, max(patienceFor, 2*c.Plan.Find.Step))
}

// searchOn takes the next step as soon as the outcome of this one is known.
func (c *Controller) searchOn(now time.Duration) {
	s := c.search
	s.next += verdictEvery
	within := true
	if s.step.Phase == Draining {
		if now-s.began < s.step.For && c.Trial.Waiting() > 0 {
			return
		}
	} else if v := c.Trial.Verdict(now); v == Open {
		return
	} else {
		within = v == Within
	}
	c.try(s.finder.Next(within))
}

// giveUpSearch ends a search because the load is set by hand.
func (c *Controller) giveUpSearch() {
	if c.search == nil {
		return
	}
	c.search, c.state.Search = nil, ""
	text := "the search for the highest load is given up: the load was set by hand"
	if c.Plan.Duration == 0 { // the search would have ended it
		text += "; the run goes on until q"
	}
	c.Tell(metrics.LogEntry{Level: metrics.Warn, Text: text})
}

// endSearch tells that the run ended before the search did.
func (c *Controller) endSearch() {
	if s := c.search; s != nil {
		c.search = nil
		c.Tell(metrics.LogEntry{Level: metrics.Warn, Text: "search: the run ended before it came to a result; the last it did: " + s.step.Words})
	}
}

// found tells how the search ended, and ends the sending.
func (c *Controller) found() {
	s := c.search
	c.search, c.state.Search = nil, s.step.Words
	c.tellState()
	e := metrics.LogEntry{Level: metrics.Warn, Text: "search: " + s.step.Words}
	if load, ok := s.finder.Found(); ok {
		e = metrics.LogEntry{Level: metrics.Info, Text: "search: the highest load within the objectives is " + c.String(load), Mark: metrics.FoundMark}
	}
	c.Tell(e)
	c.Engine.StopSending()
}
