package datasets

import (
	"slices"
	"testing"
)

// blockTexts are the texts that sessions can be made of.
func blockTexts(t *testing.T, seed int64) map[string]*blockText {
	t.Helper()
	all := map[string]*blockText{}
	for name, c := range map[string]struct {
		forms Forms
		tools toyTools
		words bool
	}{
		"token ids": {AsTokenIDs, toyTools{nil, nil}, false}, "words": {AsText, toyTools{nil, nil}, true},
		"tokens as words":    {AsText, toyTools{gpt2(t), nil}, true},
		"ids of a tokenizer": {AsTokenIDs | AsText, toyTools{gpt2(t), nil}, false},
	} {
		b, assumed, err := newBlockText(t.Context(), Common{Forms: c.forms, Seed: seed}, c.tools)
		if err != nil || assumed || (b.ids == nil) != c.words || b.size() < fewestWords {
			t.Fatalf("%s: %v, assumed %v, %d", name, err, assumed, b.size())
		}
		all[name] = b
	}
	return all
}

// Equal blocks are equal tokens, the beginning of a block is that of a longer part of it, and blocks of other numbers,
// scopes and requests differ from the first token on.
func TestBlockText(t *testing.T) {
	others := blockTexts(t, 2)
	for name, b := range blockTexts(t, 1) {
		one := b.block(nil, 1, 5, 8)
		if !slices.Equal(one, b.block(nil, 1, 5, 8)) || !slices.Equal(one[:3], b.block(nil, 1, 5, 3)) {
			t.Errorf("%s: a block has several texts", name)
		}
		half := uint32(b.size() / 2)
		first := map[uint32]bool{}
		for number := range uint64(min(half, 1000)) {
			tokens := b.block(nil, 1, number, 2)
			if first[tokens[0]] || tokens[0] >= half {
				t.Fatalf("%s: block %d begins as another", name, number)
			}
			first[tokens[0]] = true
		}
		for request := range 100 {
			tokens := b.own(nil, 1, request, 2)
			if tokens[0] < half || int(tokens[0]) >= b.size() || slices.Equal(tokens, b.own(nil, 2, request, 2)) {
				t.Fatalf("%s: request %d has tokens of others", name, request)
			}
		}
		if b.block(nil, 1, 5, 1)[0] == b.block(nil, 2, 5, 1)[0] ||
			b.block(nil, 1, 5, 1)[0] == others[name].block(nil, 1, 5, 1)[0] {
			t.Errorf("%s: scopes or seeds begin alike", name)
		}
	}
}

// Words of a tokenizer are single tokens, wherever they stand.
func TestBlocksOfWords(t *testing.T) {
	tok := gpt2(t)
	b := blockTexts(t, 3)["tokens as words"]
	var turn Turn
	indices := b.block(b.own(b.block(nil, 1, 1, 500), 1, 1, 7), 1, 2, 493)
	b.set(&turn, indices)
	ids, err := tok.Encode(turn.Text)
	if err != nil || len(ids) != 1000 || len(b.words) != mostWords {
		t.Fatalf("1000 words of %d are %d tokens, %v", len(b.words), len(ids), err)
	}
	for i, index := range indices {
		if text, _ := tok.Decode(ids[i : i+1]); text != b.words[index] {
			t.Fatalf("token %d is %q, want %q", i, text, b.words[index])
		}
	}
}

func TestBlocksNeedWords(t *testing.T) {
	_, _, err := newBlockText(t.Context(), Common{Forms: AsText}, toyTools{newToy(t, "identity", 997, nil, 0), nil})
	complains(t, err,
		"the tokenizer has too few tokens that are whole words; use a backend that takes token ids, such as openai")
}

// uncounted are tools without a counter, characters those whose tokenizer takes each character for a token.
type (
	uncounted  struct{ toyTools }
	characters struct{ toyTools }
	byLetter   struct{}
)

func (uncounted) Text() Text                    { return Text{} }
func (characters) Text() Text                   { return Text{Counter: byLetter{}} }
func (byLetter) Count(text string) (int, error) { return len(text), nil }

// Words that no tokenizer is known to take for tokens are assumed to be some.
func TestBlocksOfAssumedWords(t *testing.T) {
	for name, tools := range map[string]Tools{"no counter": uncounted{}, "no word is a token": characters{}} {
		b, assumed, err := newBlockText(t.Context(), Common{Forms: AsText}, tools)
		if err != nil || !assumed || len(b.words) < fewestWords {
			t.Errorf("%s: %d words, assumed %v, %v", name, len(b.words), assumed, err)
		}
	}
	_, _, err := newBlockText(t.Context(), Common{Forms: AsTokenIDs, VocabSize: 1}, smallVocabulary{})
	complains(t, err, "a vocabulary of 1 tokens is too small to tell blocks apart; use at least 64")
}

type smallVocabulary struct{ toyTools }

func (smallVocabulary) TokenIDs() Vocabulary { return Vocabulary{Size: 1} }
