package datasets

import (
	"hash/maphash"
	"maps"
)

// Sharing tells what share of a run's input tokens a perfect prefix cache, of any size, could answer from earlier prompts
// of the same run. A server whose hits are far above that answers from something else, such as an earlier run. It sees
// prompts alone: where a later turn repeats the server's own answer, the server may find more. One goroutine uses it.
type Sharing struct {
	seed   maphash.Seed
	seen   map[uint64]struct{} // of the beginnings of prompts, each as long as some blocks
	thin   uint                // number of leading bits that are zero in all names that are kept
	most   int                 // names that are kept at most
	count  float64             // of prompts
	total  float64             // tokens
	shared float64             // tokens that an earlier prompt began with, too
}

const (
	sharedTokens = 16 // to a block, as in vLLM
	sharedBytes  = 64 // to a block of a text, whose tokens are not known
	sharedMost   = 1 << 20
)

// NewSharing begins without prompts.
func NewSharing() *Sharing {
	return &Sharing{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}, most: sharedMost}
}

// Add takes the prompts of a conversation, which come after those of the ones before.
func (s *Sharing) Add(c Conversation) {
	for i := range c.Turns {
		s.turn(&c.Turns[i])
	}
}

// Share is the share, 0 to 1; 0 before the first prompt. Beyond some twenty million different tokens not every block is
// remembered, and the share may be a few blocks a prompt too low.
func (s *Sharing) Share() float64 { return s.ShareBehind(0) }

// ShareBehind is the share if so many tokens more stood before every prompt, the same before all of them, as a server's chat
// template puts them there.
func (s *Sharing) ShareBehind(tokens float64) float64 {
	total := s.total + tokens*s.count
	if total == 0 {
		return 0
	}
	return (s.shared + tokens*(s.count-1)) / total
}

func (s *Sharing) turn(t *Turn) {
	for i := range t.Batch {
		s.turn(&t.Batch[i])
	}
	switch {
	case t.Batch != nil:
	case t.TokenIDs != nil:
		hits := s.prompt(len(t.TokenIDs), sharedTokens, func(h uint64, from, to int) uint64 {
			for _, id := range t.TokenIDs[from:to] {
				h = chain(h, uint64(id))
			}
			return h
		})
		s.add(len(t.TokenIDs), len(t.TokenIDs), hits)
	default:
		text := t.Text
		if len(t.Messages) > 0 {
			text = string(t.Messages)
		}
		hits := s.prompt(len(text), sharedBytes, func(h uint64, from, to int) uint64 {
			return chain(h, maphash.String(s.seed, text[from:to]))
		})
		tokens := t.InputTokens
		if tokens == 0 {
			tokens = (len(text) + 3) / 4 // an estimate
		}
		s.add(tokens, len(text), hits)
	}
}

// add takes a prompt of so many tokens, of whose length hits are shared.
func (s *Sharing) add(tokens, length, hits int) {
	s.count++
	s.total += float64(tokens)
	if length > 0 {
		s.shared += float64(tokens) * float64(hits) / float64(length)
	}
}

// prompt looks for the beginnings of a prompt and remembers them. It returns how much of the length was seen before, in
// whole blocks; at least one unit is left, as a server always computes one. hash goes on from a beginning to a longer one.
func (s *Sharing) prompt(length, block int, hash func(h uint64, from, to int) uint64) int {
	h, hits := uint64(block), 0 // ids and texts share nothing
	for end := block; end <= length; end += block {
		h = hash(h, end-block, end)
		if h>>(64-s.thin) != 0 {
			continue
		}
		if _, found := s.seen[h]; !found {
			s.remember(h)
		} else if end < length {
			hits = end // and so is all before it
		}
	}
	return hits
}

// remember keeps a name. When there are too many, every other is dropped, now and from then on.
func (s *Sharing) remember(h uint64) {
	s.seen[h] = struct{}{}
	if len(s.seen) <= s.most {
		return
	}
	s.thin++
	maps.DeleteFunc(s.seen, func(h uint64, _ struct{}) bool { return h>>(64-s.thin) != 0 })
}

// chain makes a name of a name and the value that follows: each of its bits depends on all bits of both.
func chain(h, v uint64) uint64 {
	h = (h ^ v) * 0x9e3779b97f4a7c15
	h = (h ^ h>>32) * 0xd6e8feb86659fd93
	return h ^ h>>32
}
