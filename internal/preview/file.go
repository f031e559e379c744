package preview

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"benchtop/datasets/table"
	"benchtop/datasets/textfile"
	"benchtop/datasets/trace"
	"benchtop/internal/hf/tokenizer"
	"benchtop/internal/jsonscan"
	"benchtop/internal/text"
)

// FileOptions say how a file is read where it does not say so itself.
type FileOptions struct {
	Path      string
	Columns   trace.Columns // names of columns, "" for the well-known ones
	ChunkSize int           // tokens that a hash id stands for; 0 goes by the lengths
	Unit      float64       // seconds that a number of a time counts as; 0 goes by the form
	// Counter gives the counter of tokens and its description. It is called if there are texts to count.
	Counter func(context.Context) (tokenizer.Counter, string, error)
	// Progress, if it is not nil, is told how many rows are read, at most once in a time of Every.
	Progress func(done, total int)
	Every    time.Duration
}

// AnalyzeFile analyzes all rows of a file, in their order. It reads them one after another and keeps none. Errors are
// about the file and leave its path out, unless they are the counter's or of ctx.
func AnalyzeFile(ctx context.Context, o FileOptions) (*Analysis, error) {
	rows, err := table.Open(ctx, o.Path)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if rows.Len() == 0 {
		return nil, fmt.Errorf("the file has no rows; expected %s", expectedForms)
	}
	r := &fileReader{FileOptions: o, rows: rows, analysis: NewAnalysis(), seed: maphash.MakeSeed()}
	if err := r.recognize(ctx); err != nil {
		return nil, err
	}
	if err := r.all(ctx); err != nil {
		return nil, err
	}
	if err := r.count(ctx); err != nil {
		return nil, err
	}
	r.conclude()
	if r.analysis.input.n == 0 {
		return nil, fmt.Errorf("no row has a prompt in %q", r.form.prompt)
	}
	return r.analysis, nil
}

// fileReader reads requests from the rows of a file.
type fileReader struct {
	FileOptions
	rows     table.Table
	form     form
	clock    trace.Clock
	seed     maphash.Seed
	analysis *Analysis

	counter tokenizer.Counter
	counted string        // its description
	waiting []textRequest // requests whose texts are yet to be counted, and those behind them
	bytes   int           // of their texts
	without int           // rows that have no prompt
}

// textRequest is a request with texts to be counted.
type textRequest struct {
	Request
	prompt bool   // its prompts are to be counted
	answer string // to be counted, if its output length is unknown; "" for none
}

// headRows are looked at to recognize the form of a file.
const headRows = 1000

