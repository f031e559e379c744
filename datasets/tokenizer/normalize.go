package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// normalizer rewrites text before it is split: the normalizer of a tokenizer.json. It is safe for concurrent use.
type normalizer func(string) (string, error)

// readNormalizer reads a normalizer object; nil for one that is null or absent. A type or a field that it does not know
// is an error that names it.
func readNormalizer(raw json.RawMessage, depth int) (normalizer, error) {
	return readObject("normalizer", raw, depth, makeNormalizer)
}

func makeNormalizer(kind string, raw json.RawMessage, depth int) (normalizer, error) {
	if kind == "Sequence" {
		return readNormalizerSequence(raw, depth)
	}
	if read := map[string]func(json.RawMessage) (normalizer, error){"Strip": readStrip, "Replace": readReplace, "Prepend": readPrepend,
		"BertNormalizer": readBertNormalizer, "Precompiled": readPrecompiled}[kind]; read != nil {
		return read(raw)
	}
	// These have no settings.
	plain, known := map[string]func(string) string{
		"NFC": norm.NFC.String, "NFD": norm.NFD.String, "NFKC": norm.NFKC.String, "NFKD": norm.NFKD.String,
		"Lowercase": lower, "StripAccents": func(text string) string { return without(text, isAccent) }, "ByteLevel": byteLevel, "Nmt": nmt,
	}[kind]
	if !known {
		return nil, errors.New("this type is not known")
	}
	return always(plain), readStage(raw, &struct{ Type string }{})
}

// always makes a normalizer of a function that cannot fail.
func always(f func(string) string) normalizer {
	return func(text string) (string, error) { return f(text), nil }
}

var errGrowth = fmt.Errorf("a text became more than %d times as long", maxGrowth)

// mostBytes is how long a text of so many bytes may become by all stages of a sequence, each of which makes it longer by a
// bounded factor only: a file may hold so many stages that no memory would hold the result. Short texts have some more,
// for what is put before them.
func mostBytes(size int) int { return maxGrowth * (size + maxTokenBytes) }

func readNormalizerSequence(raw json.RawMessage, depth int) (normalizer, error) {
	var s struct {
		Type        string
		Normalizers []json.RawMessage
	}
	if err := readStage(raw, &s, "normalizers"); err != nil {
		return nil, err
	}
	stages, err := readSequence(s.Normalizers, depth, readNormalizer)
	if err != nil {
		return nil, err
	}
	return func(text string) (string, error) {
		most := mostBytes(len(text))
		var err error
		for _, stage := range stages {
			if text, err = stage(text); err != nil {
				return "", err
			}
			if len(text) > most {
				return "", errGrowth
			}
		}
		return text, nil
	}, nil
}

func readStrip(raw json.RawMessage) (normalizer, error) {
	var s struct {
		Type  string
		Left  bool `json:"strip_left"`
		Right bool `json:"strip_right"`
	}
	if err := readStage(raw, &s, "strip_left", "strip_right"); err != nil {
		return nil, err
	}
	return always(func(text string) string {
		if s.Left {
			text = strings.TrimLeftFunc(text, unicode.IsSpace)
		}
		if s.Right {
			text = strings.TrimRightFunc(text, unicode.IsSpace)
		}
		return text
	}), nil
}

func readPrepend(raw json.RawMessage) (normalizer, error) {
	var s struct{ Type, Prepend string }
	if err := readStage(raw, &s, "prepend"); err != nil {
		return nil, err
	}
	if len(s.Prepend) > maxTokenBytes {
		return nil, fmt.Errorf("%d bytes to prepend, more than the %d that are taken", len(s.Prepend), maxTokenBytes)
	}
	return always(func(text string) string {
		if text == "" {
			return ""
		}
		return s.Prepend + text
	}), nil
}

func readReplace(raw json.RawMessage) (normalizer, error) {
	var s struct {
		Type    string
		Pattern json.RawMessage
		Content string
	}
	if err := readStage(raw, &s, "pattern", "content"); err != nil {
		return nil, err
	}
	if len(s.Content) > maxGrowth {
		return nil, fmt.Errorf("content of %d bytes, more than the %d that are taken", len(s.Content), maxGrowth)
	}
	find, err := readFinder(s.Pattern)
	if err != nil {
		return nil, err
	}
	return func(text string) (string, error) {
		if text == "" { // not even an empty match is looked for
			return "", nil
		}
		var out strings.Builder
		end := 0
		err := find(text, func(from, to int) {
			out.WriteString(text[end:from])
			out.WriteString(s.Content)
			end = to
		})
		out.WriteString(text[end:])
		return out.String(), err
	}, nil
}

// nmt removes control characters and makes other blanks one kind of blank, as machine translation systems did.
func nmt(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 0x01 <= r && r <= 0x08, r == 0x0B, 0x0E <= r && r <= 0x1F, r == 0x7F, r == 0x8F, r == 0x9F:
			return -1
		case r == '\t', r == '\n', r == '\f', r == '\r', r == 0x1680, 0x200B <= r && r <= 0x200F, r == 0x2028, r == 0x2029,
			r == 0x2581, r == 0xFEFF, r == 0xFFFD:
			return ' '
		}
		return r
	}, text)
}

// bertNormalizer is the normalization of BERT.
type bertNormalizer struct {
	Type       string
	Clean      bool  `json:"clean_text"`
	Ideographs bool  `json:"handle_chinese_chars"`
	Accents    *bool `json:"strip_accents"` // nil: as Lower
	Lower      bool  `json:"lowercase"`
}

func readBertNormalizer(raw json.RawMessage) (normalizer, error) {
	var b bertNormalizer
	if err := readStage(raw, &b, "clean_text", "handle_chinese_chars", "lowercase"); err != nil {
		return nil, err
	}
	if b.Accents == nil {
		b.Accents = &b.Lower
	}
	return always(b.normalize), nil
}

func (b *bertNormalizer) normalize(text string) string {
	if b.Clean {
		text = strings.Map(cleaned, text)
	}
	if b.Ideographs && strings.ContainsFunc(text, isIdeograph) {
		text = spaced(text)
	}
	if *b.Accents {
		text = without(norm.NFD.String(text), isNonspacing)
	}
	if b.Lower {
		text = lower(text)
	}
	return text
}

// cleaned makes blanks of all white space and drops invisible characters.
func cleaned(r rune) rune {
	switch {
	case r == 0, r == unicode.ReplacementChar, isControl(r):
		return -1
	case unicode.IsSpace(r):
		return ' '
	}
	return r
}

// spaced sets blanks around ideographs, so that each becomes a word.
func spaced(text string) string {
	var out strings.Builder
	for _, r := range text {
		if isIdeograph(r) {
			out.WriteByte(' ')
			out.WriteRune(r)
			out.WriteByte(' ')
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}
