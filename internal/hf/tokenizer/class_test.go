package tokenizer

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
)

// classFiles is a tokenizer.json with files beside it that name a class, and what transformers' AutoTokenizer makes of
// them.
type classFiles struct {
	configFiles
	Tokenizer string
	Model     json.RawMessage // config.json
	Class     string          // that was set up
	Fails     bool            // it could not be
	Top       int             // the highest id
}

var classGoldens = []string{"classes-llama", "classes-bytelevel", "classes-bert-t5"}

// readClasses reads a golden file of classes: the tokenizers and the cases.
func readClasses(t testing.TB, name string) (map[string]json.RawMessage, []classFiles) {
	t.Helper()
	lines := assert.Golden[json.RawMessage](t, filepath.Join("testdata", name+".jsonl.gz"))
	var first struct {
		Tokenizers map[string]json.RawMessage
		// by tokenizer: what it is "of", and fields put in the place of that one's
		Patches map[string]map[string]json.RawMessage
	}
	unmarshal(t, lines[0], &first)
	for name, patch := range first.Patches {
		var of string
		unmarshal(t, patch["of"], &of)
		whole := map[string]json.RawMessage{}
		unmarshal(t, first.Tokenizers[of], &whole)
		delete(patch, "of")
		maps.Copy(whole, patch)
		first.Tokenizers[name], _ = json.Marshal(whole)
	}
	all := make([]classFiles, len(lines)-1)
	for i, line := range lines[1:] {
		unmarshal(t, line, &all[i])
	}
	return first.Tokenizers, all
}

func (c *classFiles) files(tokenizers map[string]json.RawMessage) Files {
	f := Files{Tokenizer: tokenizers[c.Tokenizer]}
	for into, from := range map[*[]byte]json.RawMessage{&f.Config: c.Config, &f.SpecialTokens: c.Map,
		&f.Model: c.Model} {
		if !isNull(from) {
			*into = from
		}
	}
	return f
}

// Counts follow transformers whatever class the files name, or are said to differ.
func TestClasses(t *testing.T) {
	ci.SkipUnderRace(t)
	for _, name := range classGoldens {
		t.Run(name, func(t *testing.T) {
			tokenizers, all := readClasses(t, name)
			for _, c := range all {
				if !testClass(t, c.files(tokenizers), c) {
					t.Errorf("… as %s, %s with %s, %s, %s", c.Class, c.Tokenizer, c.Config, c.Map, c.Model)
				}
			}
		})
	}
}

func testClass(t *testing.T, f Files, c classFiles) (good bool) {
	l, err := Read(f)
	switch {
	case err != nil:
		t.Error(err)
		return false
	case c.Fails != (l.Doubt() != ""):
		t.Errorf("transformers fails: %v, doubt %q", c.Fails, l.Doubt())
		return false
	case c.Fails:
		return true
	}
	if top := l.IDs()[len(l.IDs())-1]; top != c.Top {
		t.Errorf("highest id %d, want %d", top, c.Top)
		return false
	}
	c.IDs = l.IDs()
	for i := range c.Cases {
		k := &c.Cases[i]
		if k.IDsSpecial == nil {
			k.IDsSpecial = k.IDs
		}
		if k.Decoded == nil {
			k.Decoded = &k.Text
		}
	}
	return testConfigured(t, l, c.configFiles)
}

