package tokenizer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// byteLetters is the alphabet that byte-level models spell bytes in: printable Latin-1 characters stand for themselves,
// the other bytes, in ascending order, are U+0100 and up. letterBytes are the bytes of the letters, -1 for other
// characters. Both are only read.
var byteLetters, letterBytes = makeByteLetters()

// byteLetter is one letter in UTF-8.
type byteLetter struct {
	utf8 [2]byte
	size uint8
}

func makeByteLetters() (letters [256]byteLetter, bytes [0x144]int16) {
	for r := range bytes {
		bytes[r] = -1
	}
	next := rune(0x100)
	for b := range letters {
		r := rune(b)
		if !('!' <= b && b <= '~' || 0xA1 <= b && b <= 0xAC || 0xAE <= b) {
			r = next
			next++
		}
		letters[b].size, bytes[r] = uint8(copy(letters[b].utf8[:], string(r))), int16(b)
	}
	return letters, bytes
}

// byteLevelLen is the length of text in the byte alphabet.
func byteLevelLen(text string) int {
	n := 0
	for i := range len(text) {
		n += int(byteLetters[text[i]].size)
	}
	return n
}

// writeLetters spells text in the byte alphabet.
func writeLetters(to *strings.Builder, text string) {
	for i := range len(text) {
		letter := &byteLetters[text[i]]
		to.WriteByte(letter.utf8[0])
		if letter.size > 1 {
			to.WriteByte(letter.utf8[1])
		}
	}
}

func byteLevel(text string) string {
	var letters strings.Builder
	letters.Grow(byteLevelLen(text))
	writeLetters(&letters, text)
	return letters.String()
}

// byteLevelSplitter spells pieces in the byte alphabet, after cutting them into words if it is to.
type byteLevelSplitter struct {
	prefix bool     // begin each with a blank, unless it does so already
	words  splitter // nil: cut nothing
}

type byteLevelSettings struct {
	Type     string
	Prefix   bool `json:"add_prefix_space"`
	Trim     bool `json:"trim_offsets"` // about offsets only
	UseRegex bool `json:"use_regex"`
}

func newByteLevel(s byteLevelSettings) (splitter, error) {
	b := &byteLevelSplitter{prefix: s.Prefix}
	if s.UseRegex {
		b.words = &finderSplitter{(&wordFinder{newRuneKinds(), 0}).each, isolated, false}
	}
	return b, nil
}

func (b *byteLevelSplitter) split(pieces []piece) ([]piece, error) {
	if b.prefix {
		pieces = slices.Clone(pieces)
		for i, p := range pieces {
			if p.text != "" && p.text[0] != ' ' {
				pieces[i].text = " " + p.text
			}
		}
	}
	if b.words != nil {
		var err error
		if pieces, err = b.words.split(pieces); err != nil {
			return nil, err
		}
	}
	size := 0 // of one string that holds the letters of all
	for _, p := range pieces {
		size += byteLevelLen(p.text)
	}
	var letters strings.Builder
	letters.Grow(size) // so that the letters never move
	out := make([]piece, 0, len(pieces))
	for _, p := range pieces {
		if p.text == "" {
			continue
		}
		start := letters.Len()
		writeLetters(&letters, p.text)
		out = append(out, piece{letters.String()[start:], p.first})
	}
	return out, nil
}

// decodeByteLevel reads tokens in the byte alphabet; a token with a character outside it stands for itself.
func decodeByteLevel(tokens []string) []string {
	var text []byte
	for _, token := range tokens {
		text = appendByteLevel(text, token)
	}
	return []string{validText(string(text))}
}

// appendByteLevel appends what a token in the byte alphabet stands for.
func appendByteLevel(text []byte, token string) []byte {
	before := len(text)
	for _, r := range token {
		if int(r) >= len(letterBytes) || letterBytes[r] < 0 {
			return append(text[:before], token...)
		}
		text = append(text, byte(letterBytes[r]))
	}
	return text
}

// metaspace writes blanks as a visible character, sets one before the text, and may cut before each.
type metaspace struct {
	blank  string // stands for a blank, one character
	scheme string // of prependSchemes
	cut    bool
}

// prependSchemes say before which pieces a blank is set.
var prependSchemes = []string{"always", "first", "never"}

type metaspaceSettings struct {
	Type, Replacement string
	Scheme            string `json:"prepend_scheme"`
	Prefix            bool   `json:"add_prefix_space"` // of older files, must agree with the scheme
	StrRep            string `json:"str_rep"`          // of older files, the replacement again
	Split             bool
}

func newMetaspace(s metaspaceSettings) (splitter, error) {
	switch {
	case utf8.RuneCountInString(s.Replacement) != 1:
		return nil, fmt.Errorf("replacement %q is not one character", s.Replacement)
	case !slices.Contains(prependSchemes, s.Scheme):
		return nil, fmt.Errorf("prepend_scheme %q is not known", s.Scheme)
	case !s.Prefix && s.Scheme != "never":
		return nil, errors.New("add_prefix_space does not agree with prepend_scheme")
	}
	return &metaspace{blank: s.Replacement, scheme: s.Scheme, cut: s.Split}, nil
}

func (m *metaspace) split(pieces []piece) ([]piece, error) {
	out := make([]piece, 0, len(pieces))
	for _, p := range pieces {
		if p.text == "" {
			continue
		}
		p.text = strings.ReplaceAll(p.text, " ", m.blank)
		if begins := m.scheme == "always" || m.scheme == "first" && p.first; begins &&
			!strings.HasPrefix(p.text, m.blank) {
			p.text = m.blank + p.text
		}
		for m.cut {
			one := runeSize(p.text) // a blank that the piece begins with is no place to cut
			next := strings.Index(p.text[one:], m.blank)
			if next < 0 {
				break
			}
			next += one
			out = append(out, piece{p.text[:next], p.first})
			p = piece{text: p.text[next:]}
		}
		out = append(out, p)
	}
	return out, nil
}

// asksForFirst reports whether a splitter treats the piece at the beginning of a text otherwise than those that follow.
func asksForFirst(s splitter) bool {
	switch s := s.(type) {
	case splitterSequence:
		return slices.ContainsFunc(s, asksForFirst)
	case *metaspace:
		return s.scheme == "first"
	}
	return false
}
