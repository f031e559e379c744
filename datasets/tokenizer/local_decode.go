package tokenizer

import (
	"fmt"
	"slices"
	"strings"
)

// Decode returns the text of ids, special tokens among them as they are written. An id that no token has stands for
// nothing; a negative one is an error.
func (l *Local) Decode(ids []int) (string, error) { return l.decode(ids, false) }

// DecodeSkip is Decode without the special tokens.
func (l *Local) DecodeSkip(ids []int) (string, error) { return l.decode(ids, true) }

func (l *Local) decode(ids []int, skip bool) (string, error) {
	text, err := l.tokens.decode(ids, skip)
	if l.cleanUp {
		text = cleanUp(text, false)
	}
	return text, err
}

// tokenTexts is what decoding needs to know of every token.
type tokenTexts struct {
	texts   []string // by id
	has     []bool   // by id
	special []bool   // by id
	bytes   []string // by id, what tokens in the byte alphabet stand for; nil when the decoder is another
	decoder decoder  // nil for none: then blanks stand between tokens
}

// newTokenTexts puts the added tokens over those of the model.
func newTokenTexts(v *vocabulary, added *addedTokens, d decoder) tokenTexts {
	size := max(len(v.texts), added.top+1)
	t := tokenTexts{texts: make([]string, size), has: make([]bool, size), special: make([]bool, size), decoder: d}
	copy(t.texts, v.texts)
	copy(t.has, v.has)
	for _, a := range added.tokens {
		t.texts[a.id], t.has[a.id] = a.text, true
	}
	for id, text := range t.texts {
		t.special[id] = t.has[id] && len(added.special) > 0 && added.special[text]
	}
	if d.isByteLevel() {
		t.readBytes()
	}
	return t
}

// readBytes works out what each token of the byte alphabet stands for, once instead of at every decoding.
func (t *tokenTexts) readBytes() {
	var arena []byte
	ends := make([]int, len(t.texts))
	for id, text := range t.texts {
		arena = appendByteLevel(arena, text)
		ends[id] = len(arena)
	}
	all := string(arena)
	t.bytes = make([]string, len(ends))
	start := 0
	for id, end := range ends {
		t.bytes[id] = all[start:end]
		start = end
	}
}

func (t *tokenTexts) decode(ids []int, skip bool) (string, error) {
	if i := slices.IndexFunc(ids, func(id int) bool { return id < 0 }); i >= 0 {
		return "", fmt.Errorf("the token id %d is negative; ids count from 0", ids[i])
	}
	if t.bytes != nil {
		return t.join(ids, skip), nil
	}
	tokens := make([]string, 0, len(ids))
	for _, id := range ids {
		if id < len(t.texts) && t.has[id] && !(skip && t.special[id]) {
			tokens = append(tokens, t.texts[id])
		}
	}
	if t.decoder == nil {
		return strings.Join(tokens, " "), nil
	}
	return t.decoder.decode(tokens), nil
}

// join is decode for tokens in the byte alphabet.
func (t *tokenTexts) join(ids []int, skip bool) string {
	size := 0
	for _, id := range ids {
		if id < len(t.bytes) {
			size += len(t.bytes[id])
		}
	}
	var b strings.Builder
	b.Grow(size)
	for _, id := range ids {
		if id < len(t.bytes) && !(skip && t.special[id]) {
			b.WriteString(t.bytes[id])
		}
	}
	return validText(b.String())
}

// ids lists the ids that have a token.
func (t *tokenTexts) ids() []int {
	ids := make([]int, 0, len(t.has))
	for id, is := range t.has {
		if is {
			ids = append(ids, id)
		}
	}
	return ids
}
