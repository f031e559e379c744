// Package preview shows what a data set would send without sending it: how much of everything, how long the prompts and
// answers are, the first prompts, and all of them as JSON lines.
package preview

import (
	"time"

	"benchtop/datasets"
)

// Preview collects what conversations are like. One goroutine uses it. It keeps the first conversations and a number for
// each length, so a data set of any size costs it little.
type Preview struct {
	keep          int
	first         []datasets.Conversation
	conversations int
	prompts       int // more than turns where several travel in one request
	input, output lengths
	kinds         map[string]int // of prompts: text, token ids, messages
	media         int            // turns with media beside the text
	unlimited     int            // turns whose output length the server decides
	timed         bool
	last          time.Duration // latest moment of a trace
}

// New collects figures and keeps so many conversations to show.
func New(first int) *Preview {
	return &Preview{keep: first, kinds: map[string]int{}}
}

// Add takes a conversation into account.
func (p *Preview) Add(c datasets.Conversation) {
	p.conversations++
	if len(p.first) < p.keep {
		p.first = append(p.first, c)
	}
	for i := range c.Turns {
		p.turn(&c.Turns[i])
	}
	if c.At > 0 {
		p.timed = true
		p.last = max(p.last, c.At)
	}
}

func (p *Preview) turn(t *datasets.Turn) {
	p.prompts += max(1, len(t.Batch))
	p.input.add(t.InputTokens)
	if t.MaxTokens > 0 {
		p.output.add(t.MaxTokens)
	} else {
		p.unlimited++
	}
	p.kinds[kindOf(t)]++
	if t.Media != nil {
		p.media++
	}
}

// kindOf is the form in which a turn's prompt travels.
func kindOf(t *datasets.Turn) string {
	switch {
	case t.Messages != nil:
		return "chat messages"
	case t.TokenIDs != nil, len(t.Batch) > 0 && t.Batch[0].TokenIDs != nil:
		return "token ids"
	}
	return "text"
}
