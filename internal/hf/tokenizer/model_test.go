package tokenizer

import (
	"encoding/json"
	"slices"
	"testing"

	"benchtop/internal/assert"
)

// smallTokenizer is a tokenizer made up for what the large ones do not have, with what the reference makes of it.
type smallTokenizer struct {
	Name      string
	Tokenizer json.RawMessage
	Size      int   `json:"vocab_size"`
	IDs       []int `json:"all_ids"`
	Cases     []struct {
		goldenCase
		Fails bool
	}
}

func TestModels(t *testing.T) {
	for _, s := range assert.Golden[smallTokenizer](t, "testdata/models.jsonl.gz") {
		t.Run(s.Name, func(t *testing.T) {
			l := assert.Must(Read(Files{Tokenizer: s.Tokenizer}))(t)
			if l.VocabSize() != s.Size || !slices.Equal(l.IDs(), s.IDs) {
				t.Errorf("got %d tokens and the ids %v, want %d and %v", l.VocabSize(), l.IDs(), s.Size, s.IDs)
			}
			for _, c := range s.Cases {
				if c.Fails {
					if ids, err := l.Encode(c.Text); err == nil {
						t.Errorf("%q: got ids %v, want an error", c.Text, ids)
					}
					continue
				}
				testCase(t, l, c.goldenCase)
			}
		})
	}
}
