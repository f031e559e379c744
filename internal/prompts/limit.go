package prompts

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"benchtop/datasets"
	"benchtop/internal/hf/tokenizer"
	"benchtop/internal/usage"
	"benchtop/metrics"
)

// limit makes the prompts of a flow as they are sent: encoded, if they are to be token ids, and without those that are
// too long.
type limit struct {
	encoder *tokenizer.Local // nil leaves prompts as they are
	words   *lengthModel     // of prompts of words; nil for others
	most    int              // tokens of a prompt and its answer together; 0 for no limit

	taken, dropped atomic.Int64
	ended          atomic.Int64 // conversations that lost turns
	least          int          // tokens of the shortest that was dropped
}

// mostDropped in a row, and none before, end a flow that may never end.
const mostDropped = 10000

// sending are prompts as they are sent, with the form of the prompts in About, unless they are ids by themselves.
func (d *Drawing) sending(f datasets.Flow) (datasets.Flow, *limit, error) {
	l := &limit{words: d.words, most: d.Options.maxModelLen}
	if d.common.PromptTokenIDs {
		m := d.tokenizing
		if l.encoder = m.Local; l.encoder != nil {
			m.Counted = metrics.TokensFromIDs // which are exact
		} else if !d.Options.Needs().Forms.Overlap(datasets.AsTokenIDs) {
			return f, nil,
				usage.Errorf(
					"--prompt-token-ids: the prompts of %s are texts, which need a tokenizer on this machine: "+
						"give the model's with --tokenizer DIRECTORY\ntried: %s", d.Options.Name, m.absent)
		}
	}
	if l.encoder != nil && !strings.Contains(f.About, "token ids") {
		f.About += ", sent as token ids"
	}
	if l.words != nil {
		f.About += " of common words, whose tokens are learned from usage"
	}
	return f.Through(func(next datasets.Draw) datasets.Draw {
		return func() (datasets.Conversation, error) { return l.next(next) }
	}), l, nil
}

// next returns the next conversation that is short enough.
func (l *limit) next(next datasets.Draw) (datasets.Conversation, error) {
	for {
		c, err := next()
		if errors.Is(err, io.EOF) && l.dropped.Load() > 0 && l.taken.Load() == 0 {
			return c, l.none()
		}
		if err == nil && l.encoder != nil {
			c.Turns, err = l.encode(c.Turns)
		}
		if err != nil {
			return c, err
		}
		l.words.put(c.Turns)
		n := longest(c.Turns)
		if l.most == 0 || n <= l.most || l.cut(&c) {
			l.taken.Add(1)
			return c, nil
		}
		if l.least == 0 || n < l.least {
			l.least = n
		}
		if l.dropped.Add(1) >= mostDropped && l.taken.Load() == 0 {
			return c, l.none()
		}
	}
}

// cut ends a conversation before the first turn that is too long, unless fewer than two would be left.
func (l *limit) cut(c *datasets.Conversation) bool {
	fits := slices.IndexFunc(c.Turns, func(t datasets.Turn) bool { return t.InputTokens+t.MaxTokens > l.most })
	if fits < 2 {
		return false
	}
	c.Turns = c.Turns[:fits]
	l.ended.Add(1)
	return true
}

func (l *limit) none() error {
	return usage.Errorf("--max-model-len %d: none of %d requests fits, the shortest takes %d tokens with its answer; "+
		"ask for shorter ones, or raise the limit", l.most, l.dropped.Load(), l.least)
}

// encode makes token ids of texts, those that a server makes of them: the tokenizer's own special tokens are among
// them.
func (l *limit) encode(turns []datasets.Turn) ([]datasets.Turn, error) {
	turns = slices.Clone(turns)
	for i := range turns {
		t := &turns[i]
		var err error
		switch {
		case t.Batch != nil:
			if t.Batch, err = l.encode(t.Batch); err != nil {
				return nil, err
			}
			t.InputTokens = 0
			for j := range t.Batch {
				t.InputTokens += t.Batch[j].InputTokens
			}
		case t.TokenIDs == nil && t.Prompt.Compose == nil:
			if t.TokenIDs, err = l.encoder.EncodeSpecial(t.Text); err != nil {
				return nil, fmt.Errorf("--prompt-token-ids: %w", err)
			}
			t.Text, t.InputTokens = "", len(t.TokenIDs)
		}
	}
	return turns, nil
}

// longest is the number of tokens of the longest turn, its answer among them. Each prompt of a batch stands for itself.
func longest(turns []datasets.Turn) (n int) {
	for i := range turns {
		if t := &turns[i]; t.Batch != nil {
			n = max(n, longest(t.Batch))
		} else {
			n = max(n, t.InputTokens+t.MaxTokens)
		}
	}
	return n
}

// note says how many requests were left out by now; all says that the flow has ended. It is "" for none.
func (l *limit) note(all bool) string {
	dropped, ended := l.dropped.Load(), l.ended.Load()
	note := fmt.Sprintf("--max-model-len %d: ", l.most)
	switch {
	case dropped == 0 && ended == 0:
		return ""
	case dropped > 0:
		note += fmt.Sprintf("%d of %d requests are left out, whose prompt and answer together are longer",
			dropped, dropped+l.taken.Load())
	}
	if ended > 0 {
		if dropped > 0 {
			note += "; "
		}
		note += fmt.Sprintf("%d of %d conversations end before a turn whose prompt and answer together are longer",
			ended, l.taken.Load())
	}
	if !all {
		note += "; so are such requests among those that are drawn later"
	}
	return note
}
