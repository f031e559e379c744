package tokenizer

import (
	"encoding/json"
	"slices"
)

// readPadding takes the token that a tokenizer.json pads with as the one for padding, if no other file speaks of one.
func (s *settings) readPadding(raw json.RawMessage) error {
	if isNull(raw) || slices.ContainsFunc(s.common, func(n namedToken) bool { return n.name == "pad_token" }) {
		return nil
	}
	var padding struct {
		Token string `json:"pad_token"`
	}
	if err := json.Unmarshal(raw, &padding); err != nil {
		return err
	}
	s.common = set(s.common, namedToken{"pad_token", addedToken{content: padding.Token, special: true}})
	return nil
}

// apply adds the tokens of the settings to those of the tokenizer.json in the order in which transformers does, which
// their ids depend on: the known ones, special if they have a name; then those with a name that are not known; then
// the extra ones.
func (s *settings) apply(added *addedTokens) {
	known := s.known
	if !s.hasKnown {
		known = slices.Clone(added.tokens)
	}
	named := s.named()
	isNamed := func(text string) bool {
		return slices.ContainsFunc(named, func(n namedToken) bool { return n.token.content == text })
	}
	added.begin()
	for _, t := range known {
		if isNamed(t.content) {
			t.makeSpecial()
		}
		added.add(t)
	}
	before := len(added.tokens)
	missing := func(text string) bool {
		i, there := added.at[text]
		return !there || i >= before // of those added here the last properties count
	}
	for _, n := range named {
		if missing(n.token.content) {
			n.token.makeSpecial()
			added.add(n.token)
		}
	}
	for _, e := range s.extra {
		if missing(e.content) {
			added.add(e)
		}
	}
}

// specialIDs are the ids of the special tokens, ascending. Where no file names any, they are the added tokens that are
// special: the classes of old models bring names of their own, and these are what such models have there. The generic
// class brings none.
func (s *settings) specialIDs(added *addedTokens) []int {
	named := s.named()
	if len(named) == 0 && len(s.extra) == 0 && !s.generic {
		return added.specialIDs()
	}
	ids := []int{}
	collect := func(text string) {
		if t, ok := added.named(text); ok {
			ids = append(ids, t.id)
		}
	}
	for _, n := range named {
		collect(n.token.content)
	}
	for _, e := range s.extra {
		collect(e.content)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
