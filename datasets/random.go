package datasets

import (
	"fmt"
	"io"
	"strconv"

	"benchtop/datasets/numpy"
	"benchtop/datasets/tokenizer"
)

// Random is a source of prompts made of random tokens, those of vLLM's random dataset for the same seed and tokenizer.
// With a tokenizer the prompts are text; without one they are token ids. They are made as they are asked for, so a
// large number of prompts costs neither memory nor a long wait before the first.
type Random struct {
	o     RandomOptions
	tok   tokenizer.Tokenizer // nil: prompts are ids
	vocab Vocabulary
	ids   []int // those prompts may hold, ascending

	// Lengths and offsets of all prompts are drawn before anything else, one kind after the other. Each kind keeps the
	// generator as it stood at its beginning and draws again, prompt by prompt; gen stands behind all of them.
	inputs, outputs, offsets draws
	gen                      numpy.Generator

	prefix []int // what all prompts begin with, as the tokenizer gave it back
	made   int   // prompts so far
	number int   // of the next request id
	miss   int
}

// NewRandom prepares the prompts that o describes. tok may be nil: prompts are then ids of o.Vocabulary, sent as they
// are, and no room is left for special tokens, since a server adds none to ids.
func NewRandom(o RandomOptions, tok tokenizer.Tokenizer) (*Random, error) {
	vocab, specialTokens := o.Vocabulary, 0
	if tok != nil {
		vocab = Vocabulary{Size: tok.VocabSize(), Special: tok.SpecialIDs()}
		specialTokens = tok.SpecialTokensToAdd()
		o.Vocabulary = Vocabulary{}
	} else if !vocab.Known() {
		vocab = AssumedVocabulary()
	}
	if err := o.validate(specialTokens); err != nil {
		return nil, err
	}
	if err := vocab.validate(); err != nil {
		return nil, fmt.Errorf("dataset random: %w", err)
	}
	r := &Random{o: o, tok: tok, vocab: vocab, ids: vocab.allowed()}
	if err := r.start(max(0, o.InputLen-specialTokens)); err != nil {
		return nil, err
	}
	return r, nil
}

// start makes the draws that come before the first prompt.
func (r *Random) start(inputLen int) error {
	r.gen = *numpy.NewGenerator(uint64(r.o.Seed))
	inLo, inHi := bounds(inputLen, r.o.Ratio.Input)
	outLo, outHi := bounds(r.o.OutputLen, r.o.Ratio.Output)
	r.inputs = drawAhead(&r.gen, inLo, inHi+1, r.o.Prompts)
	r.outputs = drawAhead(&r.gen, max(1, outLo), max(1, outHi)+1, r.o.Prompts)
	r.offsets = drawAhead(&r.gen, 0, r.vocab.Size, r.o.Prompts)
	if r.o.PrefixLen == 0 {
		return nil
	}
	prefix := make([]int, r.o.PrefixLen)
	for i := range prefix {
		prefix[i] = r.ids[r.gen.Choice(len(r.ids))]
	}
	_, fitted, _, err := r.fit(prefix, r.o.PrefixLen)
	if err != nil {
		return fmt.Errorf("dataset random, prefix: %w", err)
	}
	r.prefix = fitted
	return nil
}

// draws yields integers in [lo, hi) from a generator of its own.
type draws struct {
	gen    numpy.Generator
	lo, hi int64
}

// drawAhead moves gen past n draws in [lo, hi) and returns them to be drawn again.
func drawAhead(gen *numpy.Generator, lo, hi, n int) draws {
	d := draws{*gen, int64(lo), int64(hi)}
	for range n {
		gen.Integers(d.lo, d.hi)
	}
	return d
}

func (d *draws) next() int { return int(d.gen.Integers(d.lo, d.hi)) }

// Next makes the next request: one prompt, or as many as a batch holds.
func (r *Random) Next() (Conversation, error) {
	if r.made == r.o.Prompts {
		return Conversation{}, io.EOF
	}
	request := r.prompt
	if r.o.Batch > 1 {
		request = r.batch
	}
	turn, err := request()
	if err != nil {
		return Conversation{}, err
	}
	id := r.o.IDPrefix + strconv.Itoa(r.number)
	r.number++
	return Conversation{ID: id, Turns: []Turn{turn}}, nil
}

// batch makes one request of several prompts; the last may be short of some.
func (r *Random) batch() (Turn, error) {
	var all Turn
	for len(all.Batch) < r.o.Batch && r.made < r.o.Prompts {
		turn, err := r.prompt()
		if err != nil {
			return Turn{}, err
		}
		turn.MaxTokens = 0 // pooling generates nothing
		all.Batch = append(all.Batch, turn)
		all.InputTokens += turn.InputTokens
	}
	return all, nil
}

// prompt makes one prompt: the prefix, then allowed ids in a row, from the prompt's offset plus its number on, so that
// equal offsets do not make equal prompts.
func (r *Random) prompt() (Turn, error) {
	length := r.inputs.next()
	ids := make([]int, 0, len(r.prefix)+length)
	ids = append(ids, r.prefix...)
	at := (r.offsets.next() + r.made) % len(r.ids)
	for left := length; left > 0; at = 0 {
		run := min(left, len(r.ids)-at)
		ids = append(ids, r.ids[at:at+run]...)
		left -= run
	}
	text, ids, miss, err := r.fit(ids, r.o.PrefixLen+length)
	if err != nil {
		return Turn{}, fmt.Errorf("dataset random, prompt %d: %w", r.made, err)
	}
	r.made++
	r.miss += miss
	turn := Turn{Text: text, InputTokens: len(ids), MaxTokens: r.outputs.next()}
	if r.tok == nil {
		turn.TokenIDs = ids
	}
	return turn, nil
}

// fit is the text for ids, and the ids that the tokenizer makes of it. Without a tokenizer ids are sent as they are.
func (r *Random) fit(ids []int, target int) (string, []int, int, error) {
	if r.tok == nil {
		return "", ids, 0, nil
	}
	return fit(r.tok, ids, target, fitRetries, func() int { return r.gen.Choice(r.vocab.Size) })
}

// Miss is by how many tokens the prompts made so far are longer (above 0) or shorter than wanted, all together. It is
// other than 0 only with tokenizers whose text does not encode to the ids it was decoded from.
func (r *Random) Miss() int { return r.miss }

// Description says in a line what the prompts are, for the head of a report.
func (r *Random) Description() string {
	prompts := "text"
	if r.tok == nil {
		prompts = fmt.Sprintf("token ids %d to %d", r.vocab.First, r.vocab.First+r.vocab.Size-1)
		if !r.o.Vocabulary.Known() {
			prompts += " (assumed: the model's vocabulary is not known)"
		}
	}
	return fmt.Sprintf("random: %s in after a prefix of %d, %s out, as %s", r.inputs, r.o.PrefixLen, r.outputs, prompts)
}

// String gives the lengths drawn, in tokens.
func (d draws) String() string {
	if d.lo == d.hi-1 {
		return fmt.Sprintf("%d tokens", d.lo)
	}
	return fmt.Sprintf("%d to %d tokens", d.lo, d.hi-1)
}
