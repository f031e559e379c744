package datasets

import (
	"fmt"
	"slices"

	"benchtop/datasets/tokenizer"
)

// vocabularyFor is what random prompts for tok are made of, and whether it is assumed rather than known to be the model's.
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

// formOf says what prompts are made of, and whether that is vLLM's workload.
func formOf(v Vocabulary, text, assumed bool) string {
	ids := fmt.Sprintf("token ids %d to %d", v.First, v.First+v.Size-1)
	switch {
	case text && assumed:
		return "text of " + ids + " (assumed: the tokenizer does not tell its vocabulary, so this is not vLLM's workload)"
	case text:
		return "text"
	case assumed:
		return ids + " (assumed: the model's vocabulary is not known)"
	}
	return ids
}
