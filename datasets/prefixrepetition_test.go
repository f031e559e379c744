package datasets

import (
	"fmt"
	"reflect"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/hf/tokenizer"
)

func TestPrefixRepetitionGolden(t *testing.T) {
	var file struct {
		Cases []struct {
			Name      string `json:"name"`
			Seed      int64  `json:"seed"`
			Tokenizer string `json:"tokenizer"`
			Vocab     int    `json:"vocab_size"`
			Prompts   int    `json:"num_prompts"`
			Prefix    int    `json:"prefix_len"`
			Suffix    int    `json:"suffix_len"`
			Prefixes  int    `json:"num_prefixes"`
			Output    int    `json:"output_len"`
			Unshuffle bool   `json:"disable_shuffle"`
			Requests  []struct {
				ID     *string `json:"request_id"`
				Input  int     `json:"prompt_len"`
				Output int     `json:"expected_output_len"`
				IDs    []int   `json:"token_ids"`
			} `json:"requests"`
			NextLegacy uint32  `json:"next_legacy_uint32"`
			NextPython float64 `json:"next_python_random"`
		}
	}
	goldenCases(t, "prefix_repetition.json", &file)
	for _, c := range file.Cases {
		o := prefixRepetition{Common: Common{Prompts: c.Prompts, DisableShuffle: c.Unshuffle, Seed: c.Seed},
			PrefixLen: c.Prefix, SuffixLen: c.Suffix, Prefixes: c.Prefixes, OutputLen: c.Output,
			Vocabulary: Vocabulary{Size: c.Vocab}}
		toks := map[string]tokenizer.Tokenizer{c.Tokenizer: newToy(t, c.Tokenizer, c.Vocab, nil, 0)}
		if c.Tokenizer == "identity" {
			toks["none"] = nil // ids are those behind the text, if nothing is lost
		}
		for name, tok := range toks {
			t.Run(c.Name+" "+name, func(t *testing.T) {
				s := numpy.NewStreams(99) // to be seeded anew
				l := must(o.make(tok, s))(t)
				got := drain(t, l)
				same(t, "requests", len(got), len(c.Requests))
				same(t, "length", l.Len, len(c.Requests))
				for i, want := range c.Requests {
					turn := got[i].Turns[0]
					same(t, "request id", want.ID, (*string)(nil))
					same(t, "request id", got[i].ID, "")
					same(t, "input tokens", turn.InputTokens, want.Input)
					same(t, "output tokens", turn.MaxTokens, want.Output)
					ids := turn.TokenIDs
					if tok != nil {
						ids = parseIDs(turn.Text)
					}
					same(t, "ids", ids, want.IDs)
				}
				same(t, "next word of the legacy generator", s.Legacy.Uint32(), c.NextLegacy)
				same(t, "next number of Python's generator", s.Python.Random(), c.NextPython)
			})
		}
	}
}

// However many texts are guessed at once, they are those of one after another, and so is the generator behind them.
func TestGuessesEqualOneByOne(t *testing.T) {
	for _, name := range []string{"identity", "lossy", "grow"} {
		for seed := range uint32(8) {
			for _, calls := range []int{1, 2, 7, 64} {
				vocab := Vocabulary{First: 5 * int(seed), Size: 997}
				lengths := prefixRepetition{Common: Common{Prompts: 100}, PrefixLen: int(seed), SuffixLen: 5,
					Prefixes: 7}.lengths()
				tok := newToy(t, name, vocab.Size, nil, 0)

				one := numpy.NewLegacy(seed)
				draw := func() int { return vocab.First + int(one.Randint(0, int64(vocab.Size))) }
				var want [][]int
				for _, length := range lengths {
					ids := make([]int, length)
					for i := range ids {
						ids[i] = draw()
					}
					_, ids = fitOneByOne(tok, ids, length, draw)
					want = append(want, ids)
				}

				many := numpy.NewLegacy(seed)
				got := must((&guesses{parallelTokenizer{tok, calls}, vocab, many}).fitAll(lengths))(t)
				what := fmt.Sprintf("%s, seed %d, %d calls: ", name, seed, calls)
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("%sone by one -, many +\n%s", what, cmp.Diff(want, got))
				}
				assert.Need(t, *many, *one, "%sthe generators differ", what)
			}
		}
	}
}

func TestPrefixRepetitionKeepsManyCallsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tok := distant{newToy(t, "identity", 997, nil, 0), new(atomic.Int64), new(atomic.Int64)}
		o := defaults[prefixRepetition]("prefix_repetition")
		o.Prompts, o.PrefixLen, o.SuffixLen = 640, 4, 4
		start := time.Now()
		must(o.make(tok, numpy.NewStreams(0)))(t)
		// 650 texts in windows of 64, 128, 256 and 202, then 640 prompts, 64 calls at a time.
		same(t, "time for 1290 calls of 10 ms", time.Since(start), (1+2+4+4+10)*10*time.Millisecond)
	})
}

func TestPrefixRepetitionTokenizerErrors(t *testing.T) {
	o := defaults[prefixRepetition]("prefix_repetition")
	complains(t, failure(o.make(brokenToy{toy{size: 10}}, numpy.NewStreams(0))), "dataset prefix_repetition: text 0",
		"no server")
}

func TestPrefixRepetitionDescription(t *testing.T) {
	o := defaults[prefixRepetition]("prefix_repetition")
	o.Prompts, o.PrefixLen, o.SuffixLen, o.Prefixes = 11, 3, 2, 4
	const words = "prefix_repetition: 8 prompts, 2 to each of 4 prefixes of 3 tokens, then 2 tokens of their own, " +
		"128 output tokens, as "
	tests := []struct {
		vocab Vocabulary
		tok   tokenizer.Tokenizer
		want  string
	}{
		{Vocabulary{}, newToy(t, "identity", 97, nil, 0), "text"},
		// 8 prompts of 5, all doubled
		{Vocabulary{}, newToy(t, "grow", 1, nil, 0), "text, 40 tokens more than asked for in all"},
		{Vocabulary{}, newToy(t, "identity", 0, nil, 0),
			"text of token ids 1000 to 31999 (assumed: the tokenizer does not tell its vocabulary, so this is not " +
				"vLLM's workload)"},
		{Vocabulary{}, nil, "token ids 1000 to 31999 (assumed: the model's vocabulary is not known); " +
			"not vLLM's workload, which needs a tokenizer"},
		{Vocabulary{Size: 50}, nil, "token ids 0 to 49; not vLLM's workload, which needs a tokenizer"},
	}
	for _, test := range tests {
		o.Vocabulary = test.vocab
		l := must(o.make(test.tok, numpy.NewStreams(0)))(t)
		same(t, "description", l.About, words+test.want)
	}
}

func TestPrefixRepetitionRefusals(t *testing.T) {
	for _, c := range refusals(t, "prefix_repetition") {
		var args struct {
			Prompts  int `json:"num_prompts"`
			Prefixes int `json:"num_prefixes"`
		}
		same(t, "arguments", c.arguments(t, &args), true)
		same(t, "reason", c.Error, "fewer_prompts_than_prefixes")
		o := defaults[prefixRepetition]("prefix_repetition")
		o.Prompts, o.Prefixes = args.Prompts, args.Prefixes
		complains(t, o.check(), "number of prompts 3 must be at least the number of prefixes 4")
	}
}
