package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// model turns the pieces of a text into ids. It is safe for concurrent use; a scratch is not.
type model interface {
	// encode appends the ids of a piece, which is never empty.
	encode(ids []int, piece string, s *scratch) ([]int, error)
}

// scratch is the memory that encoding a text takes besides its result. It is kept from text to text.
type scratch struct {
	pieces  []piece
	last    lastText
	words   wordCache
	symbols []int32   // a word's tokens so far
	next    []int32   // where the symbols of a long word are
	queue   mergeHeap // its merges
	lattice []arc     // the best ways to every place of a piece
	ends    []int     // where the tokens of the best way end
}

// scratchMost is the length in bytes of a text whose scratch is kept.
const scratchMost = 256 << 10

// shrink frees the memory of a long text.
func (s *scratch) shrink(text int) {
	if text > scratchMost {
		*s = scratch{pieces: s.pieces[:0], last: s.last, words: s.words}
	}
}

// modelFields is the model object of a tokenizer.json. Settings of training are not here.
type modelFields struct {
	Type    string          `json:"type"`
	Unknown *string         `json:"unk_token"`
	Vocab   json.RawMessage `json:"vocab"`

	Merges       json.RawMessage `json:"merges"`
	Dropout      *float64        `json:"dropout"`
	Fuse         bool            `json:"fuse_unk"`
	ByteFallback bool            `json:"byte_fallback"`
	IgnoreMerges bool            `json:"ignore_merges"`
	Prefix       *string         `json:"continuing_subword_prefix"`
	Suffix       *string         `json:"end_of_word_suffix"`

	MaxChars *int `json:"max_input_chars_per_word"`

	UnknownID *int `json:"unk_id"`
}

// newModel makes the model and its vocabulary.
func newModel(f modelFields) (model, *vocabulary, error) {
	if f.kind() == "Unigram" {
		return readUnigram(f)
	}
	v, err := readVocabulary(f.Vocab)
	if err != nil {
		return nil, nil, fmt.Errorf("vocab: %w", err)
	}
	var m model
	switch f.kind() {
	case "BPE":
		m, err = readBPE(f, v)
	case "WordPiece":
		m = newWordPiece(f, v)
	case "WordLevel":
		m = &wordLevel{v, newUnknown(f.Unknown, v)}
	default:
		err = fmt.Errorf("type %q is not known", f.Type)
	}
	return m, v, err
}

// readModelFields leaves the two big fields as they stand, and decodes the others.
func readModelFields(raw []byte) (modelFields, error) {
	var f modelFields
	small := map[string]json.RawMessage{}
	err := eachMember(raw, func(name string, value []byte) error {
		big := map[string]*json.RawMessage{"vocab": &f.Vocab, "merges": &f.Merges}[name]
		switch {
		case big == nil:
			small[name] = value
		case *big != nil:
			return fmt.Errorf("has two fields %s", name)
		default:
			*big = value
		}
		return nil
	})
	if err != nil {
		return f, err
	}
	if len(f.Vocab) == 0 {
		return f, errors.New("has no vocab")
	}
	fields, err := json.Marshal(small)
	if err != nil {
		return f, err
	}
	return f, strict(fields, &f)
}

// kind is the type of the model, which old files leave out; the fields then show it.
func (f *modelFields) kind() string {
	switch {
	case f.Type != "":
		return f.Type
	case f.Vocab[0] == '[':
		return "Unigram"
	case f.Merges != nil:
		return "BPE"
	case f.MaxChars != nil && f.Prefix != nil:
		return "WordPiece"
	}
	return "WordLevel"
}

// unknownToken is the token for text that is not in a vocabulary.
type unknownToken struct {
	id   int32 // -1 when the vocabulary lacks it
	text string
}

func newUnknown(text *string, v *vocabulary) unknownToken {
	if text == nil {
		return unknownToken{id: -1}
	}
	return unknownToken{v.find(*text), *text}
}

// append appends the id, or says that there is none for a text.
func (u unknownToken) append(ids []int, text string) ([]int, error) {
	switch {
	case u.id >= 0:
		return append(ids, int(u.id)), nil
	case u.text != "":
		return ids, fmt.Errorf("the vocabulary lacks %.40q, and its unknown token %q as well", text, u.text)
	}
	return ids, fmt.Errorf("the vocabulary lacks %.40q and names no unknown token", text)
}

// valueOf is the value behind a pointer, or another for nil.
func valueOf[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// wordLevel has a token for every word it knows.
type wordLevel struct {
	vocab   *vocabulary
	unknown unknownToken
}

func (m *wordLevel) encode(ids []int, piece string, _ *scratch) ([]int, error) {
	if id := m.vocab.find(piece); id >= 0 {
		return append(ids, int(id)), nil
	}
	return m.unknown.append(ids, piece)
}

// wordPiece takes the longest token that a word begins with, then the longest that goes on from there, and so to the
// end. A word that cannot be had this way is one unknown token.
type wordPiece struct {
	tokens   *trie
	ids      []int32 // of the trie's values
	going    uint32  // the trie's node behind the prefix, 0 if no token has it
	goesOn   bool    // whether a token may go on at all: there is no prefix, or some token has it
	unknown  unknownToken
	maxChars int
}

// Defaults are those of BERT's tokenizer.
const (
	wordPiecePrefix   = "##"
	wordPieceUnknown  = "[UNK]"
	wordPieceMaxChars = 100
)

func newWordPiece(f modelFields, v *vocabulary) *wordPiece {
	m := &wordPiece{maxChars: valueOf(f.MaxChars, wordPieceMaxChars),
		unknown: newUnknown(new(valueOf(f.Unknown, wordPieceUnknown)), v), goesOn: true}
	var texts []string
	for id, text := range v.texts {
		if v.has[id] {
			texts, m.ids = append(texts, text), append(m.ids, int32(id))
		}
	}
	m.tokens = newTrie(texts)
	prefix := valueOf(f.Prefix, wordPiecePrefix)
	for i := range len(prefix) {
		if m.going = m.tokens.step(m.going, prefix[i]); m.going == 0 {
			m.goesOn = false
			break
		}
	}
	return m
}

func (m *wordPiece) encode(ids []int, piece string, _ *scratch) ([]int, error) {
	before := len(ids)
	if utf8.RuneCountInString(piece) > m.maxChars {
		return m.unknown.append(ids, piece)
	}
	node := uint32(0)
	for at := 0; at < len(piece); {
		if at > 0 && !m.goesOn {
			return m.unknown.append(ids[:before], piece)
		}
		value, length := m.tokens.longest(node, piece[at:])
		if value < 0 {
			return m.unknown.append(ids[:before], piece)
		}
		ids = append(ids, int(m.ids[value]))
		at += length
		node = m.going
	}
	return ids, nil
}
