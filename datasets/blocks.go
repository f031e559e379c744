package datasets

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"benchtop/internal/hf/tokenizer"
)

// blockText makes the tokens that blocks stand for. Blocks with equal numbers have equal tokens, and those with
// different numbers differ from the first token on, so that prompts share prefixes of exactly the length that their
// blocks say.
type blockText struct {
	ids   []int    // that prompts consist of; nil for words
	words []string // each a token by itself and behind any other
	seed  uint64
}

// newBlockText makes token ids where they can be sent, else words. assumed says that a word may be no token.
func newBlockText(ctx context.Context, c Common, t Tools) (b *blockText, assumed bool, err error) {
	b = &blockText{seed: uint64(c.Seed)}
	tok := t.Local()
	switch {
	case c.Forms == 0 || c.Forms.Overlap(AsTokenIDs):
		if b.ids = t.TokenIDs().IDs(); tok != nil && c.VocabSize == 0 {
			vocabulary, _ := vocabularyFor(Vocabulary{}, tok)
			b.ids = vocabulary.IDs()
		} else if !c.vocabulary().Known() {
			b.ids = AssumedVocabulary().IDs()
		}
		if len(b.ids) < fewestWords {
			return nil, false,
				fmt.Errorf("a vocabulary of %d tokens is too small to tell blocks apart; use at least %d", len(b.ids),
					fewestWords)
		}
	case tok != nil:
		if b.words = wordTokens(tok); len(b.words) < fewestWords {
			return nil, false,
				errors.New("the tokenizer has too few tokens that are whole words; use a backend that takes token " +
					"ids, such as openai")
		}
	default:
		if b.words, err = countedWords(ctx, t.Text()); err != nil {
			return nil, false, err
		}
		if assumed = len(b.words) < fewestWords; assumed {
			b.words = commonWords()
		}
	}
	return b, assumed, nil
}

// commonWords are words behind blanks, about a token each.
func commonWords() (words []string) {
	seen := map[string]bool{}
	for id := range 1 << 14 {
		word, _ := tokenizer.Words{}.Decode([]int{id}) // never fails
		if !seen[word] {
			seen[word] = true
			words = append(words, " "+word)
		}
	}
	return words
}

// countedWords are the common words that the server's tokenizer takes for a token each; none where nothing counts.
func countedWords(ctx context.Context, text Text) (words []string, err error) {
	if _, estimated := text.Counter.(tokenizer.Estimate); text.Counter == nil || estimated {
		return nil, nil
	}
	const few, many = 4, 12 // of which the difference has no special tokens
	all := commonWords()
	rows := make([]string, 0, 2*len(all))
	for _, word := range all {
		rows = append(rows, strings.Repeat(word, few), strings.Repeat(word, many))
	}
	counts, err := text.count(ctx, rows)
	if err != nil {
		return nil, err
	}
	for i, word := range all {
		if counts[2*i+1]-counts[2*i] == many-few {
			words = append(words, word)
		}
	}
	return words, nil
}

const (
	fewestWords = 64
	mostWords   = 1 << 13
)

// wordTokens are texts of single tokens that stay single tokens behind each other: a blank and letters, which
// tokenizers do not join.
func wordTokens(tok tokenizer.Tokenizer) (words []string) {
	for _, id := range tok.IDs() {
		text, err := tok.Decode([]int{id})
		if err != nil || len(text) < 3 || text[0] != ' ' || strings.Trim(text[1:], "abcdefghijklmnopqrstuvwxyz") != "" {
			continue
		}
		if back, err := tok.Encode(text + text); err == nil && len(back) == 2 && back[0] == id && back[1] == id {
			if words = append(words, text); len(words) == mostWords {
				break
			}
		}
	}
	return words
}

// size is that of the vocabulary.
func (b *blockText) size() int { return max(len(b.ids), len(b.words)) }

// block appends the places in the vocabulary of the first n tokens of a block. Block numbers mean the same in one
// scope. The first half of the vocabulary begins blocks, the second half what belongs to a request alone.
func (b *blockText) block(dst []uint32, scope, number uint64, n int) []uint32 {
	half, state := uint64(b.size()/2), NextName(NextName(0, b.seed), scope)
	return b.tokens(dst, (number%half+state%half)%half, NextName(state, number), n)
}

// own appends the places of n tokens of a request alone, that of a session of the run.
func (b *blockText) own(dst []uint32, session uint64, request, n int) []uint32 {
	half, state := uint64(b.size()/2), NextName(NextName(0, ^b.seed), session)
	return b.tokens(dst, half+(uint64(request)+state)%half, NextName(state, uint64(request)), n)
}

// tokens appends the places of n tokens: the first, and what follows from a state.
func (b *blockText) tokens(dst []uint32, first, state uint64, n int) []uint32 {
	size := uint64(b.size())
	for i := range n {
		if i == 0 {
			dst = append(dst, uint32(first))
			continue
		}
		state = state*6364136223846793005 + 1442695040888963407
		dst = append(dst, uint32((state>>33)*size>>31))
	}
	return dst
}

// set makes the prompt of a turn of places in the vocabulary.
func (b *blockText) set(t *Turn, indices []uint32) {
	if b.ids != nil {
		t.TokenIDs = make([]int, len(indices))
		for i, index := range indices {
			t.TokenIDs[i] = b.ids[index]
		}
		return
	}
	var text strings.Builder
	for _, index := range indices {
		text.WriteString(b.words[index])
	}
	t.Text = text.String()
}
