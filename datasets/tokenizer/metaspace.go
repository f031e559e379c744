package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// metaspace writes blanks as a visible character, sets one before the text, and may cut before each.
type metaspace struct {
	blank  string // stands for a blank, one character
	scheme string // of prependSchemes
	cut    bool
}

// prependSchemes say before which pieces a blank is set.
var prependSchemes = []string{"always", "first", "never"}

func readMetaspace(raw json.RawMessage) (splitter, error) {
	s := struct {
		Type, Replacement string
		Scheme            string `json:"prepend_scheme"`
		Prefix            *bool  `json:"add_prefix_space"` // of older files, must agree with the scheme
		StrRep            string `json:"str_rep"`          // of older files, the replacement again
		Split             *bool
	}{Scheme: "always"}
	if err := readStage(raw, &s, "replacement"); err != nil {
		return nil, err
	}
	switch {
	case utf8.RuneCountInString(s.Replacement) != 1:
		return nil, fmt.Errorf("replacement %q is not one character", s.Replacement)
	case !slices.Contains(prependSchemes, s.Scheme):
		return nil, fmt.Errorf("prepend_scheme %q is not known", s.Scheme)
	case !valueOf(s.Prefix, true) && s.Scheme != "never":
		return nil, errors.New("add_prefix_space does not agree with prepend_scheme")
	}
	return &metaspace{blank: s.Replacement, scheme: s.Scheme, cut: valueOf(s.Split, true)}, nil
}

func (m *metaspace) split(pieces []piece) ([]piece, error) {
	out := make([]piece, 0, len(pieces))
	for _, p := range pieces {
		if p.text == "" {
			continue
		}
		p.text = strings.ReplaceAll(p.text, " ", m.blank)
		if begins := m.scheme == "always" || m.scheme == "first" && p.first; begins && !strings.HasPrefix(p.text, m.blank) {
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
