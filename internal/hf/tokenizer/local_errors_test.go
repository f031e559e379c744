package tokenizer

import (
	"encoding/json"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

const wordLevelModel = `{"type":"WordLevel","vocab":{"a":0,"b":1},"unk_token":"a"}`

// withField is a small tokenizer.json with one more field.
func withField(field string) string { return `{"model":` + wordLevelModel + `,` + field + `}` }

func withModel(model string) string { return `{"model":` + model + `}` }

func TestReadErrors(t *testing.T) {
	deep := strings.Repeat(`{"type":"Sequence","decoders":[`, 2000) + strings.Repeat(`]}`, 2000)
	long := strings.Repeat("x", maxTokenBytes+1)
	type file struct {
		Name, Want        string          // no error for a file that is taken
		File, Model, With json.RawMessage // the whole, its model, or more of its fields
		text              string
	}
	tests := []file{
		{Name: "empty", Want: "the file is empty"},
		{Name: "cut off", text: `{"model":{"type":"BPE","vocab":{"a":0`, Want: "is the file complete?"},
		{Name: "not JSON", text: "<html>", Want: "byte 1"},
		{Name: "byte order mark", text: "\ufeff{}", Want: "byte 1"},
		{Name: "not UTF-8", text: "{\"version\":\"\xff\"}", Want: "not UTF-8"},
		{Name: "long token", text: withModel(`{"type":"WordLevel","vocab":{"` + long + `":1},"unk_token":"a"}`),
			Want: "has 4097 bytes"},
		{Name: "long added token",
			text: withField(`"added_tokens":[{"id":1,"content":"` + long + `","normalized":false}]`),
			Want: "has 4097 bytes"},
		{Name: "Replace by far more",
			text: withField(`"decoder":{"type":"Replace","pattern":{"String":"a"},"content":"` + long + `"}`),
			Want: "more than 64 times as long"},
		{Name: "deep sequences", text: withField(`"decoder":` + deep), Want: "too deep"},
		{Name: "deep post-processors",
			text: withField(`"post_processor":` + strings.ReplaceAll(deep, "decoders", "processors")),
			Want: "too deep"},
	}
	for _, test := range assert.Golden[file](t, "testdata/small-files.jsonl") {
		switch {
		case test.Model != nil:
			test.text = withModel(string(test.Model))
		case test.With != nil:
			test.text = withField(string(test.With[1 : len(test.With)-1]))
		default:
			test.text = string(test.File)
		}
		tests = append(tests, test)
	}
	for _, test := range tests {
		t.Run(test.Name, func(t *testing.T) {
			l, err := Read(Files{Tokenizer: []byte(test.text)})
			if test.Want != "" {
				complains(t, err, "tokenizer.json: ", test.Want)
				if len(err.Error()) > 300 {
					t.Errorf("got an error of %d bytes", len(err.Error()))
				}
				return
			}
			assert.Fine(t, err)
			if ids := l.IDs(); len(ids) > 0 && ids[len(ids)-1] > 10 {
				t.Errorf("got the ids %v", ids)
			}
		})
	}
}

func TestReadSettingsErrors(t *testing.T) {
	tests := []struct{ file, want string }{
		{``, "the file is empty"},
		{`[`, "is the file complete?"},
		{`"a"`, "is not an object"},
		{`{"bos_token":{}}`, "bos_token: an added token without content"},
		{`{"bos_token":{"content":1}}`, "bos_token: "},
		{`{"bos_token":"\udfff"}`, "half a surrogate pair"},
		{`{"bos_token":"` + strings.Repeat("x", maxTokenBytes+1) + `"}`, "4097 bytes"},
		{`{"added_tokens_decoder":[]}`, "is not an object"},
		{`{"added_tokens_decoder":{"a":{"content":"x"}}}`, `"a" is not a token id`},
		{`{"added_tokens_decoder":{"1":"x"}}`, "added_tokens_decoder: "},
		{`{"additional_special_tokens":"x"}`, "is not a list"},
		{`{"extra_special_tokens":[1]}`, "extra_special_tokens: "},
		{`{"tokenizer_class":1}`, "tokenizer_class: "},
		{`{"split_special_tokens":true}`, "splits special tokens"},
		{`{"clean_up_tokenization_spaces":"yes"}`, "clean_up_tokenization_spaces: "},
	}
	for _, test := range tests {
		_, err := Read(Files{Tokenizer: []byte(withModel(wordLevelModel)), Config: []byte(test.file)})
		complains(t, err, "tokenizer_config.json: ", test.want)
	}
	_, err := Read(Files{Tokenizer: []byte(withModel(wordLevelModel)),
		SpecialTokens: []byte(`{"eos_token":{"lstrip":1}}`)})
	complains(t, err, "special_tokens_map.json: eos_token: ")
}

func TestUnknownsWithoutAToken(t *testing.T) {
	for _, model := range []string{
		`{"type":"BPE","unk_token":"<unk>","vocab":{"a":0},"merges":[]}`,
		`{"type":"WordLevel","vocab":{"a":0}}`,
		`{"type":"WordPiece","vocab":{"a":0}}`,
		`{"type":"Unigram","vocab":[["a",0]]}`,
	} {
		l, err := Read(Files{Tokenizer: []byte(withModel(model))})
		assert.Fine(t, err)
		_, err = l.Encode("a")
		if err != nil {
			t.Errorf("%s: %v", model, err)
		}
		for what, encode := range map[string]func(string) ([]int, error){"Encode": l.Encode,
			"EncodeSpecial": l.EncodeSpecial} {
			ids, err := encode("é")
			complains(t, err, "the vocabulary lacks", "é")
			if ids != nil {
				t.Errorf("%s: got ids %v beside the error", what, ids)
			}
		}
		if n, err := l.Count("é"); n != 0 || err == nil {
			t.Errorf("got %d tokens, error %v", n, err)
		}
	}
}

func TestDecodeOddIDs(t *testing.T) {
	l, err := Read(Files{Tokenizer: []byte(withModel(wordLevelModel))})
	assert.Fine(t, err)
	assert.Equal(t, assert.Must(l.Decode([]int{0, 7, 1, 1 << 40}))(t), "a b", "text")
	assert.Equal(t, assert.Must(l.Decode(nil))(t), "", "text")
	_, err = l.Decode([]int{1, -5})
	complains(t, err, "token id -5 is negative")
}

func TestBrokenText(t *testing.T) {
	l := readGolden(t, "testdata", goldenFile{File: "gpt2.tokenizer.json.gz"})
	tests := []struct{ text, want string }{
		{"a\xffb", "a\ufffdb"},
		{"\xe6\xbc", "\ufffd"},
		{"\xe6\xbc\xe6\xbc", "\ufffd\ufffd"},
		{"\xf0\x9f\x98a", "\ufffda"},
		{"\xc0\x80", "\ufffd\ufffd"},
		{"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
		{"\xe0\x80", "\ufffd\ufffd"},
		{"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},
		{"\xf0\x80", "\ufffd\ufffd"},
		{"\xff\xfe\xff", "\ufffd\ufffd\ufffd"},
		{"\ufffd", "\ufffd"},
		{"\xc3", "\ufffd"},
	}
	for _, test := range tests {
		assert.Equal(t, validText(test.text), test.want, "%q", test.text)
		ids := assert.Must(l.Encode(test.text))(t)
		assert.Equal(t, assert.Must(l.Decode(ids))(t), test.want, "%q", test.text)
	}
}

// TestManyAtOnce is for the race detector, and for scratch memory that one text would leave to the next.
func TestManyAtOnce(t *testing.T) {
	l := readGolden(t, "testdata", goldenFile{File: "synthetic-metaspace-first.tokenizer.json.gz"})
	texts := make([]string, 200)
	want := make([]int, len(texts))
	for i := range texts {
		texts[i] = strings.Repeat("the ", i) + "end <|user|> of it"
		ids := assert.Must(l.EncodeSpecial(texts[i]))(t)
		want[i] = len(ids)
	}
	got := assert.Must(CountAll(t.Context(), l, texts))(t)
	for i := range got {
		assert.Equal(t, got[i], want[i], "text %d: tokens", i)
	}
}