// The class follows from the files by the rules of transformers.
func TestClassResolution(t *testing.T) {
	for _, c := range []struct {
		files classHints
		want  string
	}{
		{classHints{}, ""},
		{classHints{hasModel: true}, genericClass},
		{classHints{class: "ElectraTokenizerFast"}, "BertTokenizer"},
		{classHints{class: "Qwen3Tokenizer"}, genericClass},
		{classHints{class: "LlamaTokenizer", modelType: "mistral", hasModel: true}, genericClass},
		{classHints{class: "LlamaTokenizer", modelType: "mistral", hasModel: true, remote: true}, "LlamaTokenizer"},
		{classHints{class: "LlamaTokenizer", modelType: "mistral", hasModel: true, hasTekken: true, isByteLevel: true},
			mistralClass},
		{classHints{modelType: "mistral3", hasModel: true, hasTekken: true}, mistralClass},
		{classHints{modelType: "mistral3", hasModel: true}, genericClass},
		{classHints{modelType: "llama", hasModel: true, hasTekken: true}, genericClass},
		{classHints{class: "LlamaTokenizer", isByteLevel: true}, genericClass},
		{classHints{class: "LlamaTokenizer", isByteLevel: true, modelName: "molmo"}, "LlamaTokenizer"},
		{classHints{class: "PreTrainedTokenizerFast", modelType: "qwen2", hasModel: true}, "Qwen2Tokenizer"},
		{classHints{class: "PreTrainedTokenizerFast", modelType: "qwen3", hasModel: true}, genericClass},
		{classHints{class: "Qwen2TokenizerFast", modelType: "vibevoice", hasModel: true}, "Qwen2Tokenizer"},
		{classHints{modelType: "t5", hasModel: true}, "T5Tokenizer"},
		{classHints{modelClass: "GPT2TokenizerFast", modelType: "foo", hasModel: true}, "GPT2Tokenizer"},
		{classHints{class: "LlamaTokenizer", repository: "deepseek-ai/DeepSeek-Coder-6.7B", hasModel: true},
			genericClass},
		{classHints{class: "LlamaTokenizer", repository: "deepseek-ai/DeepSeek-Coder-6.7B"}, "LlamaTokenizer"},
	} {
		assert.Equal(t, c.files.resolve(), c.want, "%+v", c.files)
	}
}

// A model's configuration may hold numbers that JSON does not have.
func TestModelConfig(t *testing.T) {
	for file, want := range map[string]classHints{
		"":      {},
		"<html": {},
		"{}":    {hasModel: true},
		`{"time_step_limit": [0.0, Infinity], "x": {"model_type": "y"}, "model_type": "mamba2", "tokenizer_class": ` +
			`null}`: {hasModel: true, modelType: "mamba2"},
		` {"tokenizer_class": "A\u0042", "model_name": 3, ` +
			`"model_type"`: {hasModel: true, modelClass: "AB"},
	} {
		var got classHints
		if got.readModelConfig([]byte(file)); got != want {
			t.Errorf("%s: got %+v, want %+v", file, got, want)
		}
	}
}

// The files of models were written by their classes, so that both give the same.
func TestClassOfModelsFiles(t *testing.T) {
	ci.SkipUnderRace(t)
	for name, class := range map[string]string{"gpt2": "GPT2Tokenizer", "qwen2.5": "Qwen2Tokenizer",
		"bert-base-uncased": "BertTokenizer"} {
		l, err := Read(Files{Tokenizer: assert.File(t, filepath.Join("testdata", name+".tokenizer.json.gz")),
			Config: []byte(`{"tokenizer_class":"` + class + `"}`)})
		if err != nil || l.Doubt() != "" || l.pipeline == nil {
			t.Errorf("%s: doubt %q, error %v", class, l.Doubt(), err)
			continue
		}
		for _, c := range assert.Golden[goldenCase](t, filepath.Join("testdata", name+".jsonl.gz")) {
			testCase(t, l, c)
		}
	}
}

// A huge number of extra ids takes no memory.
func TestExtraIDsAreBounded(t *testing.T) {
	tokenizers, _ := readClasses(t, "classes-bert-t5")
	l, err := Read(
		Files{Tokenizer: tokenizers["t5"], Config: []byte(`{"tokenizer_class":"T5Tokenizer","extra_ids":1000000000}`)})
	if want := "T5Tokenizer is not set up here, because extra_ids is above 10000, the most that is taken"; err != nil ||
		l.Doubt() != want {
		t.Errorf("got doubt %q, error %v", l.Doubt(), err)
	}
}
