package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// addedToken is a token that is found in a text before the model sees it.
type addedToken struct {
	content    string
	id         int
	singleWord bool // only where no word goes on to its left or right
	leftStrip  bool // takes the white space before it
	rightStrip bool // takes the white space behind it
	normalized bool // looked for in normalized text, itself normalized
	special    bool
	bare       bool   // given as a text, without properties
	implied    bool   // normalized follows from special, as nothing was said of it
	cooked     bool   // normalized now or before another file gave it new properties
	text       string // the text of decoding: the content, normalized if it is cooked
}

// addedFields is an added token as it stands in a file.
type addedFields struct {
	ID         *int    `json:"id"`
	Content    *string `json:"content"`
	SingleWord bool    `json:"single_word"`
	LStrip     bool    `json:"lstrip"`
	RStrip     bool    `json:"rstrip"`
	Normalized *bool   `json:"normalized"`
	Special    bool    `json:"special"`
	Kind       any     `json:"__type"`
}

// token has no id yet: addedTokens gives it one.
func (f *addedFields) token() (addedToken, error) {
	if f.Content == nil {
		return addedToken{}, errors.New("an added token without content")
	}
	if len(*f.Content) > maxTokenBytes {
		return addedToken{}, fmt.Errorf("the added token %.40q… has %d bytes, more than the %d that are taken",
			*f.Content, len(*f.Content), maxTokenBytes)
	}
	t := addedToken{content: *f.Content, singleWord: f.SingleWord, leftStrip: f.LStrip, rightStrip: f.RStrip,
		normalized: !f.Special, special: f.Special, implied: f.Normalized == nil}
	if !t.implied {
		t.normalized = *f.Normalized
	}
	return t, nil
}

// makeSpecial makes it a special token, which it need not have been before.
func (t *addedToken) makeSpecial() {
	t.special = true
	t.normalized = t.normalized && !t.implied
}

// addedTokens are the added tokens of a tokenizer, in the order of their ids.
type addedTokens struct {
	tokens []addedToken
	at     map[string]int // where in tokens a text is
	top    int            // the highest id so far, -1 for none
	next   int            // the id of the next one that the model does not know, see begin
	vocab  *vocabulary
}

// readAddedTokens reads the added_tokens of a tokenizer.json.
func readAddedTokens(raw json.RawMessage, v *vocabulary) (*addedTokens, error) {
	added := &addedTokens{at: map[string]int{}, top: -1, vocab: v}
	if isNull(raw) {
		return added, nil
	}
	added.begin()
	err := eachElement(raw, func(value []byte) error {
		var f addedFields
		if err := strict(value, &f); err != nil {
			return err
		}
		t, err := f.token()
		switch {
		case err != nil:
			return err
		case f.Normalized == nil:
			return fmt.Errorf("the token %.40q does not say whether it is normalized", t.content)
		}
		added.add(t)
		return nil
	})
	return added, err
}

// fileTokens are the added_tokens of a tokenizer.json in the order of the ids that stand there.
func fileTokens(raw json.RawMessage) ([]addedToken, error) {
	if isNull(raw) {
		return nil, nil
	}
	var all []addedToken
	at := map[int]int{} // where in all an id is
	err := eachElement(raw, func(value []byte) error {
		var f addedFields
		if err := strict(value, &f); err != nil {
			return err
		}
		t, err := f.token()
		if err != nil {
			return err
		}
		if f.ID == nil {
			return fmt.Errorf("the token %.40q has no id", t.content)
		}
		t.id = *f.ID
		if i, again := at[t.id]; again {
			all[i] = t // the last of an id counts
			return nil
		}
		at[t.id] = len(all)
		all = append(all, t)
		return nil
	})
	slices.SortStableFunc(all, func(a, b addedToken) int { return a.id - b.id })
	return all, err
}

// begin comes before the tokens of a file. The numbers of new ones go on from the size of the model or from the highest
// of the tokens that files before have added, not from the highest id of the model: where it leaves ids out, they may
// be its.
func (a *addedTokens) begin() { a.next = max(a.vocab.size, a.top+1) }

