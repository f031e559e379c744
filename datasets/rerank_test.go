package datasets

import (
	"fmt"
	"strings"
	"testing"
)

func rerankDefaults() rerankOptions {
	return rerankOptions{RandomOptions: RandomOptions{Common: Common{Prompts: 1000}, InputLen: 1024, Batch: 1}}
}

type rerankCase struct {
	toyCase
	Batch        int     `json:"random_batch_size"`
	Reranker     bool    `json:"is_reranker"`
	QueryLens    []int64 `json:"query_lens"`
	QueryOffsets []int64 `json:"query_offsets"`
	DocLens      []int64 `json:"doc_lens"`
	DocOffsets   []int64 `json:"doc_offsets"`
	Requests     []struct {
		ID     string  `json:"request_id"`
		Input  int     `json:"prompt_len"`
		Output int     `json:"expected_output_len"`
		IDs    [][]int `json:"token_ids"`
	} `json:"requests"`
	NextUint64 string `json:"rng_check_next_uint64"`
}

func TestRerankGolden(t *testing.T) {
	var file struct{ Cases []rerankCase }
	goldenCases(t, "random_rerank.json", &file)
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			ratio := rangeRatio(t, c.Ratio)
			o := rerankOptions{RandomOptions{Common: Common{Prompts: c.Prompts, IDPrefix: "r", Seed: c.Seed},
				InputLen: c.InputLen, Ratio: ratio, Batch: c.Batch}, !c.Reranker}
			tok := c.toy(t)
			d := drawRerank(o, c.Adds, Vocabulary{Size: c.Vocab, Special: c.Special})
			same(t, "query lengths", d.lengths[:1], c.QueryLens)
			same(t, "query offsets", d.offsets[:1], c.QueryOffsets)
			same(t, "document lengths", d.lengths[1:], c.DocLens)
			same(t, "document offsets", d.offsets[1:], c.DocOffsets)
			must(d.turns(tok))(t)
			same(t, "next word of the generator", fmt.Sprint(d.gen.Uint64()), c.NextUint64)

			l := must(newRerank(o, tok))(t)
			got := drain(t, l)
			same(t, "requests", len(got), len(c.Requests))
			same(t, "length", l.Len, len(c.Requests))
			for i, want := range c.Requests {
				turn := got[i].Turns[0]
				same(t, "request id", got[i].ID, want.ID)
				same(t, want.ID+" input tokens", turn.InputTokens, want.Input)
				same(t, want.ID+" output tokens", turn.MaxTokens, want.Output)
				var ids [][]int
				for _, prompt := range turn.Batch {
					ids = append(ids, parseIDs(prompt.Text))
					encoded, _ := tok.Encode(prompt.Text)
					same(t, want.ID+" prompt's tokens", prompt.InputTokens, len(encoded))
				}
				same(t, want.ID+" ids", ids, want.IDs)
			}
		})
	}
}

func TestRerankDescription(t *testing.T) {
	o := rerankDefaults()
	o.Prompts, o.InputLen, o.Batch, o.Ratio = 9, 20, 2, RangeRatio{Input: 0.2}
	tests := []struct {
		vocab int
		none  bool
		want  string
	}{
		{97, false, "random-rerank: 5 requests of a query of 11 tokens and at most 2 documents of 6 to 10 tokens, as " +
			"text"},
		{97, true, "random-rerank: 8 requests of a query of 23 tokens and a document of 16 to 24 tokens, as text, " +
			"for models other than rerankers"},
		{0, false, "random-rerank: 5 requests of a query of 11 tokens and at most 2 documents of 6 to 10 tokens, " +
			"as text of token ids 1000 to 31999 (assumed: the tokenizer does not tell its vocabulary, so this is not " +
			"vLLM's workload)"},
	}
	for _, test := range tests {
		o.NoReranker = test.none
		l := must(newRerank(o, newToy(t, "identity", test.vocab, nil, 0)))(t)
		same(t, "description", l.About, test.want)
	}
}

func TestRerankMiss(t *testing.T) {
	o := rerankDefaults()
	o.Prompts, o.InputLen, o.Batch = 40, 30, 2
	l := must(newRerank(o, newToy(t, "grow", 97, nil, 0)))(t)
	miss := -14 // the query counts once, however often it is read
	for i, c := range drain(t, l) {
		query, documents := c.Turns[0].Batch[0], c.Turns[0].Batch[1:]
		if i == 0 {
			miss += query.InputTokens
		}
		for _, document := range documents {
			miss += document.InputTokens - 15
		}
	}
	if want := fmt.Sprintf(", as text, %d tokens more than asked for in all", miss); !strings.HasSuffix(l.About, want) {
		t.Errorf("got %q, want %q at its end", l.About, want)
	}
}

func TestRerankShortInput(t *testing.T) {
	for length := range 4 {
		o := rerankDefaults()
		o.Prompts, o.InputLen = 3, length
		l := must(newRerank(o, newToy(t, "identity", 97, nil, 2)))(t)
		same(t, "requests", l.Len, 3)
	}
}

func TestRerankRefusals(t *testing.T) {
	for _, c := range refusals(t, "random-rerank") {
		var args struct {
			Prompts  int  `json:"num_prompts"`
			Batch    int  `json:"batchsize"`
			Reranker bool `json:"is_reranker"`
		}
		same(t, "arguments", c.arguments(t, &args), true)
		same(t, "reason", c.Error, "rerank_needs_more_than_one_prompt_and_batch")
		o := rerankDefaults()
		o.Prompts, o.Batch, o.NoReranker = args.Prompts, args.Batch, !args.Reranker
		complains(t, o.Validate(), "dataset random-rerank", "must both be above 1")
	}
}

func TestRerankTokenizerErrors(t *testing.T) {
	complains(t, failure(newRerank(rerankDefaults(), brokenToy{toy{size: 10}})),
		"dataset random-rerank: prompt 0: no server")
	complains(t, failure(newRerank(rerankDefaults(), toy{size: 1, special: []int{0}})), "dataset random-rerank",
		"nothing but special tokens")
}
