package datasets

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"benchtop/internal/hf/numpy"
	"benchtop/internal/hf/tokenizer"
	"benchtop/internal/parallel"
)

// prefixRepetition is random prompts of which many begin alike. Lengths are in tokens.
type prefixRepetition struct {
	Common        // of its Prompts those that the prefixes cannot share evenly are left out
	PrefixLen int // of each beginning
	SuffixLen int // of each end
	Prefixes  int // how many beginnings
	OutputLen int // output length asked for; 0 lets the server decide
	// Vocabulary is used when prompts are sent as token ids, or when the tokenizer does not tell the size of its own.
	// Special ids are not left out, as vLLM has it.
	Vocabulary Vocabulary
}

func (o prefixRepetition) check() error {
	o.OutputLen = o.outputLen(o.OutputLen)
	p := &problems{}
	p.between("number of prompts", o.Prompts, 1, math.MaxInt32)
	p.between("prefix length", o.PrefixLen, 0, maxLen)
	p.between("suffix length", o.SuffixLen, 0, maxLen)
	p.between("number of prefixes", o.Prefixes, 1, math.MaxInt32)
	p.between("output length", o.OutputLen, 0, maxLen)
	p.seed(o.Seed, math.MaxUint32)
	if o.Prompts < o.Prefixes {
		p.add("number of prompts %d must be at least the number of prefixes %d; ask for more prompts or fewer prefixes",
			o.Prompts, o.Prefixes)
	}
	return p.of("prefix_repetition")
}

func (o *prefixRepetition) Define(group func(string) Flags) {
	f := group("Data set prefix_repetition")
	f.IntVar(&o.PrefixLen, "prefix-repetition-prefix-len", o.PrefixLen, "length of the prefixes in tokens")
	f.IntVar(&o.SuffixLen, "prefix-repetition-suffix-len", o.SuffixLen,
		"tokens after the prefix, different in each prompt")
	f.IntVar(&o.Prefixes, "prefix-repetition-num-prefixes", o.Prefixes, "number of prefixes")
	f.IntVar(&o.OutputLen, "prefix-repetition-output-len", o.OutputLen, "output length in tokens")
}

func (o prefixRepetition) needs() Needs {
	return Needs{Forms: AsText | AsTokenIDs, Ends: true, Aligned: true, Shares: true,
		InputLen: o.PrefixLen + o.SuffixLen, OutputLen: o.outputLen(o.OutputLen)}
}

func (o prefixRepetition) open(_ context.Context, t Tools) (Flow, error) {
	tok, vocab, err := o.maker(t)
	if err != nil {
		return Flow{}, err
	}
	o.OutputLen, o.Vocabulary = o.outputLen(o.OutputLen), vocab
	return o.make(tok, t.Streams())
}

// make makes prompts of random tokens that share prefixes, those of vLLM's prefix_repetition for the same
// seed and tokenizer. tok may be nil: prompts are then ids of o.Vocabulary, sent as they are. It seeds both generators
// of s with o.Seed and leaves them as vLLM's client would. Prompts have no request ids.
func (o prefixRepetition) make(tok tokenizer.Tokenizer, s *numpy.Streams) (Flow, error) {
	vocab, assumed := vocabularyFor(o.Vocabulary, tok)
	if err := vocab.validate(); err != nil {
		return Flow{}, inDataset("prefix_repetition", err)
	}
	s.Python.Seed(o.Seed)
	s.Legacy.Seed(uint32(o.Seed))
	parts, err := (&guesses{tok: tok, vocab: vocab, gen: s.Legacy}).fitAll(o.lengths())
	if err != nil {
		return Flow{}, inDataset("prefix_repetition", err)
	}
	miss := 0
	all, err := o.join(parts, tok)
	if err != nil {
		return Flow{}, inDataset("prefix_repetition", err)
	}
	about := fmt.Sprintf(
		"prefix_repetition: %d prompts, %d to each of %d prefixes of %d tokens, then %d tokens of their own%s, "+
			"as %s", len(all), o.each(), o.Prefixes, o.PrefixLen, o.SuffixLen, o.answers(strconv.Itoa(o.OutputLen)),
		formOf(vocab, tok != nil, assumed))
	// unlike in the data set random: the changes and draws that decoding and encoding would cause are not known
	if tok == nil {
		about += "; not vLLM's workload, which needs a tokenizer"
	}
	for _, c := range all {
		miss += c.Turns[0].InputTokens - o.PrefixLen - o.SuffixLen
	}
	about += missed(miss)
	shuffle(all, o.Common, s.Python)
	return ListOf(all, about), nil
}

// each is how many prompts share a prefix.
func (o prefixRepetition) each() int { return o.Prompts / o.Prefixes }

// lengths are those of all parts in the order of their draws: a prefix and its suffixes, the next prefix and its
// suffixes.
func (o prefixRepetition) lengths() []int {
	family := append([]int{o.PrefixLen}, slices.Repeat([]int{o.SuffixLen}, o.each())...)
	return slices.Repeat(family, o.Prefixes)
}

// join makes prompts of the parts. Whether a prompt encodes to the ids of its parts is not looked at, as vLLM has it.
func (o prefixRepetition) join(parts [][]int, tok tokenizer.Tokenizer) ([]Conversation, error) {
	all := make([]Conversation, o.Prefixes*o.each())
	err := parallel.Each(context.Background(), callsAtOnce(tok), len(all), func(i int) (err error) {
		family := parts[i/o.each()*(o.each()+1):]
		ids := slices.Concat(family[0], family[1+i%o.each()])
		turn := Turn{InputTokens: len(ids), MaxTokens: o.OutputLen}
		if tok == nil {
			turn.TokenIDs = ids
		} else if turn.Text, err = tok.Decode(ids); err != nil {
			return fmt.Errorf("prompt %d: %w", i, err)
		}
		all[i].Turns = []Turn{turn}
		return nil
	})
	return all, err
}
