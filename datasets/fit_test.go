package datasets

import (
	"encoding/json"
	"fmt"
	"testing"

	"benchtop/internal/hf/numpy"
)

func TestFitGolden(t *testing.T) {
	var file struct {
		Cases []struct {
			Name      string          `json:"name"`
			Tokenizer string          `json:"tokenizer"`
			Vocab     int             `json:"vocab_size"`
			IDs       []int           `json:"token_sequence"`
			Target    int             `json:"target_token_len"`
			Retries   int             `json:"max_retry"`
			RNG       string          `json:"rng"`
			Seed      uint32          `json:"seed"`
			Text      string          `json:"prompt"`
			Fitted    []int           `json:"adjusted_token_sequence"`
			Miss      int             `json:"token_mismatch"`
			NextRaw   json.RawMessage `json:"next_raw_draw"`
		}
	}
	goldenCases(t, "gen_prompt_decode.json", &file)
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			pcg, legacy := numpy.NewGenerator(uint64(c.Seed)), numpy.NewLegacy(c.Seed)
			draw := func() int { return pcg.Choice(c.Vocab) }
			next := func() string { return fmt.Sprintf("%q", fmt.Sprint(pcg.Uint64())) }
			if c.RNG == "legacy_mt19937" {
				draw = func() int { return int(legacy.Randint(0, int64(c.Vocab))) }
				next = func() string { return fmt.Sprint(legacy.Uint32()) }
			}
			tok := newToy(t, c.Tokenizer, c.Vocab, nil, 0)
			f := &tokenFit{ids: c.IDs, target: c.Target, retries: c.Retries}
			f.advance(tok)
			f.settle(tok, draw)
			if f.err != nil {
				t.Fatal(f.err)
			}
			same(t, "text", f.text, c.Text)
			same(t, "ids", f.ids, c.Fitted)
			same(t, "tokens missed", f.miss, c.Miss)
			same(t, "next raw draw", next(), string(c.NextRaw))
		})
	}
}
