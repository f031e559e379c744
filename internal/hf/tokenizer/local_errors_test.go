package tokenizer

import (
	"strings"
	"testing"
)

const wordLevelModel = `{"type":"WordLevel","vocab":{"a":0,"b":1},"unk_token":"a"}`

// withField is a small tokenizer.json with one more field.
func withField(field string) string { return `{"model":` + wordLevelModel + `,` + field + `}` }

func withModel(model string) string { return `{"model":` + model + `}` }

func TestReadErrors(t *testing.T) {
	deep := strings.Repeat(`{"type":"Sequence","decoders":[`, 2000) + strings.Repeat(`]}`, 2000)
	long := strings.Repeat("x", maxTokenBytes+1)
	tests := []struct {
		name string
		file string
		want string // empty for a file that is taken
	}{
		{"small", withModel(wordLevelModel), ""},
		{"empty", "", "the file is empty"},
		{"cut off", `{"model":{"type":"BPE","vocab":{"a":0`, "is the file complete?"},
		{"not JSON", "<html>", "byte 1"},
		{"byte order mark", "\ufeff{}", "byte 1"},
		{"not UTF-8", "{\"version\":\"\xff\"}", "not UTF-8"},
		{"a list", `[]`, "is not an object"},
		{"nothing", `{}`, "no model in it"},
		{"null", `{"model":null}`, "no model in it"},
		{"unknown field", withField(`"postprocessor":null`), `the field "postprocessor" is not known`},
		{"two models", withField(`"model":{}`), "duplicate field model"},
		{"model of another kind", withModel(`[]`), "model: is not an object"},
		{"no vocabulary", withModel(`{"type":"BPE"}`), "has no vocab"},
		{"two vocabularies", withModel(`{"type":"BPE","vocab":{},"vocab":{}}`), "two fields vocab"},
		{"unknown model", withModel(`{"type":"Magic","vocab":{}}`), `model: type "Magic" is not known`},
		{"unknown field of a model", withModel(`{"type":"BPE","vocab":{},"merges":[],"magic":1}`), `unknown field "magic"`},
		{"vocabulary of another kind", withModel(`{"type":"BPE","vocab":"a","merges":[]}`), "vocab: is not an object"},
		{"negative id", withModel(`{"type":"WordLevel","vocab":{"a":-1},"unk_token":"a"}`), "a number from 0 to"},
		{"id that is a fraction", withModel(`{"type":"WordLevel","vocab":{"a":1.5},"unk_token":"a"}`), "a number from 0 to"},
		{"id that is a string", withModel(`{"type":"WordLevel","vocab":{"a":"1"},"unk_token":"a"}`), "a number from 0 to"},
		{"huge id", withModel(`{"type":"WordLevel","vocab":{"a":4294967295},"unk_token":"a"}`), "is above 2097150"},
		{"id beyond every integer", withModel(`{"type":"WordLevel","vocab":{"a":99999999999999999999999},"unk_token":"a"}`), "is above"},
		{"one id for two", withModel(`{"type":"WordLevel","vocab":{"a":1,"b":1},"unk_token":"a"}`), "have the same id 1"},
		{"one token twice", withModel(`{"type":"WordLevel","vocab":{"a":1,"a":2},"unk_token":"a"}`), "stands there twice"},
		{"long token", withModel(`{"type":"WordLevel","vocab":{"` + long + `":1},"unk_token":"a"}`), "has 4097 bytes"},
		{"half a surrogate pair", withModel(`{"type":"WordLevel","vocab":{"\ud83d":1},"unk_token":"a"}`), "half a surrogate pair"},
		{"whole surrogate pair", withModel(`{"type":"WordLevel","vocab":{"\ud83d\ude00\b\f\n\r\t\"\/\\\u00E9":1},"unk_token":"a"}`), ""},
		{"no merges", withModel(`{"type":"BPE","vocab":{}}`), "has no merges"},
		{"dropout", withModel(`{"type":"BPE","vocab":{},"merges":[],"dropout":0.1}`), "dropout 0.1"},
		{"no dropout", withModel(`{"type":"BPE","vocab":{},"merges":[],"dropout":0}`), ""},
		{"merge of one", withModel(`{"type":"BPE","vocab":{"a":0},"merges":["a"]}`), "is not two tokens"},
		{"merge of three", withModel(`{"type":"BPE","vocab":{"a":0},"merges":["a a a"]}`), "is not two tokens"},
		{"merge of three, as a list", withModel(`{"type":"BPE","vocab":{"a":0},"merges":[["a","a","a"]]}`), "a merge of 3 tokens"},
		{"merge of numbers", withModel(`{"type":"BPE","vocab":{"a":0},"merges":[[1,2]]}`), "stands where a string should"},
		{"merge that is a number", withModel(`{"type":"BPE","vocab":{"a":0},"merges":[1]}`), "is not a list"},
		{"merge of unknown tokens", withModel(`{"type":"BPE","vocab":{"a":0},"merges":["a b"]}`), "merges: merge 1"},
		{"merge into an unknown token", withModel(`{"type":"BPE","vocab":{"a":0,"b":1},"merges":["a b"]}`), "merges: merge 1"},
		{"merge without the prefix", withModel(`{"type":"BPE","vocab":{"a":0,"aa":1},"merges":["a a"],"continuing_subword_prefix":"#"}`), "does not begin with the prefix"},
		{"merges with a version", withModel(`{"type":"BPE","vocab":{"a":0,"aa":1},"merges":["#version: 0.2","a a"]}`), ""},
		{"a vocabulary of scores without any", withModel(`{"type":"Unigram","vocab":[]}`), "vocab: is empty"},
		{"token without a score", withModel(`{"type":"Unigram","vocab":[["a"]]}`), "a token with 1 fields"},
		{"score that is none", withModel(`{"type":"Unigram","vocab":[["a","b"]]}`), "where a score should"},
		{"score beyond all numbers", withModel(`{"type":"Unigram","vocab":[["a",1e999]]}`), "where a score should"},
		{"token that is none", withModel(`{"type":"Unigram","vocab":[[1,1]]}`), "stands where a string should"},
		{"unknown id out of range", withModel(`{"type":"Unigram","unk_id":1,"vocab":[["a",0]]}`), "unk_id 1 is not in the vocabulary"},
		{"negative unknown id", withModel(`{"type":"Unigram","unk_id":-1,"vocab":[["a",0]]}`), "unk_id -1"},
		{"unknown normalizer", withField(`"normalizer":{"type":"Magic"}`), "Magic"},
		{"unknown pre-tokenizer", withField(`"pre_tokenizer":{"type":"Magic"}`), "Magic"},
		{"unknown decoder", withField(`"decoder":{"type":"Magic"}`), "decoder: Magic: this type of decoder is not known"},
		{"CTC", withField(`"decoder":{"type":"CTC","pad_token":"a"}`), "decoder: CTC: "},
		{"unknown field of a decoder", withField(`"decoder":{"type":"Fuse","magic":1}`), `unknown field "magic"`},
		{"Replace by an expression", withField(`"decoder":{"type":"Replace","pattern":{"Regex":"a"},"content":""}`), "Replace: a pattern that is not a string"},
		{"Replace by far more", withField(`"decoder":{"type":"Replace","pattern":{"String":"a"},"content":"` + long + `"}`), "more than 64 times as long"},
		{"Replace by more again and again", withField(`"decoder":{"type":"Sequence","decoders":[` + strings.Repeat(`{"type":"Replace","pattern":{"String":"a"},"content":"aa"},`, 6) + `{"type":"Replace","pattern":{"String":"a"},"content":"aa"}]}`), "more than 64 times as long"},
		{"Strip of two characters", withField(`"decoder":{"type":"Strip","content":"ab","start":1,"stop":0}`), "Strip: content must be one character"},
		{"Metaspace of two characters", withField(`"decoder":{"type":"Metaspace","replacement":"ab"}`), "is not one character"},
		{"unknown scheme", withField(`"decoder":{"type":"Metaspace","replacement":"a","prepend_scheme":"now"}`), `prepend_scheme "now"`},
		{"deep sequences", withField(`"decoder":` + deep), "too deep"},
		{"deep post-processors", withField(`"post_processor":` + strings.ReplaceAll(deep, "decoders", "processors")), "too deep"},
		{"unknown post-processor", withField(`"post_processor":{"type":"Magic"}`), "post_processor: Magic"},
		{"template without text", withField(`"post_processor":{"type":"TemplateProcessing","single":[],"pair":[],"special_tokens":{}}`), "0 times"},
		{"template with the second text", withField(`"post_processor":{"type":"TemplateProcessing","single":[{"Sequence":{"id":"B","type_id":0}}],"special_tokens":{}}`), "neither the text"},
		{"template with an unknown token", withField(`"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"x","type_id":0}}],"special_tokens":{}}`), "is not among its special_tokens"},
		{"template with a negative id", withField(`"post_processor":{"type":"BertProcessing","cls":["a",-1],"sep":["b",1]}`), "the id -1"},
		{"two templates", withField(`"post_processor":{"type":"Sequence","processors":[{"type":"BertProcessing","cls":["a",0],"sep":["b",1]},{"type":"BertProcessing","cls":["a",0],"sep":["b",1]}]}`), "two post-processors"},
		{"a template among others", withField(`"post_processor":{"type":"Sequence","processors":[{"type":"ByteLevel"},{"type":"BertProcessing","cls":["a",0],"sep":["b",1]}]}`), ""},
		{"BERT without sep", withField(`"post_processor":{"type":"BertProcessing","cls":["a",0]}`), "no sep"},
		{"BERT with a token of one", withField(`"post_processor":{"type":"BertProcessing","cls":["a"],"sep":["b",1]}`), "is not a token and its id"},
		{"added tokens of another kind", withField(`"added_tokens":{}`), "added_tokens: is not a list"},
		{"added token without content", withField(`"added_tokens":[{"id":1,"normalized":false}]`), "without content"},
		{"added token that is not said to be normalized", withField(`"added_tokens":[{"id":1,"content":"a"}]`), "whether it is normalized"},
		{"long added token", withField(`"added_tokens":[{"id":1,"content":"` + long + `","normalized":false}]`), "has 4097 bytes"},
		{"added token with a huge id", withField(`"added_tokens":[{"id":99999999999,"content":"x","normalized":false}]`), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l, err := Read(Files{Tokenizer: []byte(test.file)})
			if test.want != "" {
				complains(t, err, "tokenizer.json: ", test.want)
				if len(err.Error()) > 300 {
					t.Errorf("got an error of %d bytes", len(err.Error()))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
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
	_, err := Read(Files{Tokenizer: []byte(withModel(wordLevelModel)), SpecialTokens: []byte(`{"eos_token":{"lstrip":1}}`)})
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
		if err != nil {
			t.Fatal(err)
		}
		_, err = l.Encode("a")
		if err != nil {
			t.Errorf("%s: %v", model, err)
		}
		for what, encode := range map[string]func(string) ([]int, error){"Encode": l.Encode, "EncodeSpecial": l.EncodeSpecial} {
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
	if err != nil {
		t.Fatal(err)
	}
	if text, err := l.Decode([]int{0, 7, 1, 1 << 40}); text != "a b" || err != nil {
		t.Errorf("got text %q, error %v, want the two tokens that there are", text, err)
	}
	if text, err := l.Decode(nil); text != "" || err != nil {
		t.Errorf("got text %q, error %v for no ids", text, err)
	}
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
		if got := validText(test.text); got != test.want {
			t.Errorf("%q: got %q, want %q", test.text, got, test.want)
		}
		ids, err := l.Encode(test.text)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := l.Decode(ids); text != test.want || err != nil {
			t.Errorf("%q: got %q, error %v through ids, want %q", test.text, text, err, test.want)
		}
	}
}

// TestManyAtOnce is for the race detector, and for scratch memory that one text would leave to the next.
func TestManyAtOnce(t *testing.T) {
	l := readGolden(t, "testdata", goldenFile{File: "synthetic-metaspace-first.tokenizer.json.gz"})
	texts := make([]string, 200)
	want := make([]int, len(texts))
	for i := range texts {
		texts[i] = strings.Repeat("the ", i) + "end <|user|> of it"
		ids, err := l.EncodeSpecial(texts[i])
		if err != nil {
			t.Fatal(err)
		}
		want[i] = len(ids)
	}
	got, err := CountAll(t.Context(), l, texts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("text %d: got %d tokens, want %d", i, got[i], want[i])
		}
	}
}
