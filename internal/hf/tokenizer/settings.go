package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// settings are the additions of tokenizer_config.json and special_tokens_map.json to a tokenizer.json, by the rules of
// the Python library that servers read them with (transformers 5.23). Some things that stand in these files change
// nothing there, and so nothing here: add_bos_token and add_eos_token, which a tokenizer.json overrules, and the
// truncation and padding of a tokenizer.json, which hold only on request; but the padding may name the padding token. A
// tokenizer's class may add to them: see pipeline.
type settings struct {
	configured bool                       // there is a tokenizer_config.json
	names      classHints                 // what leads to the class
	generic    bool                       // the class has no special tokens of its own
	options    map[string]json.RawMessage // of the class, by optionNames
	common     []namedToken               // of commonNames; one without a text is null in a file
	own        []namedToken               // named by the model's own names
	firm       []namedToken               // of those, what no other file can change
	extra      []addedToken               // special tokens without a name; nil while no file has such a list
	additional []addedToken               // the same under the older name, for where there are no extra ones
	extraNamed bool                       // the configuration gives the extra ones names
	known      []addedToken               // the added tokens by the configuration
	hasKnown   bool                       // the configuration lists them; then special_tokens_map.json does not count
	cleanUp    bool                       // decoded text is to be cleaned up
	cleanUpBPE bool                       // even that of a BPE model
}

type namedToken struct {
	name  string // as in the file: "bos_token"
	token addedToken
}

// commonNames are the names that every tokenizer may have tokens for. Others that end in _token are a model's own.
var commonNames = [...]string{"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token",
	"mask_token"}

// readSettings reads the two files, either of which may be nil.
func readSettings(config, specialTokens []byte) (*settings, error) {
	s := &settings{configured: config != nil, options: map[string]json.RawMessage{}}
	if err := eachField(config, s.readConfig); err != nil {
		return nil, fmt.Errorf("tokenizer_config.json: %w", err)
	}
	if len(s.extra) == 0 && !s.extraNamed && s.additional != nil {
		s.extra, s.additional = s.additional, nil
	}
	if !s.hasKnown {
		if err := eachField(specialTokens, s.readMap); err != nil {
			return nil, fmt.Errorf("special_tokens_map.json: %w", err)
		}
	}
	return s, nil
}

// settleExtra makes the extra tokens under the older name those under the newer one.
func (s *settings) settleExtra() {
	if s.extra == nil {
		s.extra = s.additional
	}
}

// text is the token of a common name, "" for none.
func (s *settings) text(name string) string {
	for _, n := range s.common {
		if n.name == name {
			return n.token.content
		}
	}
	return ""
}

