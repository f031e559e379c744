package datasets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"benchtop/datasets/textfile"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/hf/tokenizer"
)

// burstGPT selects prompts from a table of recorded requests.
type burstGPT struct{ Common }

func (o burstGPT) check() error {
	p := &problems{}
	p.between("number of prompts", o.Prompts, 1, math.MaxInt32)
	if o.Seed < 0 || o.Seed > math.MaxUint32 {
		p.add("seed %d must be between 0 and %d", o.Seed, uint32(math.MaxUint32))
	}
	return p.of("burstgpt")
}

func (o burstGPT) Define(func(string) Flags) {}

func (o burstGPT) needs() Needs {
	return Needs{File: RequiredFile, Forms: AsText | AsTokenIDs, Ends: true, OwnOutputLens: true}
}

func (o burstGPT) open(_ context.Context, t Tools) (Flow, error) {
	ids := o.Forms.Overlap(AsTokenIDs)
	switch local := t.Local(); {
	case local != nil && (o.VocabSize == 0 || !ids):
		return o.make(local, Vocabulary{})
	case ids:
		return o.make(nil, t.TokenIDs())
	}
	tok, err := t.RoughMaker()
	if err != nil {
		return Flow{}, inDataset("burstgpt", err)
	}
	return o.make(tok, Vocabulary{})
}

// make makes prompts as long as recorded ones, with answers as long, picked as vLLM picks them for the same
// seed. Their text is ids in a row, starting from the number of the prompt; they are made as they are asked for. It
// draws from a generator of its own. The vocabulary is used when the tokenizer does not know its own, or is nil:
// prompts are then ids, sent as they are.
func (o burstGPT) make(tok tokenizer.Tokenizer, vocab Vocabulary) (Flow, error) {
	given, own := vocab.Known(), tok != nil && tok.VocabSize() > 0
	switch {
	case own:
		vocab = Vocabulary{Size: tok.VocabSize()} // special ids have no exception here
	case !vocab.Known():
		vocab = AssumedVocabulary()
	}
	if err := vocab.validate(); err != nil {
		return Flow{}, inDataset("burstgpt", err)
	}
	rows, err := textfile.Read(o.Path, "a CSV file in BurstGPT's format", burstRows)
	if err != nil {
		return Flow{}, inFile("burstgpt", o.Path, err)
	}
	picked, ids, made := make([]burstRow, 0, o.Prompts), vocab.IDs(), 0
	for _, i := range sampleRows(len(rows), o.Prompts, uint32(o.Seed)) {
		picked = append(picked, rows[i])
	}
	form := vocab.described(given)
	switch {
	case own:
		form = "text"
	case tok != nil:
		form = "text of " + form
	}
	about := fmt.Sprintf("burstgpt: %d prompts as long as those of %d requests to GPT-4 in %s, as %s",
		len(picked), len(rows), o.Path, form)
	return Flow{Len: len(picked), About: about, Next: func() (Conversation, error) {
		if made == len(picked) {
			return Conversation{}, io.EOF
		}
		row := picked[made]
		prompt := make([]int, row.request)
		for j := range prompt {
			prompt[j] = ids[(made+j)%len(ids)]
		}
		turn := Turn{TokenIDs: prompt, InputTokens: len(prompt), MaxTokens: int(row.response)}
		if tok != nil {
			text, err := tok.Decode(prompt)
			if err != nil {
				return Conversation{}, fmt.Errorf("dataset burstgpt, prompt %d: %w", made, err)
			}
			turn.Text, turn.TokenIDs = text, nil
		}
		made++
		return Conversation{ID: o.IDPrefix + strconv.Itoa(made-1), Turns: []Turn{turn}}, nil
	}}, nil
}

