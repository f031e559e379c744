package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
	implied    bool   // normalized follows from special, as nothing was said of it
	cooked     bool   // normalized now or before another file gave it new properties
	text       string // what it is decoded to: the content, normalized if it is cooked
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

// token is without an id: which one it gets is for addedTokens to say.
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
	tokens  []addedToken
	special map[string]bool // the texts that were special at any time
	at      map[string]int  // where in tokens a text is
	top     int             // the highest id so far, -1 for none
	next    int             // the id of the next one that the model does not know, see begin
	vocab   *vocabulary
}

func newAddedTokens(v *vocabulary) *addedTokens {
	return &addedTokens{special: map[string]bool{}, at: map[string]int{}, top: -1, vocab: v}
}

// readAddedTokens reads the added_tokens of a tokenizer.json.
func readAddedTokens(raw json.RawMessage, v *vocabulary) (*addedTokens, error) {
	added := newAddedTokens(v)
	if isNull(raw) {
		return added, nil
	}
	added.begin()
	w := walker{data: raw}
	err := w.array(func() error {
		var f addedFields
		if err := strict(w.value(), &f); err != nil {
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

// begin comes before the tokens of a file. The numbers of new ones go on from the size of the model or from the highest of
// the tokens that files before have added, not from the highest id of the model: where it leaves ids out, they may be its.
func (a *addedTokens) begin() { a.next = max(a.vocab.size, a.top+1) }

// add takes a token, or the new properties of one that it has.
//
// The id that a file gives does not count, as it does not for the Hugging Face library: a text that the model knows has
// the model's id. Any other gets the next number.
func (a *addedTokens) add(t addedToken) {
	if t.content == "" {
		return
	}
	if t.special {
		a.special[t.content] = true
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

// named returns the token with this text.
func (a *addedTokens) named(text string) (addedToken, bool) {
	i, known := a.at[text]
	if !known {
		return addedToken{}, false
	}
	return a.tokens[i], true
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
