package cli

import (
	"fmt"
	"io"
	"slices"

	"benchtop/datasets"
	"benchtop/loadgen"
)

// again is a source that begins anew when it is at its end, with ids that say so.
type again struct {
	rest        loadgen.Source
	seen        []datasets.Conversation
	next, round int
	repeats     func() // hears of the first repetition, nil for nobody
}

func (a *again) Next() (datasets.Conversation, error) {
	if a.rest != nil {
		c, err := a.rest.Next()
		if err == nil {
			a.seen = append(a.seen, c)
		}
		if err != io.EOF || len(a.seen) == 0 {
			return c, err
		}
		a.rest, a.round = nil, 2
		if a.repeats != nil {
			a.repeats()
		}
	}
	if a.next == len(a.seen) {
		a.next, a.round = 0, a.round+1
	}
	c := a.seen[a.next]
	a.next++
	c.Turns = slices.Clone(c.Turns)
	if c.ID != "" {
		c.ID = fmt.Sprintf("%s-%d", c.ID, a.round)
	}
	return c, nil
}
