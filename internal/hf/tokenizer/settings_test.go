package tokenizer

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"benchtop/internal/assert"
)

// configFiles is a tokenizer.json with made-up files beside it, and what transformers makes of the three.
type configFiles struct {
	WordPiece    bool
	Config       json.RawMessage
	Map          json.RawMessage `json:"special_tokens_map"`
	SpecialIDs   []int           `json:"special_ids"`
	AddedSpecial []int           `json:"added_special"`
	IDs          []int
	VocabSize    int `json:"vocab_size"`
	ToAdd        int `json:"to_add"`
	Names        map[string]string
	Cases        []goldenCase
}

func TestSettings(t *testing.T) {
	lines := assert.Golden[json.RawMessage](t, "testdata/settings.jsonl.gz")
	var tokenizers struct{ BPE, WordPiece json.RawMessage }
	unmarshal(t, lines[0], &tokenizers)
	for _, line := range lines[1:] {
		var c configFiles
		unmarshal(t, line, &c)
		f := Files{Tokenizer: tokenizers.BPE, Config: c.Config}
		if c.WordPiece {
			f.Tokenizer = tokenizers.WordPiece
		}
		if !isNull(c.Map) {
			f.SpecialTokens = c.Map
		}
		l, err := Read(f)
		if err != nil {
			t.Errorf("%s %s: %v", c.Config, c.Map, err)
			continue
		}
		if !testConfigured(t, l, c) {
			t.Errorf("… with %s and %s", c.Config, c.Map)
		}
	}
}

func testConfigured(t *testing.T, l *Local, c configFiles) (good bool) {
	good = true
	check := func(what string, ok bool, got, want any) {
		if !ok {
			t.Errorf("%s: got %v, want %v", what, got, want)
			good = false
		}
	}
	check("special ids", slices.Equal(l.SpecialIDs(), c.SpecialIDs), l.SpecialIDs(), c.SpecialIDs)
	check("added special ids", slices.Equal(l.AddedSpecialIDs(), c.AddedSpecial), l.AddedSpecialIDs(), c.AddedSpecial)
	check("ids", slices.Equal(l.IDs(), c.IDs), l.IDs(), c.IDs)
	check("size", l.VocabSize() == c.VocabSize, l.VocabSize(), c.VocabSize)
	check("special tokens to add", l.SpecialTokensToAdd() == c.ToAdd, l.SpecialTokensToAdd(), c.ToAdd)
	check("special tokens", maps.Equal(l.NamedTokens(), c.Names), l.NamedTokens(), c.Names)
	for _, k := range c.Cases {
		ids, err := l.EncodeSpecial(k.Text)
		check(k.Text, err == nil && slices.Equal(ids, k.IDsSpecial), ids, k.IDsSpecial)
		ids, err = l.Encode(k.Text)
		check(k.Text, err == nil && slices.Equal(ids, k.IDs), ids, k.IDs)
		text, err := l.Decode(k.IDsSpecial)
		check(k.Text, err == nil && text == *k.Decoded, text, *k.Decoded)
	}
	return good
}
