package tokenizer

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
)

// stageGolden is one stage as a tokenizer.json describes it, with texts and what the Hugging Face library (0.23.2)
// makes of them: pieces, or a text where it is a normalizer.
type stageGolden struct {
	Name         string
	PreTokenizer json.RawMessage `json:"pre_tokenizer"`
	Normalizer   json.RawMessage
	Cases        [][2]json.RawMessage
}

func unmarshal(t testing.TB, raw json.RawMessage, into any) {
	t.Helper()
	assert.Fine(t, json.Unmarshal(raw, into))
}

// check compares one stage on all of its texts and returns their number.
func (g stageGolden) check(t *testing.T) int {
	t.Helper()
	apply := g.splitting
	if g.Normalizer != nil {
		apply = g.normalizing
	}
	run := apply(t)
	for i, c := range g.Cases {
		var text string
		var want any
		unmarshal(t, c[0], &text)
		unmarshal(t, c[1], &want)
		got, err := run(text)
		if err != nil {
			t.Fatalf("text %d: %v", i, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s%s\ntext %d, %q (-want +got):\n%s", g.PreTokenizer, g.Normalizer, i, text, diff)
		}
	}
	return len(g.Cases)
}

func (g stageGolden) splitting(t *testing.T) func(string) (any, error) {
	s, err := readSplitter(g.PreTokenizer, 0)
	if err != nil {
		t.Fatalf("%s: %v", g.PreTokenizer, err)
	}
	return func(text string) (any, error) {
		pieces, err := s.split([]piece{{text, true}})
		texts := make([]any, len(pieces))
		for i, p := range pieces {
			texts[i] = p.text
		}
		return texts, err
	}
}

func (g stageGolden) normalizing(t *testing.T) func(string) (any, error) {
	n, err := readNormalizer(g.Normalizer, 0)
	if err != nil {
		t.Fatalf("%s: %v", g.Normalizer, err)
	}
	return func(text string) (any, error) { return n(text) }
}

// The pre-tokenizers of the models that matter, every configuration and text of the file.
func TestSplitGolden(t *testing.T) {
	ci.SkipUnderRace(t)
	for _, g := range assert.Golden[stageGolden](t, "testdata/pretokenizers.jsonl.gz") {
		t.Run(g.Name, func(t *testing.T) {
			assert.Equal(t, g.check(t), 265, "texts")
		})
	}
}

// Every stage with all its settings, stages in sequence, and 300 patterns drawn at random from the syntax.
func TestStagesGolden(t *testing.T) {
	texts := 0
	for _, g := range assert.Golden[stageGolden](t, "testdata/stages.jsonl.gz") {
		texts += g.check(t)
	}
	assert.Equal(t, texts, 5_806, "texts")
}
