package datasets

import (
	"errors"
	"fmt"
	"math"
)

// RandomOptions describes prompts made of random tokens. Lengths are in tokens.
type RandomOptions struct {
	Prompts   int        `json:"prompts"`    // how many prompts
	InputLen  int        `json:"input_len"`  // prompt length, the prefix not counted
	OutputLen int        `json:"output_len"` // output length asked for, at least 1 once drawn
	PrefixLen int        `json:"prefix_len"` // tokens that all prompts begin with
	Ratio     RangeRatio `json:"range_ratio"`
	Batch     int        `json:"batch_size"` // prompts in one request; above 1 only for pooling endpoints
	IDPrefix  string     `json:"request_id_prefix"`
	Seed      int64      `json:"seed"`

	// Vocabulary is used when prompts are sent as token ids; a tokenizer brings its own.
	Vocabulary Vocabulary `json:"vocabulary"`
}

// RandomDefaults are vLLM's: 1000 prompts of 1024 tokens, 128 tokens out, all alike in length.
func RandomDefaults() RandomOptions {
	return RandomOptions{Prompts: 1000, InputLen: 1024, OutputLen: 128, Batch: 1}
}

// maxLen bounds each length: well above the longest contexts, and still little enough for memory.
const maxLen = 1 << 24

// Validate reports every problem with the options that can be told without a tokenizer.
func (o RandomOptions) Validate() error { return o.validate(0) }

// validate knows how many special tokens the tokenizer adds to a prompt. They are part of the input length.
func (o RandomOptions) validate(specialTokens int) error {
	p := o.problems()
	// vLLM looks at the shortest prompt before it looks at the ratio, so a ratio of 1 is refused for both reasons.
	length := max(0, o.InputLen-specialTokens)
	if shortest := float64(o.PrefixLen) + math.Floor(float64(length)*(1-o.Ratio.Input)); !(shortest >= 1) {
		p.add("input length %d, of which %d are special tokens, with input range ratio %v and prefix length %d allows prompts "+
			"without a single token; ask for more input tokens or a smaller ratio",
			o.InputLen, specialTokens, o.Ratio.Input, o.PrefixLen)
	}
	return p.of("random")
}

// problems are those that do not depend on a tokenizer.
func (o RandomOptions) problems() *problems {
	p := &problems{}
	p.between("number of prompts", o.Prompts, 1, math.MaxInt32)
	p.between("input length", o.InputLen, 0, maxLen)
	p.between("output length", o.OutputLen, 0, maxLen)
	p.between("prefix length", o.PrefixLen, 0, maxLen)
	p.between("batch size", o.Batch, 1, math.MaxInt32)
	p.seed(o.Seed, math.MaxInt64)
	p.ratio(o.Ratio)
	p.vocabulary(o.Vocabulary)
	return p
}

// problems collects what is wrong with the options of a synthetic data set.
type problems []error

func (p *problems) add(format string, args ...any) { *p = append(*p, fmt.Errorf(format, args...)) }

func (p *problems) between(what string, value, lo, hi int) {
	if value < lo || value > hi {
		p.add("%s %d must be between %d and %d", what, value, lo, hi)
	}
}

func (p *problems) seed(seed, last int64) {
	switch {
	case seed < 0:
		p.add("seed %d must not be negative", seed)
	case seed > last:
		p.add("seed %d must be at most %d", seed, last)
	}
}

func (p *problems) ratio(r RangeRatio) {
	each := func(what string, value float64) {
		if !(value >= 0 && value < 1) {
			p.add("%s range ratio %v must be at least 0 and below 1", what, value)
		}
	}
	each("input", r.Input)
	each("output", r.Output)
}

// vocabulary checks one that was given.
func (p *problems) vocabulary(v Vocabulary) {
	if v.Known() {
		*p = append(*p, v.validate())
	}
}

// of is all problems as those of a data set, nil for none.
func (p *problems) of(dataset string) error {
	if err := errors.Join(*p...); err != nil {
		return fmt.Errorf("dataset %s: %w", dataset, err)
	}
	return nil
}
