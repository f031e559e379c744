package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"

	"benchtop/datasets/parallel"
)

// alignInFlight is how many prompts Align has with the server at once, as many as vLLM's client.
const alignInFlight = 64

// Aligner is a server that turns text into ids, without special tokens, and back. *tokenizer.Server is one.
type Aligner interface {
	EncodeContext(ctx context.Context, text string) ([]int, error)
	DecodeContext(ctx context.Context, ids []int) (string, error)
}

// Alignment counts prompts that were compared with a server's tokenizer, by result.
type Alignment struct {
	Prompts int // text prompts that were compared: 0 or 1 when the first one settled it
	Cut     int // had more tokens than wanted, and lost the rest
	Short   int // had fewer; they stay as they are
	Failed  int // could not be compared or cut; they stay as they are
	// Failure is why the first of those failed; nil if none did.
	Failure error
}

// Align cuts text prompts to the tokens that the server counts, where it counts more than the data set asked for. vLLM's client does so for prompts made of tokens (random and prefix_repetition) when its tokenizer is not quite
// the server's. The first prompt decides: if the server counts it as asked for, or cannot count, all stay as they are.
//
// It replaces the turns it changes in conversations, never turns that others share, and leaves InputTokens alone.
// Warnings for the user go to warn, a line each, from the calling goroutine. The only error is ctx's; prompts that were cut until then
// stay cut.
func Align(ctx context.Context, conversations []Conversation, server Aligner, warn func(string)) (Alignment, error) {
	if len(conversations) == 0 || !alignable(conversations[0]) {
		return Alignment{}, nil
	}
	first := conversations[0].Turns[0]
	ids, err := server.EncodeContext(ctx, first.Text)
	switch {
	case ctx.Err() != nil:
		return Alignment{}, ctx.Err()
	case err != nil:
		warn(fmt.Sprintf("prompts are not aligned with the server's tokenizer, which cannot be asked: %v", err))
		return Alignment{Failed: 1, Failure: err}, nil
	case len(ids) == first.InputTokens:
		return Alignment{Prompts: 1}, nil
	}
	a := alignAll(ctx, conversations, server)
	if err := ctx.Err(); err != nil {
		return a, err
	}
	warn(fmt.Sprintf("the server's tokenizer is another (%d tokens for the first prompt instead of %d): aligned %d prompts, %d cut, %d shorter than wanted and left",
		len(ids), first.InputTokens, a.Prompts, a.Cut, a.Short))
	if a.Failed > 0 {
		warn(fmt.Sprintf("%d of %d prompts could not be aligned with the server's tokenizer and stay as they are: %v", a.Failed, a.Prompts, a.Failure))
	}
	return a, nil
}

// alignable reports whether c is one text prompt. Ids need no tokenizer, and lists of messages are counted otherwise.
func alignable(c Conversation) bool {
	if len(c.Turns) != 1 {
		return false
	}
	turn := c.Turns[0]
	return turn.TokenIDs == nil && turn.Batch == nil && turn.Messages == nil
}

func alignAll(ctx context.Context, conversations []Conversation, server Aligner) Alignment {
	results := make([]Alignment, len(conversations))
	parallel.Do(alignInFlight, len(conversations), func(i int) bool {
		if ctx.Err() == nil && alignable(conversations[i]) {
			results[i] = alignOne(ctx, &conversations[i], server)
		}
		// A server that lets one question time out would do so with the rest.
		late, ok := errors.AsType[net.Error](results[i].Failure)
		return ctx.Err() == nil && !(ok && late.Timeout())
	})
	var all Alignment
	for _, a := range results {
		all.Prompts += a.Prompts
		all.Cut += a.Cut
		all.Short += a.Short
		all.Failed += a.Failed
		all.Failure = cmp.Or(all.Failure, a.Failure)
	}
	return all
}

// alignOne cuts the prompt of c if it is too long, and counts that one prompt.
func alignOne(ctx context.Context, c *Conversation, server Aligner) Alignment {
	turn := c.Turns[0]
	ids, err := server.EncodeContext(ctx, turn.Text)
	switch {
	case err != nil:
		return Alignment{Prompts: 1, Failed: 1, Failure: err}
	case len(ids) == turn.InputTokens:
		return Alignment{Prompts: 1}
	case len(ids) < turn.InputTokens:
		return Alignment{Prompts: 1, Short: 1}
	}
	text, err := server.DecodeContext(ctx, ids[:max(0, turn.InputTokens)])
	if err != nil {
		return Alignment{Prompts: 1, Failed: 1, Failure: err}
	}
	c.Turns = slices.Clone(c.Turns) // others may share them
	c.Turns[0].Text = text
	return Alignment{Prompts: 1, Cut: 1}
}
