package prompts

import (
	"errors"
	"fmt"
	"io"

	"benchtop/datasets"
)

// Group makes lists of so many prompts, a request each. A request has one output length, so all prompts must ask for
// the same. Up to 1 leaves them alone.
func (x *Supply) Group(most int) {
	if most <= 1 {
		return
	}
	x.Flow = x.Through(func(next datasets.Draw) datasets.Draw {
		return func() (datasets.Conversation, error) { return nextList(next, most) }
	})
	if x.Len > 0 {
		x.Len = (x.Len-1)/most + 1
	}
	x.First = listOf([]datasets.Conversation{x.First})
	x.About = fmt.Sprintf("%s, lists of %d", x.About, most)
}

var errLengths = errors.New("prompts that ask for different output lengths cannot be in one list; " +
	"give them one length, such as --output-len 128, or send one prompt per request")

// nextList is a request with the next prompts, as many as there are up to most.
func nextList(next datasets.Draw, most int) (datasets.Conversation, error) {
	var all []datasets.Conversation
	for len(all) < most {
		c, err := next()
		if err == io.EOF && len(all) > 0 {
			break
		}
		if err != nil {
			return datasets.Conversation{}, err
		}
		if len(c.Turns) != 1 || !plain(&c.Turns[0]) {
			return datasets.Conversation{}, errors.New("only prompts that are texts or token ids can be in a list")
		}
		if len(all) > 0 && c.Turns[0].MaxTokens != all[0].Turns[0].MaxTokens {
			return datasets.Conversation{}, errLengths
		}
		all = append(all, c)
	}
	return listOf(all), nil
}

// plain reports whether a prompt is a text or token ids, and nothing else.
func plain(t *datasets.Turn) bool {
	return t.Batch == nil && t.Messages == nil && t.Media == nil && t.Audio == nil
}

// listOf is a request with the prompts of conversations, at least one.
func listOf(all []datasets.Conversation) datasets.Conversation {
	list := all[0]
	turn := datasets.Turn{MaxTokens: list.Turns[0].MaxTokens}
	for _, c := range all {
		turn.Batch = append(turn.Batch, c.Turns[0])
		turn.InputTokens += c.Turns[0].InputTokens
	}
	list.Turns = []datasets.Turn{turn}
	return list
}
