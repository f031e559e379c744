package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"
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
func readSplitter(raw json.RawMessage, depth int) (splitter, error) {
	return readObject("pre_tokenizer", raw, depth, makeSplitter)
}

func makeSplitter(kind string, raw json.RawMessage, depth int) (splitter, error) {
	switch kind {
	case "Sequence":
		return readSplitterSequence(raw, depth)
	case "Whitespace":
		return &finderSplitter{findWords, removed, true}, readStage(raw, &struct{ Type string }{})
	case "WhitespaceSplit":
		return whitespaceSplitter(), readStage(raw, &struct{ Type string }{})
	case "BertPreTokenizer":
		words := &finderSplitter{findRunes(isPunctuation), isolated, false}
		return splitterSequence{whitespaceSplitter(), words}, readStage(raw, &struct{ Type string }{})
	}
	read := map[string]func(json.RawMessage) (splitter, error){
		"ByteLevel": withSettings(byteLevelSettings{UseRegex: true}, newByteLevel, "add_prefix_space",
			"trim_offsets"),
		"Split": withSettings(splitSettings{}, newSplit, "pattern", "behavior", "invert"),
		"Metaspace": withSettings(metaspaceSettings{Scheme: "always", Prefix: true, Split: true}, newMetaspace,
			"replacement"),
		"Digits":             withSettings(digitsSettings{}, newDigits, "individual_digits"),
		"Punctuation":        withSettings(punctuationSettings{Behavior: "Isolated"}, newPunctuation),
		"CharDelimiterSplit": withSettings(delimiterSettings{}, newDelimiter, "delimiter"),
		"FixedLength":        withSettings(fixedLengthSettings{Length: 5}, newFixedLength),
	}[kind]
	if read == nil {
		return nil, errors.New("this type is not known")
	}
	return read(raw)
}

// splitterSequence has each stage cut the pieces of the one before.
type splitterSequence []splitter

func readSplitterSequence(raw json.RawMessage, depth int) (splitter, error) {
	var s struct {
		Type          string
		Pretokenizers []json.RawMessage
	}
	if err := readStage(raw, &s, "pretokenizers"); err != nil {
		return nil, err
	}
	stages, err := readSequence(s.Pretokenizers, depth, readSplitter)
	return splitterSequence(stages), err
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

// behavior says how the matches of a pattern become pieces.
type behavior int

const (
	isolated           behavior = iota // each match is a piece of its own
	removed                            // matches are dropped
	contiguous                         // matches without text between them are one piece
	mergedWithPrevious                 // a match ends the piece before it
	mergedWithNext                     // a match begins the piece after it
)

func readBehavior(name string) (behavior, error) {
	b := slices.Index([]string{"Isolated", "Removed", "Contiguous", "MergedWithPrevious", "MergedWithNext"}, name)
	if b < 0 {
		return 0, fmt.Errorf("behavior %q is not known", name)
	}
	return behavior(b), nil
}

// finderSplitter cuts where a finder finds something.
type finderSplitter struct {
	find     finder
	behavior behavior
	invert   bool // the text between matches counts as the match, and the other way round
}

func (f *finderSplitter) split(pieces []piece) ([]piece, error) {
	const bytesPerPiece = 6 // of words, about
	c := &cutter{finderSplitter: f, out: make([]piece, 0, len(pieces)+bytesIn(pieces)/bytesPerPiece)}
	add := c.span
	if f.behavior == isolated { // all spans become pieces, so none need be kept
		add = c.piece
	}
	found := func(start, end int) {
		if start > c.at {
			add(c.at, start, f.invert)
		}
		add(start, end, !f.invert)
		c.at = end
	}
	for _, p := range pieces {
		c.parent, c.at, c.spans = p, 0, c.spans[:0]
		if err := f.find(p.text, found); err != nil {
			return nil, err
		}
		if c.at < len(p.text) {
			add(c.at, len(p.text), f.invert)
		}
		c.cut()
	}
	return c.out, nil
}

// cutter is the state of one split.
type cutter struct {
	*finderSplitter
	out    []piece
	parent piece
	at     int        // end of the last match in the parent
	spans  []interval // of the parent, where the behaviour needs them together
}

// interval is a match or the text between two, in byte offsets of the parent.
type interval struct {
	start, end int
	match      bool
}

func (c *cutter) span(start, end int, match bool) {
	c.spans = append(c.spans, interval{start, end, match})
}

func (c *cutter) piece(start, end int, _ bool) {
	if end > start {
		c.out = append(c.out, piece{c.parent.text[start:end], c.parent.first && start == 0})
	}
}

// cut makes pieces of the spans.
func (c *cutter) cut() {
	switch c.behavior {
	case removed:
		for _, s := range c.spans {
			if !s.match {
				c.piece(s.start, s.end, false)
			}
		}
	case contiguous:
		c.joined(func(before, s interval) bool { return before.match == s.match })
	case mergedWithPrevious:
		// Of matches in a row only the first has text before it to join.
		c.joined(func(before, s interval) bool { return s.match && !before.match })
	case mergedWithNext:
		c.joined(func(before, s interval) bool { return before.match && !s.match })
	}
}

// joined makes one piece of neighbours that belong together.
func (c *cutter) joined(together func(before, s interval) bool) {
	for i := 0; i < len(c.spans); {
		start := c.spans[i].start
		for i++; i < len(c.spans) && together(c.spans[i-1], c.spans[i]); i++ {
		}
		c.piece(start, c.spans[i-1].end, false)
	}
}

type splitSettings struct {
	Type, Behavior string
	Pattern        json.RawMessage
	Invert         bool
}

func newSplit(s splitSettings) (splitter, error) {
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

type digitsSettings struct {
	Type       string
	Individual bool `json:"individual_digits"`
}

func newDigits(s digitsSettings) (splitter, error) {
	b := contiguous
	if s.Individual {
		b = isolated
	}
	return &finderSplitter{findRunes(unicode.IsNumber), b, false}, nil
}

type punctuationSettings struct{ Type, Behavior string }

func newPunctuation(s punctuationSettings) (splitter, error) {
	b, err := readBehavior(s.Behavior)
	return &finderSplitter{findRunes(isPunctuation), b, false}, err
}

type delimiterSettings struct{ Type, Delimiter string }

func newDelimiter(s delimiterSettings) (splitter, error) {
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

type fixedLengthSettings struct {
	Type   string
	Length int
}

func newFixedLength(s fixedLengthSettings) (splitter, error) {
	if s.Length < 1 {
		return nil, errors.New("a length below 1")
	}
	return &finderSplitter{func(text string, found func(start, end int)) error {
		for start, end := 0, 0; start < len(text); start = end {
			end = skipRunes(text, start, s.Length)
			found(start, end)
		}
		return nil
	}, isolated, false}, nil
}