// recognize finds out what the rows are.
func (r *fileReader) recognize(ctx context.Context) error {
	names, seen := []string{}, map[string]bool{}
	add := func(name string) {
		if !seen[name] && len(names) < 1000 {
			seen[name] = true
			names = append(names, name)
		}
	}
	for _, name := range r.rows.Columns() {
		add(name)
	}
	head := min(headRows, r.rows.Len())
	// a row may have fields that the first one lacks
	err := r.each(ctx, 0, min(head, 100), nil, func(_ context.Context, object []byte) error {
		for name := range jsonscan.Members(object) {
			add(jsonscan.Text(name))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if r.form, err = formOf(names, r.Columns); err != nil {
		return err
	}
	if r.form.sessions {
		return nil
	}
	c := r.form.columns
	var ids [][2]int
	whole := true // all times are whole numbers
	err = r.each(ctx, 0, head, r.form.wanted(), func(_ context.Context, object []byte) error {
		fields := jsonscan.Fields(object, c.Timestamp, c.Input, c.HashIDs)
		whole = whole && !bytes.ContainsRune(fields[0], '.')
		n, err := trace.Length(fields[1], 0)
		blocks, bad := hashIDs(fields[2], r.seed, math.MaxInt)
		if err == nil && bad == nil && n > 0 && len(blocks) > 0 { // others are told below
			ids = append(ids, [2]int{n, len(blocks)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	if c.HashIDs != "" {
		r.setChunk(ids)
	}
	r.clock.Unit = r.Unit
	r.clock.Milliseconds = whole && c.Milliseconds(names)
	if c.HashIDs != "" { // of whatever names
		r.clock.Milliseconds = whole && r.ChunkSize != vLLMBlock
	}
	return nil
}

// setChunk finds how many tokens a hash id stands for.
func (r *fileReader) setChunk(rows [][2]int) {
	if r.ChunkSize > 0 || len(rows) == 0 {
		r.ChunkSize = max(r.ChunkSize, 1)
		return
	}
	var fits bool
	if r.ChunkSize, fits = blockSize(rows); !fits {
		r.note("no block size fits the numbers of hash ids; taken as %d tokens, another with "+
			"--timed-trace-chunk-hash-size", r.ChunkSize)
		return
	}
	r.note("a hash id stands for %d tokens, by the lengths", r.ChunkSize)
}

// vLLMBlock is the block size of vLLM's traces, whose times are in seconds; those of others with hash ids are mostly in
// milliseconds.
const vLLMBlock = 16

func (r *fileReader) note(format string, a ...any) {
	r.analysis.About.Notes = append(r.analysis.About.Notes, fmt.Sprintf(format, a...))
}

// all takes all rows.
func (r *fileReader) all(ctx context.Context) error {
	take := r.take
	if r.form.sessions {
		take = r.takeSession
	}
	told := time.Now()
	for from := 0; from < r.rows.Len(); from += atOnce {
		if r.Progress != nil && from > 0 && time.Since(told) >= r.Every {
			r.Progress(from, r.rows.Len())
			told = time.Now()
		}
		if err := r.each(ctx, from, min(from+atOnce, r.rows.Len()), r.form.wanted(), take); err != nil {
			return err
		}
	}
	return nil
}

// atOnce is how many rows are asked for at once.
const atOnce = 4096

// each calls do with rows from one number to another.
func (r *fileReader) each(ctx context.Context, from, to int, columns []string,
	do func(ctx context.Context, object []byte) error) error {
	numbers := make([]int, to-from)
	for i := range numbers {
		numbers[i] = from + i
	}
	return r.rows.Rows(ctx, numbers, columns, func(_ int, object []byte) error { return do(ctx, object) })
}

// take reads a row.
func (r *fileReader) take(ctx context.Context, object []byte) error {
	c := r.form.columns
	fields := jsonscan.Fields(object, c.Timestamp, c.Input, c.Output, c.HashIDs, r.form.prompt, r.form.others,
		r.form.answer)
	w := textRequest{Request: Request{Input: Unknown, Output: Unknown}}
	var err error
	if c.Timestamp != "" {
		if w.At, err = r.clock.At(fields[0]); err != nil {
			return inColumn(c.Timestamp, err)
		}
		w.Timed = true
	}
	if c.Input != "" {
		if w.Input, err = trace.Length(fields[1], 0); err != nil {
			return inColumn(c.Input, err)
		}
	}
	if c.Output != "" && !missing(fields[2]) {
		if w.Output, err = trace.Length(fields[2], 0); err != nil {
			return inColumn(c.Output, err)
		}
		if w.Output == 0 && c.Output == "expected_output_len" {
			w.Output = Unknown // the server decides
		}
	}
	if err := r.prompts(&w, fields[3], fields[4], fields[5]); err != nil {
		return err
	}
	if r.form.answer != "" && jsonscan.IsString(fields[6]) {
		if w.answer, err = jsonscan.WholeText(fields[6]); err != nil {
			return inColumn(r.form.answer, err)
		}
	}
	if w.Input == Unknown && len(w.Prompts) == 0 {
		r.without++
		return nil
	}
	return r.add(ctx, w)
}

func missing(raw []byte) bool { return len(raw) == 0 || raw[0] == 'n' }

// inColumn says which column an error is about, if there is one.
func inColumn(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("column %s: %w", textfile.Quote(name), err)
}

// prompts sets what a row says of its prompt besides its length.
func (r *fileReader) prompts(w *textRequest, hashes, prompt, others []byte) (err error) {
	column, read := r.form.prompt, r.form.read
	if missing(prompt) && r.form.others != "" {
		column, read, prompt = r.form.others, prompts, others
	}
	if column != "" && !missing(prompt) {
		w.Prompts, w.answer, err = read(prompt)
		if w.prompt = w.Input == Unknown; !w.prompt {
			w.share()
		}
		return inColumn(column, err)
	}
	if r.form.columns.HashIDs == "" || w.Input == Unknown || missing(hashes) {
		return nil
	}
	blocks, err := hashIDs(hashes, r.seed, (w.Input+r.ChunkSize-1)/r.ChunkSize)
	w.Prompts = []Prompt{{Tokens: w.Input, Blocks: blocks, BlockTokens: r.ChunkSize}}
	return inColumn(r.form.columns.HashIDs, err)
}

// share gives each prompt its part of the tokens, by its length.
func (w *textRequest) share() {
	length := func(p *Prompt) float64 { return float64(max(len(p.IDs), len(p.Text))) }
	all := 0.0
	for i := range w.Prompts {
		all += length(&w.Prompts[i])
	}
	for i := range w.Prompts {
		w.Prompts[i].Tokens = int(float64(w.Input) * length(&w.Prompts[i]) / max(1, all))
	}
}

// The most requests and bytes of text that wait to be counted.
const (
	mostWaiting      = 1024
	mostWaitingBytes = 4 << 20
)

// add takes a request. Those with texts to be counted wait, to be counted together.
func (r *fileReader) add(ctx context.Context, w textRequest) error {
	for i := range w.Prompts {
		r.bytes += len(w.Prompts[i].Text)
	}
	r.bytes += len(w.answer)
	r.waiting = append(r.waiting, w)
	if len(r.waiting) < mostWaiting && r.bytes < mostWaitingBytes {
		return nil
	}
	return r.count(ctx)
}

// count counts the texts of the requests that wait, and adds these to the analysis.
func (r *fileReader) count(ctx context.Context) error {
	var texts []string
	var to []*int
	for i := range r.waiting {
		w := &r.waiting[i]
		for j := range w.Prompts {
			p := &w.Prompts[j]
			if p.IDs != nil {
				p.Tokens = len(p.IDs)
			} else if w.prompt {
				texts, to = append(texts, p.Text), append(to, &p.Tokens)
			}
		}
		if w.Output == Unknown && w.answer != "" {
			texts, to = append(texts, w.answer), append(to, &w.Output)
		}
	}
	if len(texts) > 0 {
		if err := r.countTexts(ctx, texts, to); err != nil {
			return err
		}
	}
	for i := range r.waiting {
		w := &r.waiting[i]
		if w.prompt {
			w.Input = 0
			for j := range w.Prompts {
				w.Input += w.Prompts[j].Tokens
			}
		}
		r.analysis.Add(w.Request)
	}
	clear(r.waiting)
	r.waiting, r.bytes = r.waiting[:0], 0
	return nil
}

// CounterError is an error of counting, which is none of the file.
type CounterError struct{ error }

// Unwrap is the error itself.
func (e CounterError) Unwrap() error { return e.error }

func (r *fileReader) countTexts(ctx context.Context, texts []string, to []*int) (err error) {
	if r.counter == nil {
		if r.Counter == nil {
			return CounterError{errors.New("there is nothing to count texts with")}
		}
		if r.counter, r.counted, err = r.Counter(ctx); err != nil {
			return CounterError{err}
		}
	}
	counts, err := tokenizer.CountAll(ctx, r.counter, texts)
	if err != nil {
		return CounterError{fmt.Errorf("counting tokens: %w", err)}
	}
	for i, n := range counts {
		*to[i] = n
	}
	return nil
}

// conclude says where the figures come from.
func (r *fileReader) conclude() {
	about := &r.analysis.About
	about.Source, about.Form = r.Path, r.form.name
	c := r.form.columns
	switch {
	case c.Input != "" || r.form.sessions:
		about.Tokens = "lengths of the file"
	case r.counted != "":
		about.Tokens = r.counted + ", without a chat template"
	default:
		about.Tokens = "token ids of the file"
	}
	if name := r.form.dataset; name != "" && slices.Contains(r.form.files, strings.ToLower(filepath.Ext(r.Path))) &&
		r.Columns == (trace.Columns{}) {
		about.Dataset = []string{"--dataset-name", name, "--num-prompts", fmt.Sprint(r.rows.Len())}
		if c.HashIDs != "" {
			about.Dataset = append(about.Dataset, "--timed-trace-chunk-hash-size", fmt.Sprint(r.ChunkSize),
				"--timed-trace-sec-multiplier", fmt.Sprint(r.clock.Unit))
		} else if unit := trace.UnitName(r.Unit); unit != "" {
			about.Dataset = append(about.Dataset, "--trace-unit", unit)
		}
	}
	if a := &r.analysis.arrivals; a.n > 0 && !r.clock.Dates() {
		r.note("time stamps are taken as %s; another unit with --trace-unit", trace.UnitName(r.clock.Unit))
	}
	if r.without > 0 {
		r.note("%s rows without a prompt are left out", text.Grouped(r.without))
	}
}
