package datasets

import (
	"hash/maphash"
	"maps"
	"math/bits"
	"sync"
)

// Prefixes tells how much of a prompt earlier prompts began with, too. A prompt is a row of units, such as tokens or
// blocks of them. A beginning is remembered by a name, which is made of the name of the beginning before it and the
// unit that follows. One goroutine uses it.
//
//	prompts   a b c d    a b x y        names   a ab abc abcd abx abxy
//	in common     0          2
//
// A prefix that was found once implies all shorter ones, so the search for a longer one ends at the first that is
// missing.
type Prefixes struct {
	seen map[uint64]prefixMark
	// stride is a power of two. New names are kept only where it divides the number of units.
	stride int
	most   int // names that are kept at most
}

// prefixMark is of a name: the trailing zeros of its number of units, and whether a later prompt began so, too.
type prefixMark uint8

const prefixReused prefixMark = 1 << 7

// NewPrefixes remembers that many names, of 16 bytes or two. With more beginnings it keeps every other one of those
// found once, so that matches may be some units too short.
func NewPrefixes(most int) *Prefixes {
	return &Prefixes{seen: map[uint64]prefixMark{}, stride: 1, most: most}
}

// Stride bounds the error: a match is less than so many units too short. It is 1 for exact results.
func (p *Prefixes) Stride() int { return p.stride }

// PrefixMatch is what a prompt has in common with earlier ones.
type PrefixMatch struct {
	Units int // at its beginning
	Again int // units of those that no prompt before had in common with an earlier one
	// Name is that of the longest beginning of whole blocks in common that leaves something to compute; 0 for none.
	Name uint64
}

// Add takes the next prompt. Prompts of another kind share nothing with it. next makes the name of a beginning that is
// unit i longer than that of h. block is in units.
func (p *Prefixes) Add(kind uint64, units, block int, next func(h uint64, i int) uint64) (m PrefixMatch) {
	h, searching := kind, true
	for end := 1; end <= units; end++ {
		h = next(h, end-1)
		kept := end&(p.stride-1) == 0
		if searching {
			if mark, found := p.seen[h]; found {
				if mark&prefixReused == 0 {
					p.seen[h] = mark | prefixReused
					m.Again += end - m.Units
				}
				if m.Units = end; end%block == 0 && end < units {
					m.Name = h
				}
				continue
			}
			searching = !kept
		}
		if kept {
			p.seen[h] = prefixMark(bits.TrailingZeros(uint(end)))
			p.thin()
		}
	}
	return m
}

// thin makes room where there are too many names. Those that were found again are the last to go.
func (p *Prefixes) thin() {
	for reused, most := prefixReused, p.most; len(p.seen) > most; reused, most = 0, p.most-p.most/4 {
		p.stride *= 2
		least := prefixMark(bits.TrailingZeros(uint(p.stride)))
		maps.DeleteFunc(p.seen, func(_ uint64, m prefixMark) bool { return m&reused == 0 && m&^prefixReused < least })
	}
}

// Sharing tells what share of a run's input tokens a perfect prefix cache, of any size, could answer from earlier
// prompts and answers of the same run. A server whose hits are far above that answers from something else, such as an
// earlier run. Its methods may be called from any goroutine.
type Sharing struct {
	// Each says that each prompt is told what it shares. Set it before the first.
	Each bool
	seed maphash.Seed

	mu       sync.Mutex // guards everything below
	prefixes *Prefixes
	count    float64 // of prompts
	total    float64 // tokens
	shared   float64 // tokens that an earlier prompt began with, too
}

const (
	sharedTokens = 16 // to a block, as in vLLM
	sharedBytes  = 64 // to a block of a text, whose tokens are not known
	sharedMost   = 1 << 20
)

// WholeBlocks are the tokens of whole blocks among so many.
func WholeBlocks(tokens int) int { return max(0, tokens) / sharedTokens * sharedTokens }

// NewSharing begins without prompts.
func NewSharing() *Sharing {
	return &Sharing{seed: maphash.MakeSeed(), prefixes: NewPrefixes(sharedMost)}
}

