package tokenizer

import (
	"encoding/json"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// bertNormalizer is what BERT's authors did to text before splitting it.
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

// cleaned makes blanks of all white space and drops what cannot be seen.
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