// burstRows are the rows that count.
func burstRows(r io.Reader) (rows []burstRow, err error) {
	total, err := readBurstGPT(r, func(row burstRow, _ int) { rows = append(rows, row) })
	if len(rows) == 0 && err == nil {
		err = fmt.Errorf("none of its %d rows counts: "+
			`that takes the Model "GPT-4" and "Response tokens" above 0`, total)
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

const burstForm = `expected a CSV file in BurstGPT's format, whose header is "Timestamp,Model,Request ` +
	`tokens,Response ` +
	`tokens,…"`

// burstRow is the lengths of a recorded request and of its answer, in tokens.
type burstRow struct{ request, response int32 }

// maxBurstRows bounds the rows kept, and with them memory, at a hundred times what has been published.
const maxBurstRows = 1 << 25

// readBurstGPT hands over the rows that count, which are those of GPT-4 that were answered, each with its line in the
// file. It returns how many rows there are in all.
func readBurstGPT(r io.Reader, keep func(row burstRow, line int)) (total int, err error) {
	rows, err := textfile.NewCSV(r, burstForm)
	if err != nil {
		return 0, err
	}
	at := burstColumns{slices.Index(rows.Header, "Model"), slices.Index(rows.Header, "Response tokens"), 2, 3}
	if request := slices.Index(rows.Header, "Request tokens"); request >= 0 {
		at.request, at.response = request, at.answered
	}
	if at.model < 0 || at.answered < 0 || len(rows.Header) < 4 {
		return 0, textfile.AtLine(rows.Line, fmt.Errorf("%s; got %s", burstForm, textfile.Names(rows.Header)))
	}
	for kept := 0; ; total++ {
		cells, line, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return 0, err
		}
		row, ok, err := readBurstRow(cells, at)
		if err != nil {
			return 0, textfile.AtLine(line, err)
		}
		if !ok {
			continue
		}
		if kept++; kept > maxBurstRows {
			return 0, textfile.AtLine(line, fmt.Errorf("more than %d rows; cut the file down, with head", maxBurstRows))
		}
		keep(row, line)
	}
}

// burstColumns are the places of columns. Those of the lengths are found by name, since the second version of the data
// set has two more before them, or are the third and the fourth, as vLLM has it.
type burstColumns struct{ model, answered, request, response int }

// readBurstRow reports whether the row counts. The column of that name decides whether there was an answer.
func readBurstRow(cells []string, at burstColumns) (row burstRow, ok bool, err error) {
	cell := func(i int) string {
		if i < len(cells) {
			return cells[i]
		}
		return ""
	}
	if cell(at.model) != "GPT-4" {
		return row, false, nil
	}
	answered, err := tableNumber(cell(at.answered))
	if err != nil || !(answered > 0) {
		return row, false, within("column Response tokens", err)
	}
	if row.request, err = tableLength(cell(at.request), 0); err != nil {
		return row, false, within(fmt.Sprintf("column %d, request tokens", at.request+1), err)
	}
	if row.response, err = tableLength(cell(at.response), 1); err != nil {
		return row, false, within(fmt.Sprintf("column %d, response tokens", at.response+1), err)
	}
	return row, true, nil
}

// tableLength reads a cell as a length in tokens. Whole numbers may be written as pandas writes them where cells of the
// column are empty: 12.0.
func tableLength(cell string, least float64) (int32, error) {
	f, err := tableNumber(cell)
	if err != nil {
		return 0, err
	}
	if math.IsNaN(f) {
		return 0, errors.New("no number")
	}
	if f < least || f > maxLen || f != math.Trunc(f) {
		return 0, fmt.Errorf("expected a whole number from %v to %d: got %s", least, maxLen, textfile.Quote(cell))
	}
	return int32(f), nil
}

// tableNumber reads a cell, NaN where it is empty or says so in one of the ways that pandas knows.
func tableNumber(cell string) (float64, error) {
	text := strings.TrimSpace(cell)
	if slices.Contains([]string{"", "NA", "N/A", "n/a", "<NA>", "#N/A", "#NA", "NULL", "null", "None", "NaN", "nan",
		"-NaN", "-nan"}, text) {
		return math.NaN(), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || strings.ContainsAny(text, "xX_") {
		return 0, fmt.Errorf("expected a number: got %s", textfile.Quote(cell))
	}
	return f, nil
}
