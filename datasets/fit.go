package datasets

import (
	"fmt"

	"benchtop/datasets/tokenizer"
)

// fitRetries is how often a fitting corrects its prompt before it settles for what came out.
const fitRetries = 10

// fitting turns ids into a text that a server will count as target tokens. Decoding and encoding need not give the ids
// back, so it does both, cuts or extends the result, and tries again:
//
//	ids ── decode ──▶ text ── encode ──▶ ids ── as many as wanted? ──▶ done
//	 ▲                                    │ no
//	 └──── cut, or append random ids ◀────┘
//
// Cutting is its own affair; what to append comes from a generator that it shares with others, so it waits for its turn.
type fitting struct {
	ids     []int
	target  int // tokens wanted
	retries int // that are left

	text string
	miss int // tokens above the target, or below it; other than 0 only if the retries ran out
	done bool
	err  error // of the tokenizer; it is done then too
}

// advance goes on until the prompt is done or short of ids. Without a tokenizer ids are sent as they are.
func (f *fitting) advance(tok tokenizer.Tokenizer) {
	if tok == nil {
		f.done = true
	}
	for !f.done && f.round(tok) {
	}
}

// round decodes and encodes once, and reports whether there is something left to try without further ids.
func (f *fitting) round(tok tokenizer.Tokenizer) bool {
	if f.text, f.err = tok.Decode(f.ids); f.err == nil {
		f.ids, f.err = tok.Encode(f.text)
	}
	if f.err != nil || f.retries <= 0 || len(f.ids) == f.target {
		f.done, f.miss = true, len(f.ids)-f.target
		return false
	}
	f.retries--
	keep := min(len(f.ids), f.target)
	f.ids = f.ids[:keep:keep]
	return keep == f.target
}

// settle brings a prompt that has advanced to its end. draw gives the ids to append, special ones among them, as vLLM has
// it. It draws nothing for a prompt that is done.
func (f *fitting) settle(tok tokenizer.Tokenizer, draw func() int) {
	for !f.done {
		for len(f.ids) < f.target {
			f.ids = append(f.ids, draw())
		}
		f.advance(tok)
	}
}

// fit does all of it at once.
func fit(tok tokenizer.Tokenizer, ids []int, target int, draw func() int) *fitting {
	f := &fitting{ids: ids, target: target, retries: fitRetries}
	f.advance(tok)
	f.settle(tok, draw)
	return f
}

// missed tells, at the end of a description, by how many tokens all prompts together miss their lengths; nothing for 0.
func missed(tokens int) string {
	switch {
	case tokens > 0:
		return fmt.Sprintf(", %d tokens more than asked for in all", tokens)
	case tokens < 0:
		return fmt.Sprintf(", %d tokens fewer than asked for in all", -tokens)
	}
	return ""
}
