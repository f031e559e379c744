package tokenizer

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// matcher finds added tokens in a text: the leftmost first, of those that begin at one place the longest.
type matcher struct {
	texts    *trie
	contents []string     // by the trie's values: what is looked for
	tokens   []addedToken // by the trie's values
}

// newMatchers returns the matcher for raw text and the one for normalized text; nil where there is nothing to find.
//
// Two tokens of one normalized text are an error: the Hugging Face library finds the one in one run of the program and
// the other in the next. A token without any is one, since it fails with most texts there; and two of one id, which there
// can be where a model leaves ids out, since one of them is forgotten there.
func newMatchers(added *addedTokens) (raw, normalized *matcher, err error) {
	var texts [2][]string
	var tokens [2][]addedToken
	byID, byText := map[int]string{}, [2]map[string]string{{}, {}}
	for _, t := range added.tokens {
		if other, taken := byID[t.id]; taken {
			return nil, nil, fmt.Errorf("%.40q and %.40q would both have the id %d", other, t.content, t.id)
		}
		byID[t.id] = t.content
		which, text := 0, t.content
		if t.normalized {
			which, text = 1, t.text
		}
		if text == "" {
			return nil, nil, fmt.Errorf("%.40q is nothing once it is normalized, and would be found everywhere", t.content)
		}
		if other, taken := byText[which][text]; taken {
			return nil, nil, fmt.Errorf("%.40q and %.40q are the same once they are normalized, and either may be found",
				other, t.content)
		}
		byText[which][text] = t.content
		texts[which], tokens[which] = append(texts[which], text), append(tokens[which], t)
	}
	build := func(i int) *matcher {
		if len(texts[i]) == 0 {
			return nil
		}
		return &matcher{newTrie(texts[i]), texts[i], tokens[i]}
	}
	return build(0), build(1), nil
}

// fragment is a part of a text: an added token, or what lies between two.
type fragment struct {
	text  string // empty for a token
	id    int    // -1 between tokens
	first bool   // begins where the text does
}

// cut calls each for the stretches of text from left to right. It is fine with no matcher.
//
// White space that one token has taken is not kept from the next, which may so begin before the end of the one: the
// search goes on where the token itself ended. Only one that takes white space on its left begins behind the one before,
// and is nothing if it would end there too. The Hugging Face library does the same, and fails where it would end before.
func (m *matcher) cut(text string, each func(fragment) error) error {
	if m == nil {
		return each(fragment{text, -1, true})
	}
	done := 0 // up to where text has been handed on
	for at := 0; at < len(text); {
		if m.texts.root[text[at]] == 0 {
			at++
			continue
		}
		value, length := m.texts.longest(0, text[at:])
		if value < 0 {
			at++
			continue
		}
		t := &m.tokens[value]
		start, end := at, at+length
		at = end
		if t.singleWord && (endsInWord(text[:start]) || beginsWithWord(text[end:])) {
			continue
		}
		if t.leftStrip {
			start = max(start, done)
			start = done + len(strings.TrimRightFunc(text[done:start], unicode.IsSpace))
		}
		switch {
		case t.rightStrip && end < done: // the same white space has been gone through
			end = done
		case t.rightStrip:
			end = len(text) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
		}
		if start > end {
			return fmt.Errorf("the added token %.40q lies in white space that another one has taken", m.contents[value])
		}
		if done < start {
			if err := each(fragment{text[done:start], -1, done == 0}); err != nil {
				return err
			}
		}
		if start < end { // else nothing is left of it
			if err := each(fragment{id: t.id}); err != nil {
				return err
			}
		}
		done = end
	}
	if done < len(text) {
		return each(fragment{text[done:], -1, done == 0})
	}
	return nil
}

func endsInWord(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return text != "" && inWord(r)
}

func beginsWithWord(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return text != "" && inWord(r)
}

// inWord is \w by Unicode's recommendation (UTS 18, annex C).
func inWord(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.Nl, unicode.Nd, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control)
}
