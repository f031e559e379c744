package tokenizer

import (
	"slices"
	"testing"
	"unicode/utf8"

	"benchtop/internal/assert"
)

// FuzzRead reads arbitrary files. An accepted one must encode and decode without harm.
func FuzzRead(f *testing.F) {
	seen := map[string]bool{}
	for _, s := range assert.Golden[smallTokenizer](f, "testdata/models.jsonl.gz") {
		if key := s.Name[:min(len(s.Name), 8)]; !seen[key] && len(s.Tokenizer) < 4000 { // one of a kind
			seen[key] = true
			f.Add([]byte(s.Tokenizer), []byte(nil), []byte(nil), []byte(nil), "a <A>b é漢")
		}
	}
	f.Add([]byte(withModel(wordLevelModel)),
		[]byte(`{"bos_token":"a","added_tokens_decoder":{"3":{"content":"x"}},"chat_template":"y"}`), []byte(nil),
		[]byte(nil), "a")
	f.Add([]byte(withModel(wordLevelModel)), []byte(`{"extra_special_tokens":["x"],"z_token":{"content":"z"}}`),
		[]byte(`{"eos_token":{"content":"b","lstrip":true}}`), []byte(nil), "a")
	for _, name := range classGoldens {
		tokenizers, classes := readClasses(f, name)
		for _, c := range classes {
			if files := c.files(tokenizers); !seen[c.Class] {
				seen[c.Class] = true
				f.Add(files.Tokenizer, files.Config, files.SpecialTokens, files.Model, "a <A>b é漢")
			}
		}
	}
	f.Fuzz(func(t *testing.T, file, config, specialTokens, modelConfig []byte, text string) {
		if len(file)+len(text) > 1<<16 {
			return
		}
		l, err := Read(Files{Tokenizer: file, Config: config, SpecialTokens: specialTokens, Model: modelConfig})
		if err != nil {
			return
		}
		if ids := l.IDs(); !slices.IsSorted(ids) || len(ids) > 0 && ids[0] < 0 {
			t.Errorf("got the ids %v", ids)
		}
		if ids, err := l.EncodeSpecial(text); err == nil {
			assert.Equal(t, assert.Must(l.Count(text))(t), len(ids), "count")
			assert.EqualAll(t, assert.Must(l.EncodeSpecial(text))(t), ids, "ids")
			assert.Fails(t, "ids that it gave itself", assert.Failure(l.Decode(ids)), "")
		}
	})
}

func FuzzEncode(f *testing.F) {
	gpt2 := readGolden(f, "testdata", goldenFile{File: "gpt2.tokenizer.json.gz"})
	others := []*Local{}
	for _, name := range []string{"bert-base-uncased", "synthetic-spbpe", "synthetic-metaspace-first",
		"synthetic-gemma-style"} {
		others = append(others, readGolden(f, "testdata", goldenFile{File: name + ".tokenizer.json.gz"}))
	}
	seeds := assert.Golden[goldenCase](f, "testdata/gpt2.jsonl.gz")
	for _, c := range seeds[:min(len(seeds), 60)] {
		f.Add(c.Text)
	}
	f.Add("a\xe6\xbcb\xff")
	f.Fuzz(func(t *testing.T, text string) {
		ids := assert.Must(gpt2.Encode(text))(t)
		back, err := gpt2.Decode(ids)
		if err != nil || back != validText(text) {
			t.Errorf("got %q, error %v for %q", back, err, text)
		}
		if utf8.ValidString(text) && back != text {
			t.Errorf("got %q for %q", back, text)
		}
		for _, l := range others {
			ids := assert.Must(l.EncodeSpecial(text))(t)
			assert.Must(l.Decode(ids))(t)
		}
	})
}

// FuzzDecode decodes ids that come as pairs of bytes. All of them must give text.
func FuzzDecode(f *testing.F) {
	var all []*Local
	for _, name := range []string{"gpt2", "bert-base-uncased", "synthetic-spbpe", "synthetic-metaspace-first"} {
		all = append(all, readGolden(f, "testdata", goldenFile{File: name + ".tokenizer.json.gz"}))
	}
	f.Add([]byte{0, 1, 2, 3, 0, 200, 1, 100, 255, 255})
	f.Fuzz(func(t *testing.T, pairs []byte) {
		var ids []int
		for i := 0; i+1 < len(pairs); i += 2 {
			ids = append(ids, int(pairs[i])<<8|int(pairs[i+1]))
		}
		for _, l := range all {
			text, err := l.Decode(ids)
			if err != nil || !utf8.ValidString(text) {
				t.Errorf("got %q, error %v for %v", text, err, ids)
			}
		}
	})
}
