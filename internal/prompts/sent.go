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

// sent are the prompts of a source as they are sent: encoded, if they are to be token ids, and without those that are too long.
type sent struct {
	datasets.Source
	encoder *tokenizer.Local // nil leaves prompts as they are
	words   *lengthModel     // of prompts of words; nil for others
	most    int              // tokens of a prompt and its answer together; 0 for no limit

	taken, dropped atomic.Int64
	ended          atomic.Int64 // conversations that lost turns
	least          int          // tokens of the shortest that was dropped
}

// mostDropped in a row, and none before, end a source that may never end.
const mostDropped = 10000

// Unwrap is the source behind.
func (s *sent) Unwrap() datasets.Source { return s.Source }

// Description is that of the source, with the form of the prompts, unless they are ids by themselves.
func (s *sent) Description() string {
	about := s.Source.Description()
	if s.encoder != nil && !strings.Contains(about, "token ids") {
		about += ", sent as token ids"
	}
	if s.words != nil {
		about += " of common words, whose tokens are learned from usage"
	}
	return about
}

// Next returns the next conversation that is short enough.
func (s *sent) Next() (datasets.Conversation, error) {
	for {
		c, err := s.Source.Next()
		if errors.Is(err, io.EOF) && s.dropped.Load() > 0 && s.taken.Load() == 0 {
			return c, s.none()
		}
		if err == nil && s.encoder != nil {
			c.Turns, err = s.encode(c.Turns)
		}
		if err != nil {
			return c, err
		}
		s.words.put(c.Turns)
		n := longest(c.Turns)
		if s.most == 0 || n <= s.most || s.cut(&c) {
			s.taken.Add(1)
			return c, nil
		}
		if s.least == 0 || n < s.least {
			s.least = n
		}
		if s.dropped.Add(1) >= mostDropped && s.taken.Load() == 0 {
			return c, s.none()
		}
	}
}

// cut ends a conversation before the first turn that is too long, unless fewer than two would be left.
func (s *sent) cut(c *datasets.Conversation) bool {
	fits := slices.IndexFunc(c.Turns, func(t datasets.Turn) bool { return t.InputTokens+t.MaxTokens > s.most })
	if fits < 2 {
		return false
	}
	c.Turns = c.Turns[:fits]
	s.ended.Add(1)
	return true
}

func (s *sent) none() error {
	return usage.Errorf("--max-model-len %d: none of %d requests fits, the shortest takes %d tokens with its answer; ask for shorter ones, or raise the limit",
		s.most, s.dropped.Load(), s.least)
}

// encode makes token ids of texts, those that a server makes of them: the tokenizer's own special tokens are among them.
func (s *sent) encode(turns []datasets.Turn) ([]datasets.Turn, error) {
	turns = slices.Clone(turns)
	for i := range turns {
		t := &turns[i]
		var err error
		switch {
		case t.Batch != nil:
			if t.Batch, err = s.encode(t.Batch); err != nil {
				return nil, err
			}
			t.InputTokens = 0
			for j := range t.Batch {
				t.InputTokens += t.Batch[j].InputTokens
			}
		case t.TokenIDs == nil && t.Prompt == nil:
			if t.TokenIDs, err = s.encoder.EncodeSpecial(t.Text); err != nil {
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

// note says how many requests were left out by now; all says that the source has ended. It is "" for none.
func (s *sent) note(all bool) string {
	dropped, ended := s.dropped.Load(), s.ended.Load()
	note := fmt.Sprintf("--max-model-len %d: ", s.most)
	switch {
	case dropped == 0 && ended == 0:
		return ""
	case dropped > 0:
		note += fmt.Sprintf("%d of %d requests are left out, whose prompt and answer together are longer", dropped, dropped+s.taken.Load())
	}
	if ended > 0 {
		if dropped > 0 {
			note += "; "
		}
		note += fmt.Sprintf("%d of %d conversations end before a turn whose prompt and answer together are longer", ended, s.taken.Load())
	}
	if !all {
		note += "; so are such requests among those that are drawn later"
	}
	return note
}

// sending is a source as it is sent.
func (d *Drawing) sending(source datasets.Source) (*sent, error) {
	s := &sent{Source: source, words: d.words, most: d.Options.maxModelLen}
	if !d.common.PromptTokenIDs {
		return s, nil
	}
	m := d.tokenizing
	if s.encoder = m.Local; s.encoder == nil && !d.Options.Needs().Forms.Overlap(datasets.AsTokenIDs) {
		return nil, usage.Errorf("--prompt-token-ids: the prompts of %s are texts, which need a tokenizer on this machine: give the model's with --tokenizer DIRECTORY\ntried: %s",
			d.Options.Name, m.absent)
	}
	if s.encoder != nil {
		m.Counted = metrics.TokensFromIDs // which are exact
	}
	return s, nil
}
