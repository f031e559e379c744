package tokenizer

import (
	"fmt"
	"slices"
	"testing"

	"benchtop/internal/assert"
)

// The ids are those of the Hugging Face library 0.23.3.
func TestAddedTokensBesideGaps(t *testing.T) {
	l, err := Read(Files{Tokenizer: []byte(`{"model":{"type":"WordLevel","vocab":{"?":0,"x":1,"u":7},"unk_token":"?"},"added_tokens":[
		{"id":3,"content":"n1","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true},
		{"id":4,"content":"u","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":false},
		{"id":5,"content":"n2","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}]}`)})
	assert.Fine(t, err)
	assert.EqualAll(t, assert.Must(l.Encode("n1un2x"))(t), []int{3, 7, 4, 1}, "ids")
	assert.EqualAll(t, l.IDs(), []int{0, 1, 3, 4, 7}, "all ids")
}

func TestAddedTokensOfOneID(t *testing.T) {
	const token = `{"id":9,"content":"%s","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,` +
		`"special":false}`
	_, err := Read(
		Files{Tokenizer: []byte(`{"model":{"type":"WordLevel","vocab":{"?":0,"u":2},"unk_token":"?"},"added_tokens":[` +
			fmt.Sprintf(token, "n") + "," + fmt.Sprintf(token, "u") + `]}`)})
	complains(t, err, `added_tokens: "n" and "u" would both have the id 2`)
}

// An added token of white space that takes more of it on both sides. The ids are those of the Hugging Face library
// 0.23.3, which fails where this one does.
func TestAddedWhiteSpaceTakesWhiteSpace(t *testing.T) {
	const file = `{"model":{"type":"WordLevel","vocab":{"?":0," ":1,"\n":2},"unk_token":"?"},"added_tokens":[
		{"id":1,"content":" ","single_word":false,"lstrip":true,"rstrip":true,"normalized":false,"special":false},
		{"id":2,"content":"\n","single_word":false,"lstrip":true,"rstrip":false,"normalized":false,"special":false}]}`
	l := assert.Must(Read(Files{Tokenizer: []byte(file)}))(t)
	for _, test := range []struct {
		text string
		want []int // nil for an error
	}{
		{" ", []int{1}},
		{"  ", []int{1}},
		{"a   b", []int{0, 1, 0}},
		{" \n", []int{1}},
		{"\n ", []int{2, 1}},
		{" \n ", nil},
	} {
		ids, err := l.Encode(test.text)
		if (err != nil) != (test.want == nil) || !slices.Equal(ids, test.want) {
			t.Errorf("%q: got ids %v, error %v, want %v", test.text, ids, err, test.want)
		}
	}
}

// A token would be found by chance, or everywhere.
func TestAddedTokensThatNormalizingConfuses(t *testing.T) {
	added := func(content string, normalized bool) string {
		return fmt.Sprintf(`{"id":9,"content":%q,"single_word":false,"lstrip":false,"rstrip":false,"normalized":%t,`+
			`"special":false}`, content, normalized)
	}
	for _, test := range []struct{ normalizer, tokens, want string }{
		{`{"type":"Lowercase"}`, added("A", true) + "," + added("a", true), `added_tokens: "A" and "a" are the same`},
		{`{"type":"Lowercase"}`, added("A", true) + "," + added("a", false), ""},
		{`{"type":"Strip","strip_left":true,"strip_right":false}`, added(" ", true), `added_tokens: " " is nothing`},
		{`{"type":"Strip","strip_left":true,"strip_right":false}`, added(" ", false), ""},
	} {
		_, err := Read(Files{
			Tokenizer: []byte(withField(`"normalizer":` + test.normalizer + `,"added_tokens":[` + test.tokens + `]`))})
		if test.want != "" {
			complains(t, err, test.want)
		} else if err != nil {
			t.Errorf("%s: %v", test.tokens, err)
		}
	}
}

