package datasets

import "math"

// RerankOptions describes requests that put one random query before random documents, for endpoints that score documents.
type RerankOptions struct {
	Prompts    int        `json:"prompts"`     // how many documents; without a reranker the query is one of them
	InputLen   int        `json:"input_len"`   // tokens of query and document together; without a reranker of each
	Ratio      RangeRatio `json:"range_ratio"` // that of the output is of no account
	Batch      int        `json:"batch_size"`  // documents in one request; without a reranker the query is one of them
	NoReranker bool       `json:"no_reranker"` // the model embeds query and documents for themselves
	IDPrefix   string     `json:"request_id_prefix"`
	Seed       int64      `json:"seed"`

	// Vocabulary is used when the tokenizer does not tell the size of its own.
	Vocabulary Vocabulary `json:"vocabulary"`
}

// RerankDefaults are vLLM's: 1000 documents, one in a request, 1024 tokens with the query.
func RerankDefaults() RerankOptions { return RerankOptions{Prompts: 1000, InputLen: 1024, Batch: 1} }

// Validate reports every problem with the options.
func (o RerankOptions) Validate() error {
	p := &problems{}
	p.between("number of prompts", o.Prompts, 1, math.MaxInt32)
	p.between("input length", o.InputLen, 0, maxLen)
	p.between("batch size", o.Batch, 1, math.MaxInt32)
	p.seed(o.Seed, math.MaxInt64)
	p.ratio(o.Ratio)
	p.vocabulary(o.Vocabulary)
	if o.NoReranker && (o.Prompts == 1 || o.Batch == 1) {
		p.add("without a reranker one prompt of each request is the query, so the number of prompts (%d) and the batch size (%d) "+
			"must both be above 1", o.Prompts, o.Batch)
	}
	return p.of("random-rerank")
}
