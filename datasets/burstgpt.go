package datasets

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"

	"benchtop/datasets/numpy"
)

// BurstGPTOptions selects prompts from a table of recorded requests.
type BurstGPTOptions struct {
	Common

	// Vocabulary is used when the tokenizer does not know its own, or there is none.
	Vocabulary Vocabulary `json:"vocabulary"`
}

// Validate reports every problem with the options, without looking at the file.
func (o BurstGPTOptions) Validate() error {
	p := &problems{}
	p.path(o.Path, "the CSV file")
	p.between("number of prompts", o.Prompts, 1, math.MaxInt32)
	if o.Seed < 0 || o.Seed > math.MaxUint32 {
		p.add("seed %d must be between 0 and %d", o.Seed, uint32(math.MaxUint32))
	}
	p.vocabulary(o.Vocabulary)
	return p.of("burstgpt")
}

type burstGPTKind struct{}

func (k *burstGPTKind) Name() string              { return "burstgpt" }
func (k *burstGPTKind) Define(func(string) Flags) {}

func (k *burstGPTKind) Needs(Common) Needs {
	return Needs{File: RequiredFile, Forms: AsText | AsTokenIDs, Ends: true, OwnOutputLens: true}
}

func (k *burstGPTKind) Validate(c Common) error { return BurstGPTOptions{Common: c}.Validate() }

func (k *burstGPTKind) Open(_ context.Context, c Common, t Tools) (Source, error) {
	o, ids := BurstGPTOptions{Common: c}, c.Forms.Overlap(AsTokenIDs)
	switch local := t.Local(); {
	case local != nil && (c.VocabSize == 0 || !ids):
		return newBurstGPT(o, local)
	case ids:
		o.Vocabulary = t.TokenIDs()
		return newBurstGPT(o, nil)
	}
	tok, err := t.RoughMaker()
	if err != nil {
		return nil, inDataset("burstgpt", err)
	}
	return newBurstGPT(o, tok)
}

// BurstGPT is a source of prompts as long as recorded ones, with answers as long, picked as vLLM picks them for the same
// seed. Their text is ids in a row. They are made as they are asked for.
type BurstGPT struct {
	o           BurstGPTOptions
	tok         Speller // nil: prompts are ids
	vocab       Vocabulary
	ids         []int // of vocab
	own         bool  // the tokenizer knew its vocabulary
	picked      []burstRow
	kept, total int // rows that count, rows in the file
	next        int
}

// Speller turns the ids of a vocabulary into text.
type Speller interface {
	Decode(ids []int) (string, error)
	// VocabSize is the number of ids, 0 … VocabSize-1; 0 when it is not known.
	VocabSize() int
}

// newBurstGPT reads the file and picks the prompts. It draws from a generator of its own. tok may be nil: prompts are then ids of
// o.Vocabulary, sent as they are.
func newBurstGPT(o BurstGPTOptions, tok Speller) (*BurstGPT, error) {
	d := &BurstGPT{o: o, tok: tok, vocab: o.Vocabulary}
	switch {
	case tok != nil && tok.VocabSize() > 0:
		d.vocab, d.own = Vocabulary{Size: tok.VocabSize()}, true // special ids have no exception here
	case !d.vocab.Known():
		d.vocab = AssumedVocabulary()
	}
	if err := d.vocab.validate(); err != nil {
		return nil, inDataset("burstgpt", err)
	}
	d.ids = d.vocab.IDs()
	rows, err := readFile(o.Path, "a CSV file in BurstGPT's format", d.read)
	if err != nil {
		return nil, inFile("burstgpt", o.Path, err)
	}
	for _, i := range sampleRows(len(rows), o.Prompts, uint32(o.Seed)) {
		d.picked = append(d.picked, rows[i])
	}
	return d, nil
}

// read reads the rows that count.
func (d *BurstGPT) read(r io.Reader) (rows []burstRow, err error) {
	d.total, err = readBurstGPT(r, func(row burstRow, _ int) { rows = append(rows, row) })
	if d.kept = len(rows); d.kept == 0 && err == nil {
		err = fmt.Errorf(`none of its %d rows counts: that takes the Model "GPT-4" and "Response tokens" above 0`, d.total)
	}
	return rows, err
}

// sampleRows picks n of so many rows as DataFrame.sample of pandas does: each at most once, unless there are too few.
func sampleRows(rows, n int, seed uint32) []int {
	gen := numpy.NewLegacy(seed)
	if n <= rows {
		return gen.ChoiceDistinct(rows, n)
	}
	return gen.Choice(rows, n)
}

// Next makes the next prompt: ids in a row, starting from the number of the prompt.
func (d *BurstGPT) Next() (Conversation, error) {
	if d.next == len(d.picked) {
		return Conversation{}, io.EOF
	}
	row := d.picked[d.next]
	ids := make([]int, row.request)
	for j := range ids {
		ids[j] = d.ids[(d.next+j)%len(d.ids)]
	}
	turn := Turn{TokenIDs: ids, InputTokens: len(ids), MaxTokens: int(row.response)}
	if d.tok != nil {
		text, err := d.tok.Decode(ids)
		if err != nil {
			return Conversation{}, fmt.Errorf("dataset burstgpt, prompt %d: %w", d.next, err)
		}
		turn.Text, turn.TokenIDs = text, nil
	}
	d.next++
	return Conversation{ID: d.o.IDPrefix + strconv.Itoa(d.next-1), Turns: []Turn{turn}}, nil
}

// Len is how many prompts there are in all.
func (d *BurstGPT) Len() int { return len(d.picked) }

// Description is a line about the prompts, for the head of a report.
func (d *BurstGPT) Description() string {
	s := fmt.Sprintf("burstgpt: %d prompts as long as those of %d requests to GPT-4 in %s, as ", len(d.picked), d.kept, d.o.Path)
	switch {
	case d.own:
		return s + "text"
	case d.tok != nil:
		s += "text of "
	}
	return s + d.vocab.described(d.o.Vocabulary.Known())
}
