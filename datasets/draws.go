package datasets

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"benchtop/internal/hf/media"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/hf/tokenizer"
)

// RangeRatio says how far lengths stray: a length n is drawn between n·(1-ratio) and n·(1+ratio), both rounded
// outwards. Ratios lie in [0, 1).
type RangeRatio struct {
	Input  float64
	Output float64
}

// ParseRangeRatio reads a number, which then holds for input and output, or a JSON object with both "input" and
// "output". Whether the ratios lie in their range is checked with the rest of the options.
func ParseRangeRatio(s string) (RangeRatio, error) {
	if f, ok := media.ParseFloat(s); ok {
		return RangeRatio{f, f}, nil
	}
	var fields map[string]json.RawMessage // a struct would take "Input" for "input" and null for 0
	if err := json.Unmarshal([]byte(s), &fields); err != nil || fields == nil {
		return RangeRatio{},
			fmt.Errorf(`range ratio %q: expected a number such as 0.5 or {"input": 0.5, "output": 0.2}`, s)
	}
	input, err1 := ratioField(fields, "input")
	output, err2 := ratioField(fields, "output")
	if err := errors.Join(err1, err2); err != nil {
		return RangeRatio{}, fmt.Errorf("range ratio %q: %w", s, err)
	}
	return RangeRatio{input, output}, nil
}

func ratioField(fields map[string]json.RawMessage, key string) (float64, error) {
	raw, ok := fields[key]
	if !ok {
		return 0, fmt.Errorf("%q is missing; give both input and output", key)
	}
	var f *float64
	if err := json.Unmarshal(raw, &f); err != nil || f == nil {
		return 0, fmt.Errorf("%q is %s; expected a number", key, raw)
	}
	return *f, nil
}

// String writes the ratio so that ParseRangeRatio reads it back: one number where one will do.
func (r RangeRatio) String() string {
	number := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
	if r.Input == r.Output || math.IsNaN(r.Input) {
		return number(r.Input)
	}
	return fmt.Sprintf(`{"input": %s, "output": %s}`, number(r.Input), number(r.Output))
}

// bounds are the shortest and longest length drawn around n. They are computed in doubles, as vLLM does:
// 100·(1+0.1) is a little above 110, so the longest is 111.
func bounds(n int, ratio float64) (lo, hi int) {
	return int(math.Floor(float64(n) * (1 - ratio))), int(math.Ceil(float64(n) * (1 + ratio)))
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

// drawLengths moves gen past the lengths of n prompts and then past those of their answers, at least 1 each, as vLLM
// draws them.
func drawLengths(gen *numpy.Generator, input, output int, ratio RangeRatio, n int) (inputs, outputs draws) {
	inLo, inHi := bounds(input, ratio.Input)
	outLo, outHi := bounds(output, ratio.Output)
	inputs = drawAhead(gen, inLo, inHi+1, n)
	return inputs, drawAhead(gen, max(1, outLo), max(1, outHi)+1, n)
}

func (d *draws) next() int { return int(d.gen.Integers(d.lo, d.hi)) }

// String gives the lengths drawn, in tokens.
func (d draws) String() string {
	if d.lo == d.hi-1 {
		return strconv.FormatInt(d.lo, 10)
	}
	return fmt.Sprintf("%d to %d", d.lo, d.hi-1)
}

// appendRun appends length allowed ids in a row, from the one at offset on, around the end if need be.
func appendRun(ids, allowed []int, offset, length int) []int {
	for at := offset % len(allowed); length > 0; at = 0 {
		run := min(length, len(allowed)-at)
		ids = append(ids, allowed[at:at+run]...)
		length -= run
	}
	return ids
}

// Vocabulary is the token ids that prompts may be made of: First … First+Size-1 without the special ones. The zero
// value means that nothing is known about the model, and stands for AssumedVocabulary.
type Vocabulary struct {
	First   int
	Size    int
	Special []int // ids to leave out; they may lie outside the range
}

// AssumedVocabulary holds the ids 1000 … 31999. Nearly every text model has them, and none is special in the common
// families, whose special ids come first or last.
func AssumedVocabulary() Vocabulary { return Vocabulary{First: 1000, Size: 31000} }

// Known reports whether the vocabulary was given, rather than left for AssumedVocabulary.
func (v Vocabulary) Known() bool { return v.Size != 0 || v.First != 0 || len(v.Special) != 0 }

// maxVocabulary is far above any model's, and small enough to list.
const maxVocabulary = 1 << 26

func (v Vocabulary) validate() error {
	p := &problems{}
	p.between("first token id", v.First, 0, maxVocabulary)
	p.between("vocabulary size", v.Size, 1, maxVocabulary)
	if len(*p) == 0 && len(v.IDs()) == 0 {
		p.add("the vocabulary holds nothing but special tokens")
	}
	return errors.Join(*p...)
}

// IDs lists the ids that prompts may hold, ascending.
func (v Vocabulary) IDs() []int {
	ids := make([]int, v.Size)
	for i := range ids {
		ids[i] = v.First + i
	}
	return except(ids, v.Special)
}

// except leaves special ids out of others.
func except(ids, special []int) []int {
	if len(special) == 0 {
		return ids
	}
	left := make(map[int]bool, len(special))
	for _, id := range special {
		left[id] = true
	}
	return slices.DeleteFunc(ids, func(id int) bool { return left[id] })
}

// vocabularyFor is the vocabulary of random prompts for tok, and whether it is assumed rather than known to be the
// model's. given counts only where a tokenizer is missing or does not tell the size of its vocabulary.
func vocabularyFor(given Vocabulary, tok tokenizer.Tokenizer) (v Vocabulary, assumed bool) {
	if tok != nil && tok.VocabSize() > 0 {
		return Vocabulary{Size: tok.VocabSize(), Special: tok.SpecialIDs()}, false
	}
	if tok == nil && given.Known() {
		return given, false
	}
	if !given.Known() {
		given = AssumedVocabulary()
	}
	if tok != nil {
		given.Special = slices.Concat(given.Special, tok.SpecialIDs())
	}
	return given, true
}

// notKnown marks token ids that may not be the model's.
const notKnown = " (assumed: the model's vocabulary is not known)"

// String gives the range.
func (v Vocabulary) String() string {
	return fmt.Sprintf("token ids %d to %d", v.First, v.First+v.Size-1)
}

// described is the range of a vocabulary, and whether it was given.
func (v Vocabulary) described(given bool) string {
	if given {
		return v.String()
	}
	return v.String() + notKnown
}

// formOf names the material of prompts, and says where that is not vLLM's workload.
func formOf(v Vocabulary, text, assumed bool) string {
	switch {
	case text && assumed:
		return "text of " + v.String() + " (assumed: the tokenizer does not tell its vocabulary, so this is not " +
			"vLLM's workload)"
	case text:
		return "text"
	}
	return v.described(!assumed)
}
