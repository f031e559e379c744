package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
)

// piece is a stretch of normalized text that the model may not look beyond.
type piece struct {
	text  string // after a ByteLevel stage: in the byte alphabet, one rune for every byte
	first bool   // begins at offset 0 of the original text
}

// splitter cuts pieces into smaller ones: the pre_tokenizer of a tokenizer.json. Pieces that come out are never empty.
// It is safe for concurrent use, leaves the pieces it is given as they are, and may return them.
type splitter interface {
	split(pieces []piece) ([]piece, error)
}

// readSplitter reads a pre_tokenizer object; nil for one that is null or absent. A type, a behaviour or a field that it
// does not know is an error that names it.
func readSplitter(raw json.RawMessage) (splitter, error) {
	return readSplitterAt(raw, 0)
}

func readSplitterAt(raw json.RawMessage, depth int) (splitter, error) {
	if isNull(raw) {
		return nil, nil
	}
	kind, err := stageType(raw, depth)
	if err != nil {
		return nil, fmt.Errorf("pre_tokenizer: %w", err)
	}
	s, err := makeSplitter(kind, raw, depth)
	if err != nil {
		return nil, fmt.Errorf("pre_tokenizer %s: %w", kind, err)
	}
	return s, nil
}

func makeSplitter(kind string, raw json.RawMessage, depth int) (splitter, error) {
	switch kind {
	case "Sequence":
		return readSplitterSequence(raw, depth)
	case "ByteLevel":
		return readByteLevel(raw)
	case "Split":
		return readSplit(raw)
	case "Metaspace":
		return readMetaspace(raw)
	case "Whitespace":
		return &finderSplitter{findWords, removed, true}, readStage(raw, &struct{ Type string }{})
	case "WhitespaceSplit":
		return whitespaceSplitter(), readStage(raw, &struct{ Type string }{})
	case "BertPreTokenizer":
		words := &finderSplitter{findRunes(isPunctuation), isolated, false}
		return splitterSequence{whitespaceSplitter(), words}, readStage(raw, &struct{ Type string }{})
	case "Digits":
		return readDigits(raw)
	case "Punctuation":
		return readPunctuation(raw)
	case "CharDelimiterSplit":
		return readDelimiter(raw)
	case "FixedLength":
		return readFixedLength(raw)
	}
	return nil, errors.New("this type is not known")
}

// splitterSequence lets each stage cut what the one before it left.
type splitterSequence []splitter

func readSplitterSequence(raw json.RawMessage, depth int) (splitter, error) {
	var s struct {
		Type          string
		Pretokenizers []json.RawMessage
	}
	if err := readStage(raw, &s, "pretokenizers"); err != nil {
		return nil, err
	}
	stages := make(splitterSequence, len(s.Pretokenizers))
	for i, r := range s.Pretokenizers {
		stage, err := readSplitterAt(r, depth+1)
		if err == nil && stage == nil {
			err = errors.New("null")
		}
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
		stages[i] = stage
	}
	return stages, nil
}

func (s splitterSequence) split(pieces []piece) ([]piece, error) {
	most := mostBytes(bytesIn(pieces))
	var err error
	for _, stage := range s {
		if pieces, err = stage.split(pieces); err != nil {
			return nil, err
		}
		if bytesIn(pieces) > most {
			return nil, errGrowth
		}
	}
	return pieces, nil
}

func bytesIn(pieces []piece) int {
	n := 0
	for _, p := range pieces {
		n += len(p.text)
	}
	return n
}
