// Package tokenizer counts tokens and makes text of a given token length.
//
// It says what a dataset needs from a tokenizer and brings the means: Local reads the tokenizer.json of the Hugging Face
// libraries, which Find looks for on this machine and on the hub; Server asks the inference server; Estimate goes by the
// length of the text.
package tokenizer

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