// eachField calls read for every field of a file.
func eachField(file []byte, read func(name string, value []byte) error) error {
	if file == nil {
		return nil
	}
	if err := checkJSON(file); err != nil {
		return err
	}
	return eachMember(file, func(name string, value []byte) error {
		if err := read(name, value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
}

func (s *settings) readConfig(name string, value []byte) (err error) {
	switch {
	case slices.Contains(optionNames, name):
		s.options[name] = value
		return nil
	case isNull(value):
		if slices.Contains(commonNames[:], name) { // then neither a class's own nor that of the padding counts
			s.common = set(s.common, namedToken{name: name})
		}
		return nil
	}
	switch name {
	case "tokenizer_class":
		err = json.Unmarshal(value, &s.names.class)
	case "auto_map":
		s.names.remote = hasTokenizer(value)
	case "added_tokens_decoder":
		s.hasKnown = true
		s.known, err = readNumbered(value)
	case "clean_up_tokenization_spaces":
		err = json.Unmarshal(value, &s.cleanUp)
	case "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output":
		err = json.Unmarshal(value, &s.cleanUpBPE)
	case "split_special_tokens":
		var split bool
		if err = json.Unmarshal(value, &split); split {
			err = errors.New("a tokenizer that splits special tokens is not supported")
		}
	case "extra_special_tokens":
		if value[0] == '{' {
			s.extraNamed = string(value) != "{}"
			return s.readOwn(value)
		}
		s.extra, err = readList(value)
	case "additional_special_tokens":
		s.additional, err = readList(value)
	default:
		if value[0] == '{' && !slices.Contains(commonNames[:], name) && !bytes.Contains(value, []byte(`"__type"`)) {
			return nil // transformers takes it for a setting of the model's own
		}
		err = s.readName(name, value, value[0] == '"')
	}
	return err
}

// readMap takes a field of special_tokens_map.json. Of the common names it has the last word.
func (s *settings) readMap(name string, value []byte) (err error) {
	switch {
	case isNull(value):
		if slices.Contains(commonNames[:], name) {
			s.common = set(s.common, namedToken{name: name})
		}
		return nil
	case name == "extra_special_tokens" && value[0] == '{':
		return s.readOwn(value)
	case name == "extra_special_tokens":
		list, err := readList(value)
		if s.extra = append(s.extra, list...); s.extra == nil {
			s.extra = list // an empty one counts too
		}
		return err
	case name == "additional_special_tokens":
		s.additional, err = readList(value)
		return err
	}
	return s.readName(name, value, false)
}

// readOwn takes {"name": token, …}.
func (s *settings) readOwn(value []byte) error {
	return eachMember(value, func(name string, value []byte) error {
		t, err := readSpecialToken(value)
		s.firm = set(s.firm, namedToken{name, t})
		return err
	})
}

// readName takes a name's token. Names that are neither common nor end in _token are passed over.
func (s *settings) readName(name string, value []byte, firm bool) error {
	if !strings.HasSuffix(name, "_token") || value[0] != '"' && value[0] != '{' {
		return nil // such as "add_bos_token": true
	}
	t, err := readSpecialToken(value)
	switch {
	case err != nil:
		return err
	case slices.Contains(commonNames[:], name):
		s.common = set(s.common, namedToken{name, t})
	case firm:
		s.firm = set(s.firm, namedToken{name, t})
	default:
		s.own = set(s.own, namedToken{name, t})
	}
	return nil
}

// set gives a name a token, or another one.
func set(all []namedToken, n namedToken) []namedToken {
	i := slices.IndexFunc(all, func(o namedToken) bool { return o.name == n.name })
	if i < 0 {
		return append(all, n)
	}
	all[i] = n
	return all
}

// named lists the tokens with a name, the common names first, in the order in which transformers meets them.
func (s *settings) named() []namedToken {
	var all []namedToken
	for _, name := range commonNames {
		for _, n := range s.common {
			if n.name == name && n.token.content != "" {
				all = append(all, n)
			}
		}
	}
	own := slices.Clone(s.own)
	for _, n := range s.firm {
		own = set(own, n)
	}
	return append(all, own...)
}

// readSpecialToken takes a text, or a text with its properties.
func readSpecialToken(value []byte) (addedToken, error) {
	if value[0] == '"' {
		text, err := textOf(value)
		if err == nil && len(text) > maxTokenBytes {
			err = fmt.Errorf("a token of %d bytes, more than the %d that are taken", len(text), maxTokenBytes)
		}
		return addedToken{content: text, special: true, bare: true}, err
	}
	var f addedFields
	if err := json.Unmarshal(value, &f); err != nil {
		return addedToken{}, err
	}
	return f.token()
}

// readList takes [token, …].
func readList(value []byte) ([]addedToken, error) {
	all := []addedToken{}
	err := eachElement(value, func(value []byte) error {
		t, err := readSpecialToken(value)
		all = append(all, t)
		return err
	})
	return all, err
}

// readNumbered takes {"id": token, …} and returns the tokens in the order of the ids, which count for nothing else.
func readNumbered(value []byte) ([]addedToken, error) {
	var all []addedToken
	err := eachMember(value, func(name string, value []byte) error {
		id, err := strconv.Atoi(name)
		if err != nil {
			return fmt.Errorf("%.40q is not a token id", name)
		}
		var f addedFields
		if err := json.Unmarshal(value, &f); err != nil {
			return err
		}
		t, err := f.token()
		t.id = id
		all = append(all, t)
		return err
	})
	slices.SortStableFunc(all, func(a, b addedToken) int { return a.id - b.id })
	return all, err
}

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
	s.common = set(s.common, namedToken{"pad_token", addedToken{content: padding.Token, special: true, bare: true}})
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
	bare := map[string]bool{} // the texts added so far
	add := func(t addedToken) {
		i, there := added.at[t.content]
		if there && i < before || t.bare && bare[t.content] {
			return
		}
		bare[t.content] = bare[t.content] || t.bare
		added.add(t) // of those added here the last properties count
	}
	for _, n := range named {
		n.token.makeSpecial()
		add(n.token)
	}
	for _, e := range s.extra {
		add(e)
	}
}

// specialIDs are the ids of the special tokens, ascending. Where no file names any, they are the added tokens that are
// special, since a class that is not known here brings names of its own, and these are what such models have there; but
// the generic class brings none.
func (s *settings) specialIDs(added *addedTokens) []int {
	named := s.named()
	if len(named) == 0 && len(s.extra) == 0 && !s.generic {
		return added.specialIDs()
	}
	ids := []int{}
	tokens := slices.Clone(s.extra)
	for _, n := range named {
		tokens = append(tokens, n.token)
	}
	for _, t := range tokens {
		if i, known := added.at[t.content]; known {
			ids = append(ids, added.tokens[i].id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