// Add takes the prompts of a conversation, after those of the conversations before. Prompts that are made when they are
// sent are left out: Take takes them then.
func (s *Sharing) Add(c Conversation) {
	for i := range c.Turns {
		if t := &c.Turns[i]; t.Prompt.Compose == nil {
			s.Take(t)
		}
	}
}

// Take takes the next prompt. Where each is told, it sets its IdealTokens, unless these are known.
func (s *Sharing) Take(t *Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.IdealKnown {
		s.file(float64(t.InputTokens), float64(t.IdealTokens))
		return
	}
	if shared := s.turn(t); s.Each {
		t.IdealTokens, t.IdealKnown = int(shared), true
	}
}

// Reset forgets all prompts.
func (s *Sharing) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prefixes, s.count, s.total, s.shared = NewPrefixes(sharedMost), 0, 0, 0
}

// Know takes a text that the server knows though it was no prompt, as an answer behind its prompt.
func (s *Sharing) Know(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.match(len(text), sharedBytes, s.bytes(text))
}

// ShareBehind is the share, 0 to 1, if so many tokens more stood before every prompt, the same before all of them, as a
// server's chat template puts them there; 0 before the first prompt. Beyond some sixteen million different tokens not
// every block is remembered, and the share may be a few blocks a prompt too low.
func (s *Sharing) ShareBehind(tokens float64) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	total := s.total + tokens*s.count
	if total == 0 {
		return 0
	}
	return (s.shared + tokens*(s.count-1)) / total
}

// turn takes a prompt and returns the tokens of it that are shared.
func (s *Sharing) turn(t *Turn) (shared float64) {
	for i := range t.Batch {
		shared += s.turn(&t.Batch[i])
	}
	switch {
	case t.Batch != nil:
		return shared
	case t.TokenIDs != nil:
		return s.add(len(t.TokenIDs), len(t.TokenIDs), sharedTokens, func(h uint64, from, to int) uint64 {
			for _, id := range t.TokenIDs[from:to] {
				h = NextName(h, uint64(id))
			}
			return h
		})
	}
	text := t.Compared()
	tokens := t.InputTokens
	if tokens == 0 {
		tokens = (len(text) + 3) / 4 // an estimate
	}
	return s.add(tokens, len(text), sharedBytes, s.bytes(text))
}

// bytes names the beginnings of a text.
func (s *Sharing) bytes(text string) func(h uint64, from, to int) uint64 {
	return func(h uint64, from, to int) uint64 { return NextName(h, maphash.String(s.seed, text[from:to])) }
}

// Compared is the text that a cache compares with those of other prompts.
func (t *Turn) Compared() string {
	if len(t.Messages) > 0 {
		return string(t.Messages)
	}
	return t.Text
}

// add takes a prompt of so many tokens, and of a length in blocks of another measure, and returns its tokens that are
// shared. Only whole blocks count, and at least one unit is left, as a server always computes one.
func (s *Sharing) add(tokens, length, block int, next func(h uint64, from, to int) uint64) (shared float64) {
	if length > 0 {
		hits := min(s.match(length, block, next), (length-1)/block) * block
		shared = float64(tokens) * float64(hits) / float64(length)
	}
	s.file(float64(tokens), shared)
	return shared
}

// match is the number of blocks that something earlier began with, too.
func (s *Sharing) match(length, block int, next func(h uint64, from, to int) uint64) int {
	return s.prefixes.Add(uint64(block), length/block, 1,
		func(h uint64, i int) uint64 { return next(h, i*block, (i+1)*block) }).Units
}

// file counts a prompt.
func (s *Sharing) file(tokens, shared float64) {
	s.count++
	s.total += tokens
	s.shared += shared
}

// NextName makes a name of a name and the value that follows: each of its bits depends on all bits of both.
func NextName(h, v uint64) uint64 {
	h = (h ^ v) * 0x9e3779b97f4a7c15
	h = (h ^ h>>32) * 0xd6e8feb86659fd93
	return h ^ h>>32
}
