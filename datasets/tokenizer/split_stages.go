package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"
)

func readSplit(raw json.RawMessage) (splitter, error) {
	var s struct {
		Type, Behavior string
		Pattern        json.RawMessage
		Invert         bool
	}
	if err := readStage(raw, &s, "pattern", "behavior", "invert"); err != nil {
		return nil, err
	}
	b, err := readBehavior(s.Behavior)
	if err != nil {
		return nil, err
	}
	find, err := readFinder(s.Pattern)
	if err != nil {
		return nil, err
	}
	return &finderSplitter{find, b, s.Invert}, nil
}

func readDigits(raw json.RawMessage) (splitter, error) {
	var s struct {
		Type       string
		Individual bool `json:"individual_digits"`
	}
	if err := readStage(raw, &s, "individual_digits"); err != nil {
		return nil, err
	}
	b := contiguous
	if s.Individual {
		b = isolated
	}
	return &finderSplitter{findRunes(unicode.IsNumber), b, false}, nil
}

func readPunctuation(raw json.RawMessage) (splitter, error) {
	s := struct{ Type, Behavior string }{Behavior: "Isolated"}
	if err := readStage(raw, &s); err != nil {
		return nil, err
	}
	b, err := readBehavior(s.Behavior)
	return &finderSplitter{findRunes(isPunctuation), b, false}, err
}

func readDelimiter(raw json.RawMessage) (splitter, error) {
	var s struct{ Type, Delimiter string }
	if err := readStage(raw, &s, "delimiter"); err != nil {
		return nil, err
	}
	if utf8.RuneCountInString(s.Delimiter) != 1 {
		return nil, fmt.Errorf("delimiter %q is not one character", s.Delimiter)
	}
	return &finderSplitter{findLiteral(s.Delimiter), removed, false}, nil
}

func whitespaceSplitter() splitter {
	return &finderSplitter{findRunes(unicode.IsSpace), removed, false}
}

// findWords finds runs of word characters and runs of others that are not white space.
func findWords(text string, found func(start, end int)) error {
	const space, letter, other = 0, 1, 2
	start, before := 0, space
	for i, r := range text {
		kind := other
		switch {
		case isWord(r):
			kind = letter
		case unicode.IsSpace(r):
			kind = space
		}
		if kind == before {
			continue
		}
		if before != space {
			found(start, i)
		}
		start, before = i, kind
	}
	if before != space {
		found(start, len(text))
	}
	return nil
}

// fixedLength cuts every so many characters.
type fixedLength int

func readFixedLength(raw json.RawMessage) (splitter, error) {
	s := struct {
		Type   string
		Length int
	}{Length: 5}
	if err := readStage(raw, &s); err != nil {
		return nil, err
	}
	if s.Length < 1 {
		return nil, errors.New("a length below 1")
	}
	return fixedLength(s.Length), nil
}

func (n fixedLength) split(pieces []piece) ([]piece, error) {
	var out []piece
	for _, p := range pieces {
		for start := 0; start < len(p.text); {
			end := skipRunes(p.text, start, int(n))
			out = append(out, piece{p.text[start:end], p.first && start == 0})
			start = end
		}
	}
	return out, nil
}
