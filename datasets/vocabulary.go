package datasets

import (
	"errors"
	"fmt"
	"slices"

	"benchtop/datasets/tokenizer"
)

// Vocabulary is the token ids that prompts may be made of: First … First+Size-1 without the special ones. The zero
// value means that nothing is known about the model, and stands for AssumedVocabulary.
type Vocabulary struct {
	First   int   `json:"first"`
	Size    int   `json:"size"`
	Special []int `json:"special,omitempty"` // ids to leave out; they may lie outside the range
}

// AssumedVocabulary holds the ids 1000 … 31999. Nearly every text model has them, and none is special in the common
// families, whose special ids come first or last.
func AssumedVocabulary() Vocabulary { return Vocabulary{First: 1000, Size: 31000} }

// Known reports whether the vocabulary was given, rather than left for AssumedVocabulary.
func (v Vocabulary) Known() bool { return v.Size != 0 || v.First != 0 || len(v.Special) != 0 }

// maxVocabulary is far above any model's, and small enough to list.
const maxVocabulary = 1 << 26

func (v Vocabulary) validate() error {
	var errs []error
	if v.First < 0 || v.First > maxVocabulary {
		errs = append(errs, fmt.Errorf("first token id %d must be between 0 and %d", v.First, maxVocabulary))
	}
	if v.Size < 1 || v.Size > maxVocabulary {
		errs = append(errs, fmt.Errorf("vocabulary size %d must be between 1 and %d", v.Size, maxVocabulary))
	}
	if len(errs) == 0 && len(v.IDs()) == 0 {
		errs = append(errs, errors.New("the vocabulary holds nothing but special tokens"))
	}
	return errors.Join(errs...)
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
	left := make(map[int]bool, len(special))
	for _, id := range special {
		left[id] = true
	}
	return slices.DeleteFunc(ids, func(id int) bool { return left[id] })
}

// vocabularyFor is the vocabulary of random prompts for tok, and whether it is assumed rather than known to be the model's.
// given counts only where a tokenizer is missing or does not tell the size of its vocabulary.
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
		return "text of " + v.String() + " (assumed: the tokenizer does not tell its vocabulary, so this is not vLLM's workload)"
	case text:
		return "text"
	}
	return v.described(!assumed)
}