// Metaspace puts a blank before the first piece only if the text begins with it. The ids are those of the
// Hugging Face library 0.23.3.
func TestFirstPieceBehindWhatIsRemoved(t *testing.T) {
	for _, test := range []struct {
		normalizer string
		want       map[string]int
	}{
		{`{"type":"Strip","strip_left":true,"strip_right":false}`, map[string]int{" a": 2, "a": 1}},
		{`{"type":"Strip","strip_left":false,"strip_right":true}`, map[string]int{"a  ": 1, "a": 1}},
		{`{"type":"Replace","pattern":{"String":" "},"content":""}`, map[string]int{"  a": 2, "a": 1}},
		{`{"type":"Replace","pattern":{"Regex":"\\s+"},"content":"b"}`, map[string]int{"  a": 6, " a": 5}},
		{`{"type":"StripAccents"}`, map[string]int{"\u0301a": 2}},
		{`{"type":"Nmt"}`, map[string]int{"\x01a": 2}},
		{`{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":true,` +
			`"lowercase":true}`,
			map[string]int{"\x01a": 2, "\u0301a": 2, "\x01\u0301A": 2, "A": 1}},
	} {
		l := assert.Must(Read(
			Files{Tokenizer: []byte(
				`{"model":{"type":"WordLevel","vocab":{"?":0,"▁a":1,"a":2,"▁ba":5,"ba":6},"unk_token":"?"},` +
					`"normalizer":` +
					test.normalizer + `,"pre_tokenizer":{"type":"Metaspace","replacement":"▁",` +
					`"prepend_scheme":"first",` +
					`"split":false}}`)}))(t)
		for text, want := range test.want {
			if ids, err := l.Encode(text); err != nil || !slices.Equal(ids, []int{want}) {
				t.Errorf("%s of %q: got ids %v, error %v, want %d", test.normalizer, text, ids, err, want)
			}
		}
	}
}

// A token that was normalized once is decoded so, whatever a later file says. The texts are those of the library
// 0.23.3.
func TestAddedTokenThatWasNormalized(t *testing.T) {
	const token = `{"id":2,"content":"X","single_word":false,"lstrip":false,"rstrip":false,"special":true,"normalized":`
	file := withField(`"normalizer":{"type":"Lowercase"},"decoder":{"type":"Fuse"},"added_tokens":[` + token + `true}]`)
	for _, config := range []string{`{}`,
		`{"added_tokens_decoder":{"2":{"content":"X","normalized":false,"special":true}}}`} {
		l := assert.Must(Read(Files{Tokenizer: []byte(file), Config: []byte(config)}))(t)
		assert.Equal(t, assert.Must(l.Decode([]int{2}))(t), "x", "%s", config)
	}
}

// Bytes that are no text are a token each, which a decoder behind may set blanks between.
func TestBytesThatAreNoText(t *testing.T) {
	l, err := Read(Files{Tokenizer: []byte(`{"model":{"type":"WordLevel","vocab":{"<0xFF>":0,"a":1},"unk_token":"a"},
		"decoder":{"type":"Sequence","decoders":[{"type":"ByteFallback"},{"type":"WordPiece","prefix":"##","cleanup":false}]}}`)})
	assert.Fine(t, err)
	assert.Equal(t, assert.Must(l.Decode([]int{0, 0, 1}))(t), "\ufffd \ufffd a", "Decode")
}

// Tokens of a configuration, with properties and without. The ids and texts are those of transformers 5.23.
func TestAddedTokensByConfiguration(t *testing.T) {
	const file = `{"model":{"type":"WordLevel","vocab":{"?":0,"x":1,"u":7},"unk_token":"?"},"normalizer":{"type":"Lowercase"},"decoder":{"type":"Fuse"},
		"added_tokens":[{"id":7,"content":"u","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":false}]}`
	for _, test := range []struct {
		name, config string
		id           int
		text         string // of the id
		special      []int
	}{
		{"numbers go on behind the tokens of tokenizer.json", `{"eos_token":"END"}`, 8, "END", []int{8}},
		{"made special", `{"eos_token":{"__type":"AddedToken","content":"END"}}`, 8, "END", []int{8}},
		{"made special, but said to be normalized",
			`{"eos_token":{"__type":"AddedToken","content":"END","normalized":true}}`, 8, "end", []int{8}},
		{"a setting of the model's own", `{"eos_token":"u","z_token":{"content":"END"}}`, 8, "", []int{7}},
	} {
		l := assert.Must(Read(Files{Tokenizer: []byte(file), Config: []byte(test.config)}))(t)
		text, err := l.Decode([]int{test.id})
		if err != nil || text != test.text || !slices.Equal(l.SpecialIDs(), test.special) {
			t.Errorf("%s: got %q, error %v, special ids %v, want %q and %v", test.name, text, err, l.SpecialIDs(),
				test.text, test.special)
		}
	}
}
