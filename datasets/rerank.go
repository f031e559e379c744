package datasets

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"benchtop/internal/hf/numpy"
	"benchtop/internal/hf/tokenizer"
)

// rerankOptions describes requests that put one random query before random documents, for endpoints that score
// documents.
type rerankOptions struct {
	// RandomOptions are those of the documents: how many, in tokens with the query, and how many in one request.
	// Without a reranker the query is one of them, and lengths are each prompt's own. Outputs and prefixes do not
	// count.
	RandomOptions

	NoReranker bool // the model embeds query and documents for themselves
}

// Validate reports every problem with the options.
func (o rerankOptions) Validate() error {
	p := o.RandomOptions.problems()
	if o.NoReranker && (o.Prompts == 1 || o.Batch == 1) {
		p.add("without a reranker one prompt of each request is the query, so the number of prompts (%d) and the "+
			"batch size (%d) must both be above 1", o.Prompts, o.Batch)
	}
	return p.of("random-rerank")
}

type rerankKind struct {
	Common
	*randomFlags
}

// Define adds nothing: the flags are the random family's.
func (k rerankKind) Define(func(string) Flags) {}

func (k rerankKind) needs() Needs {
	return Needs{Forms: AsDocuments | AsInputs, Why: "a query and documents are for rerank and embeddings endpoints",
		Ends: true, TakesInputLen: true}
}

func (k rerankKind) options() (rerankOptions, error) {
	r, err := k.in(k.Common)
	return rerankOptions{RandomOptions{Common: k.Common, InputLen: r.InputLen, Ratio: r.Ratio, Batch: r.Batch},
		k.noReranker}, err
}

func (k rerankKind) check() error {
	o, err := k.options()
	return errors.Join(err, o.Validate())
}

func (k rerankKind) open(_ context.Context, t Tools) (Flow, error) {
	o, err := k.options()
	if err != nil {
		return Flow{}, err
	}
	if t.Local() == nil {
		return Flow{}, t.NoMaker()
	}
	return newRerank(o, t.Local())
}

// newRerank makes requests of a query and documents, those of vLLM's random-rerank for the same seed and tokenizer.
// Each is one turn whose Batch is the query, the same in all, and then documents. InputTokens is what the model will
// read: a reranker reads the query again, and a separator, for each document.
func newRerank(o rerankOptions, tok tokenizer.Tokenizer) (Flow, error) {
	vocab, assumed := vocabularyFor(o.Vocabulary, tok)
	if err := vocab.validate(); err != nil {
		return Flow{}, inDataset("random-rerank", err)
	}
	d := drawRerank(o, tok.SpecialTokensToAdd(), vocab)
	turns, err := d.turns(tok)
	if err != nil {
		return Flow{}, inDataset("random-rerank", err)
	}
	all := o.requests(turns[0], turns[1:])
	documents := "a document"
	if n := o.documentsAtOnce(); n > 1 {
		documents = fmt.Sprintf("at most %d documents", n)
	}
	about := fmt.Sprintf("random-rerank: %d requests of a query of %d tokens and %s of %s tokens, as %s",
		len(all), turns[0].InputTokens, documents, d.documents, formOf(vocab, true, assumed))
	about += missed(d.miss)
	if o.NoReranker {
		about += ", for models other than rerankers"
	}
	return ListOf(all, about), nil
}

// documentsAtOnce is how many documents a request holds.
func (o rerankOptions) documentsAtOnce() int {
	if o.NoReranker {
		return o.Batch - 1
	}
	return o.Batch
}

// rerankDraws are the draws behind the prompts, the query's first.
type rerankDraws struct {
	vocab            Vocabulary
	ids              []int // allowed
	gen              numpy.Generator
	lengths, offsets []int64
	documents        draws // lengths of documents
	begun            int
	miss             int // tokens, of all prompts together
}

// drawRerank draws the query alone, and then the documents, whose length depends on that of the query.
func drawRerank(o rerankOptions, specialTokens int, vocab Vocabulary) *rerankDraws {
	d := &rerankDraws{vocab: vocab, ids: vocab.IDs(), gen: *numpy.NewGenerator(uint64(o.Seed))}
	draw := func(inputLen, n int) draws {
		lo, hi := bounds(max(0, inputLen-specialTokens), o.Ratio.Input)
		kept := draws{d.gen, int64(lo), int64(hi) + 1}
		d.lengths = append(d.lengths, d.gen.IntegersArray(kept.lo, kept.hi, n)...)
		d.offsets = append(d.offsets, d.gen.IntegersArray(0, int64(vocab.Size), n)...)
		return kept
	}
	if o.NoReranker {
		draw(o.InputLen, 1)
		d.documents = draw(o.InputLen, o.Prompts-1)
		return d
	}
	draw(o.InputLen/2-1, 1)
	d.documents = draw(o.InputLen-int(d.lengths[0])-1, o.Prompts)
	return d
}

// begin is the next prompt as it is tried first.
func (d *rerankDraws) begin() (ids []int, target int, ok bool) {
	if d.begun == len(d.lengths) {
		return nil, 0, false
	}
	target = int(d.lengths[d.begun])
	ids = appendRun(make([]int, 0, target), d.ids, int(d.offsets[d.begun])+d.begun, target)
	d.begun++
	return ids, target, true
}

// turns makes all prompts.
func (d *rerankDraws) turns(tok tokenizer.Tokenizer) ([]Turn, error) {
	prompts := fitQueue{tok: tok, begin: d.begin,
		draw: func() int { return d.vocab.First + d.gen.Choice(d.vocab.Size) }}
	turns := make([]Turn, len(d.lengths))
	for i := range turns {
		f, err := prompts.next()
		if err != nil {
			return nil, fmt.Errorf("prompt %d: %w", i, err)
		}
		d.miss += f.miss
		turns[i] = Turn{Text: f.text, InputTokens: len(f.ids)}
	}
	return turns, nil
}

// requests puts the query before groups of documents; the last group may be short of some.
func (o rerankOptions) requests(query Turn, documents []Turn) []Conversation {
	var all []Conversation
	for len(documents) > 0 {
		group := documents[:min(len(documents), o.documentsAtOnce())]
		documents = documents[len(group):]
		turn := Turn{Batch: append([]Turn{query}, group...)}
		for _, document := range group {
			turn.InputTokens += document.InputTokens
		}
		if o.NoReranker {
			turn.InputTokens += query.InputTokens
		} else {
			turn.InputTokens += (query.InputTokens + 1) * len(group)
		}
		all = append(all, Conversation{ID: o.IDPrefix + strconv.Itoa(len(all)), Turns: []Turn{turn}})
	}
	return all
}
