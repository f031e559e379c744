package tokenizer

import "unicode/utf8"

// wordPiece takes the longest token that a word begins with, then the longest that goes on from there, and so to the
// end. A word that cannot be had this way is one unknown token.
type wordPiece struct {
	tokens   *trie
	ids      []int32 // of the trie's values
	going    uint32  // the trie's node behind the prefix, 0 if no token has it
	goesOn   bool    // whether a token may go on at all: there is no prefix, or some token has it
	unknown  unknown
	maxChars int
}

// What BERT's tokenizer has, for files that do not say.
const (
	wordPiecePrefix   = "##"
	wordPieceUnknown  = "[UNK]"
	wordPieceMaxChars = 100
)

func readWordPiece(f modelFields, v *vocabulary) (model, error) {
	m := &wordPiece{maxChars: wordPieceMaxChars}
	if f.MaxChars != nil {
		m.maxChars = *f.MaxChars
	}
	if f.Unknown == nil {
		f.Unknown = new(wordPieceUnknown)
	}
	m.unknown = newUnknown(f.Unknown, v)
	m.tokens, m.ids = vocabularyTrie(v)
	prefix := wordPiecePrefix
	if f.Prefix != nil {
		prefix = *f.Prefix
	}
	m.goesOn = true
	for i := range len(prefix) {
		if m.going = m.tokens.step(m.going, prefix[i]); m.going == 0 {
			m.goesOn = false
			break
		}
	}
	return m, nil
}

// vocabularyTrie returns a trie of all tokens and the ids of its values.
func vocabularyTrie(v *vocabulary) (*trie, []int32) {
	var texts []string
	var ids []int32
	for id, text := range v.texts {
		if v.has[id] {
			texts, ids = append(texts, text), append(ids, int32(id))
		}
	}
	return newTrie(texts), ids
}

func (m *wordPiece) encode(ids []int, piece string, _ *scratch) ([]int, error) {
	before := len(ids)
	if utf8.RuneCountInString(piece) > m.maxChars {
		return m.appendUnknown(ids, piece)
	}
	node := uint32(0)
	for at := 0; at < len(piece); {
		if at > 0 && !m.goesOn {
			return m.appendUnknown(ids[:before], piece)
		}
		value, length := m.tokens.longest(node, piece[at:])
		if value < 0 {
			return m.appendUnknown(ids[:before], piece)
		}
		ids = append(ids, int(m.ids[value]))
		at += length
		node = m.going
	}
	return ids, nil
}

func (m *wordPiece) appendUnknown(ids []int, piece string) ([]int, error) {
	id, err := m.unknown.or(piece)
	if err != nil {
		return ids, err
	}
	return append(ids, int(id)), nil
}
