// Package tokenizer counts tokens and makes text of a given token length.
//
// It says what a dataset needs from a tokenizer and brings the means: Local reads the tokenizer.json of the Hugging Face
// libraries, which Find looks for on this machine and on the hub; Server asks the inference server; Estimate goes by the
// length of the text.
package tokenizer

import (
	"context"

	"benchtop/datasets/parallel"
)

// Counter counts the tokens of a text as a server would on receiving it as a prompt: with the special tokens, such as a
// start marker, that the model's tokenizer adds by itself. Implementations are safe for concurrent use.
type Counter interface {
	Count(text string) (int, error)
}

// Tokenizer turns text into token ids and back. It is what synthetic prompts are made with.
type Tokenizer interface {
	// Encode returns the ids of text, without any special tokens added.
	Encode(text string) ([]int, error)
	// Decode returns the text of ids, special ones included as they are.
	Decode(ids []int) (string, error)
	// VocabSize is the number of ids of the base vocabulary, 0 … VocabSize-1, without added tokens.
	VocabSize() int
	// IDs lists all ids, ascending, those of added tokens among them. The caller must not change it.
	IDs() []int
	// SpecialIDs are the ids that no synthetic prompt may hold; they may lie outside the base vocabulary.
	SpecialIDs() []int
	// SpecialTokensToAdd is how many tokens the tokenizer adds by itself to a single text.
	SpecialTokensToAdd() int
}

// inFlight is how many texts CountAll has counted at once: enough to hide a server's response time, little enough to
// leave it alone.
const inFlight = 64

// contextCounter is a Counter that can be interrupted.
type contextCounter interface {
	CountContext(ctx context.Context, text string) (int, error)
}

// CountAll counts many texts, up to 64 at once, and returns the counts in the order of the texts. The first failure
// stops it; of several, the one of the earliest text is returned. It returns ctx's error when ctx ends first.
func CountAll(ctx context.Context, c Counter, texts []string) ([]int, error) {
	count := func(_ context.Context, text string) (int, error) { return c.Count(text) }
	if c, ok := c.(contextCounter); ok {
		count = c.CountContext
	}
	counts := make([]int, len(texts))
	err := parallel.Each(ctx, inFlight, len(texts), func(i int) (err error) {
		counts[i], err = count(ctx, texts[i])
		return err
	})
	return counts, err
}
