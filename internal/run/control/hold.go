package control

import (
	"fmt"
	"strings"
	"time"

	"benchtop/internal/findings"
	"benchtop/metrics"
	"benchtop/metrics/judge"
)

// heldLoad is held until a look decides.
type heldLoad struct {
	load  float64
	from  time.Duration
	looks []time.Duration
	next  int           // of the looks
	when  time.Duration // to see whether it has decided
}

// holdOutcome is what became of a load that was held.
type holdOutcome uint8

const (
	undecided holdOutcome = iota
	// proved is within the objectives, failed is not, and unproven neither by the last look.
	proved
	failed
	unproven
)

// holdLoad puts a load in force that is judged at looks.
func (c *Controller) holdLoad(load float64, by, text string, looks []time.Duration) {
	c.set(load, by, text)
	now := c.now()
	c.held = &heldLoad{load: load, from: now, looks: looks, when: now + verdictEvery}
	c.Looks.Begin(load, now, looks)
}

// look reports what is known of the load that is held, with its last verdict and how long it was held for that.
func (c *Controller) look(now time.Duration) (o holdOutcome, v metrics.LevelVerdict, after time.Duration) {
	h := c.held
	h.when = now + verdictEvery
	for h.next < len(h.looks) {
		known := false
		if v, known = c.Looks.Verdict(h.next, now); !known {
			break
		}
		after = h.looks[h.next]
		h.next++
		switch {
		case v.Confidence < metrics.EnoughConfidence:
		case v.Standing == metrics.LevelWithin && !c.complete():
			v.Standing, v.Confidence = metrics.LevelUnknown, 0
		case v.Standing == metrics.LevelWithin:
			return proved, v, after
		case v.Standing.Failed():
			return failed, v, after
		}
		if h.next == len(h.looks) {
			return unproven, v, after
		}
		if after >= judge.ShortestProof {
			c.tellf(metrics.Info, "%s: %s after %s; next look after %s", c.String(h.load), standingWords(&v),
				metrics.Duration(after), metrics.Duration(h.looks[h.next]))
		}
	}
	if c.Looks.Hopeless(now) {
		return failed, metrics.LevelVerdict{Standing: metrics.LevelMissed}, now - h.from
	}
	return undecided, v, 0
}

// endHold ends the looks at a load.
func (c *Controller) endHold() {
	if c.held != nil {
		c.held = nil
		c.Looks.End()
	}
}

// holdOn judges the load that a hand holds.
func (c *Controller) holdOn(now time.Duration) {
	o, v, after := c.look(now)
	if o == undecided {
		return
	}
	load := c.held.load
	c.endHold()
	switch words := c.outcomeWords(load, o, &v, after); o {
	case proved:
		c.tellf(metrics.Info, "%s", words)
	case failed:
		c.tellf(metrics.Warn, "%s", words)
	default:
		c.tellf(metrics.Warn, "%s; H holds it again", words)
	}
}

// giveUpHold tells that a load by hand ends the hold of another one.
func (c *Controller) giveUpHold(why string) {
	if c.held != nil {
		c.tellf(metrics.Info, "%s neither proven nor missed: %s", c.String(c.held.load), why)
		c.endHold()
	}
}

// outcomeWords say what became of a load.
func (c *Controller) outcomeWords(load float64, o holdOutcome, v *metrics.LevelVerdict, after time.Duration) string {
	switch o {
	case proved:
		return fmt.Sprintf("%s proven (%s)", c.String(load), findings.Confidence(v.Confidence))
	case failed:
		return fmt.Sprintf("%s %s after %s", c.String(load), standingWords(v),
			metrics.Duration(after.Round(time.Second)))
	}
	return fmt.Sprintf("%s not proven after %s: %s", c.String(load), metrics.Duration(after), standingWords(v))
}

// standingWords describe a verdict.
func standingWords(v *metrics.LevelVerdict) string {
	words := string(v.Standing)
	switch v.Standing {
	case metrics.LevelOpen:
		return "no requests"
	case metrics.LevelWithin:
		words = "within SLO"
	case metrics.LevelMissed:
		words = "SLO missed"
	case metrics.LevelBehind:
		words = "the server falls behind"
	case metrics.LevelLimited:
		words = "limited by this client"
	}
	switch {
	case v.Why != "":
		return words + ", " + v.Why
	case v.Confidence > 0:
		return fmt.Sprintf("%s (%s)", words, findings.Confidence(v.Confidence))
	}
	return words
}

// lookWords list the looks.
func lookWords(looks []time.Duration) string {
	return strings.Join(metrics.Each(looks, metrics.Duration), ", ")
}

// tellf files an event without a load.
func (c *Controller) tellf(level metrics.Level, format string, a ...any) {
	c.Tell(metrics.LogEntry{Level: level, Text: fmt.Sprintf(format, a...)})
}