// add takes a token, or the new properties of one that it has.
//
// The id that a file gives does not count, as it does not for the Hugging Face library: a text that the model knows has
// the model's id. Any other gets the next number.
func (a *addedTokens) add(t addedToken) {
	if t.content == "" {
		return
	}
	t.cooked = t.normalized
	if i, known := a.at[t.content]; known {
		t.id = a.tokens[i].id
		t.cooked = t.cooked || a.tokens[i].cooked
		a.tokens[i] = t
		return
	}
	t.id = int(a.vocab.find(t.content))
	if t.id < 0 {
		t.id = a.next
		a.next++
	}
	a.top = max(a.top, t.id)
	a.at[t.content] = len(a.tokens)
	a.tokens = append(a.tokens, t)
}

// normalize works out what the tokens are decoded to: like the Hugging Face library since version 0.22, the normalized
// text of one that is looked for in normalized text, or once was.
func (a *addedTokens) normalize(normalize normalizer) error {
	for i := range a.tokens {
		t := &a.tokens[i]
		t.text = t.content
		if t.cooked && normalize != nil {
			var err error
			if t.text, err = normalize(t.content); err != nil {
				return err
			}
		}
	}
	return nil
}

// specialIDs are the ids of the tokens that are special, ascending.
func (a *addedTokens) specialIDs() []int {
	ids := []int{}
	for _, t := range a.tokens {
		if t.special {
			ids = append(ids, t.id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// matcher finds added tokens in a text: the leftmost first, of those that begin at one place the longest.
type matcher struct {
	texts    *trie
	contents []string     // by the trie's values: the texts looked for
	tokens   []addedToken // by the trie's values
}

// newMatchers returns the matcher for raw text and the one for normalized text; nil where there is nothing to find.
//
// Two tokens of one normalized text are an error: the Hugging Face library finds the one in one run of the program and
// the other in the next. A token without any is one, since it fails with most texts there; and two of one id, which
// there can be where a model leaves ids out, since one of them is forgotten there.
func newMatchers(added *addedTokens) (raw, normalized *matcher, err error) {
	var all [2]matcher
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
			return nil, nil,
				fmt.Errorf("%.40q is nothing once it is normalized, and would be found everywhere", t.content)
		}
		if other, taken := byText[which][text]; taken {
			return nil, nil,
				fmt.Errorf("%.40q and %.40q are the same once they are normalized, and either may be found",
					other, t.content)
		}
		byText[which][text] = t.content
		all[which].contents, all[which].tokens = append(all[which].contents, text), append(all[which].tokens, t)
	}
	var built [2]*matcher
	for i := range all {
		if len(all[i].tokens) > 0 {
			all[i].texts, built[i] = newTrie(all[i].contents), &all[i]
		}
	}
	return built[0], built[1], nil
}

// besideWord reports whether a stretch of a text touches a word. At an end of the text stands the replacement
// character, which is in no word.
func besideWord(text string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	behind, _ := utf8.DecodeRuneInString(text[end:])
	return isWord(before) || isWord(behind)
}

// stripped widens the stretch of a token over the white space that it takes. The text up to done has been handed on.
func (t *addedToken) stripped(text string, start, end, done int) (int, int) {
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
	return start, end
}

// fragment is a part of a text: an added token, or what lies between two.
type fragment struct {
	text  string // empty for a token
	id    int    // -1 between tokens
	first bool   // begins where the text does
}

// cut calls each for the stretches of text from left to right. A nil matcher finds nothing.
//
// White space that a token takes on its right may be part of the next one too: the search goes on where the token
// itself ends. A token that takes white space on its left begins behind the token before, and is dropped if it would
// end there too. The Hugging Face library does the same, and fails where it would end before.
func (m *matcher) cut(text string, each func(fragment) error) error {
	if m == nil {
		return each(fragment{text, -1, true})
	}
	done := 0 // up to where text has been handed on
	for at := 0; at < len(text); {
		value, length := int32(-1), 0
		if m.texts.root[text[at]] != 0 {
			value, length = m.texts.longest(0, text[at:])
		}
		if value < 0 {
			at++
			continue
		}
		t := &m.tokens[value]
		start, end := at, at+length
		at = end
		if t.singleWord && besideWord(text, start, end) {
			continue
		}
		if start, end = t.stripped(text, start, end, done); start > end {
			return fmt.Errorf("the added token %.40q lies in white space that another one has taken", m.contents[value])
		}
		var err error
		if done < start {
			err = each(fragment{text[done:start], -1, done == 0})
		}
		if err == nil && start < end { // else nothing is left of it
			err = each(fragment{id: t.id})
		}
		if err != nil {
			return err
		}
		done = end
	}
	if done < len(text) {
		return each(fragment{text[done:], -1, done == 0})
	}
	return nil
}
