package prompts

import (
	"math"
	"strings"
	"sync"

	"benchtop/datasets"
)

// lengthModel cuts prompts of words to the length asked for in the server's count. It learns the tokens of words from
// the usage of answers: a line through their points, since a chat template adds tokens to every prompt, and some words
// are several tokens.
//
//	tokens │       ·╱·
//	       │    ··╱
//	       │   ╱·
//	       │╱            words
//
// Until the first answer a word stands for a token. It is safe for concurrent use.
type lengthModel struct {
	mu sync.Mutex // guards the sums over what was learned
	// n prompts, their words and tokens, the squares of the words and their products with the tokens.
	n, words, tokens, squares, products float64
}

// least is the relative deviation of the lengths in words from which on they tell a template from the tokens of words.
const least = 0.01

// compose cuts a prompt of words that has as many words as it is to have tokens, or repeats some.
func (w *lengthModel) compose(t *datasets.Turn, _ []string) error {
	words := strings.Fields(t.Text)
	n := w.length(t.InputTokens)
	for len(words) > 0 && len(words) < n {
		words = append(words, words[:min(len(words), n-len(words))]...)
	}
	t.Text = strings.Join(words[:min(n, len(words))], " ")
	return nil
}

// length is the number of words of a prompt that is to have so many tokens.
func (w *lengthModel) length(tokens int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n == 0 {
		return tokens
	}
	words, mean := w.words/w.n, w.tokens/w.n
	each := mean / words
	if spread := w.squares/w.n - words*words; spread > least*least*words*words {
		each = min(max((w.products/w.n-words*mean)/spread, each/8), each) // a template takes no tokens away
	}
	return max(1, int(math.Round(words+(float64(tokens)-mean)/each)))
}

// learn takes a prompt as it was sent, and the tokens that the server counted in it.
func (w *lengthModel) learn(sent *datasets.Turn, tokens int) {
	words := float64(len(strings.Fields(sent.Text)))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n++
	w.words += words
	w.tokens += float64(tokens)
	w.squares += words * words
	w.products += words * float64(tokens)
}

// put has the prompts of turns cut when they are sent. Pictures beside a text are counted with it, so such prompts stay
// as they are, as do those that hold earlier turns.
func (w *lengthModel) put(turns []datasets.Turn) {
	if w == nil {
		return
	}
	p := datasets.Prompt{Compose: w.compose, Learn: w.learn}
	for i := range turns {
		if t := &turns[i]; t.Prompt.Compose == nil && t.Text != "" && t.Media == nil && t.Messages == nil {
			t.Prompt = p
		}
	}
}
