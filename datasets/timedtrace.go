package datasets

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"benchtop/datasets/textfile"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/hf/tokenizer"
)

// timedTrace selects prompts from a trace of requests with their times, and says how the trace is written.
type timedTrace struct {
	Common                 // its Prompts are the most there are; the trace is not repeated
	ChunkSize  int         // tokens that a hash id stands for
	Multiplier float64     // seconds in one unit of the time stamps
	Labels     traceLabels // names of the fields
	Vocabulary Vocabulary  // where there is no tokenizer that knows its own
}

// traceLabels are the names of the fields of a trace; the hash ids are those of the blocks of tokens that the prompt
// consists of.
type traceLabels struct{ Timestamp, InputLength, OutputLength, HashIDs string }

func (o timedTrace) check() error {
	p := &problems{}
	p.between("number of prompts", o.Prompts, 1, math.MaxInt32)
	p.between("chunk size", o.ChunkSize, 1, maxLen)
	if !(o.Multiplier >= 0) || math.IsInf(o.Multiplier, 0) {
		p.add("multiplier of the time stamps %v must be a number from 0 on", o.Multiplier)
	}
	for _, label := range []struct{ what, name string }{
		{"time stamp", o.Labels.Timestamp},
		{"input length", o.Labels.InputLength},
		{"output length", o.Labels.OutputLength},
		{"hash ids", o.Labels.HashIDs},
	} {
		if label.name == "" {
			p.add("the field of the %s must have a name", label.what)
		}
	}
	return p.of("timed_trace")
}

func (o *timedTrace) Define(group func(string) Flags) {
	f := group(TraceHeading)
	f.IntVar(&o.ChunkSize, "timed-trace-chunk-hash-size", o.ChunkSize, "tokens per hash id")
	f.Float64Var(&o.Multiplier, "timed-trace-sec-multiplier", o.Multiplier,
		"unit of the time stamps in seconds, as 0.001 for milliseconds")
	f.StringVar(&o.Labels.Timestamp, "timed-trace-label-timestamp", o.Labels.Timestamp, "field with the time")
	f.StringVar(&o.Labels.InputLength, "timed-trace-label-input-length", o.Labels.InputLength,
		"field with the prompt length")
	f.StringVar(&o.Labels.OutputLength, "timed-trace-label-output-length", o.Labels.OutputLength,
		"field with the output length")
	f.StringVar(&o.Labels.HashIDs, "timed-trace-label-hash-ids", o.Labels.HashIDs, "field with the hash ids")
}

func (o timedTrace) needs() Needs {
	return Needs{File: RequiredFile, Forms: AsTokenIDs, Why: "its prompts are token ids, which chat cannot send",
		Ends: true, FullLength: true, Timed: true,
		OwnOutputLens: true, Shares: true}
}

func (o timedTrace) open(_ context.Context, t Tools) (Flow, error) {
	tok, most := t.Local(), o.Prompts
	if tok == nil || o.VocabSize > 0 {
		o.Vocabulary, tok = t.TokenIDs(), nil
	}
	if o.Replay.String() != "" {
		o.Prompts = math.MaxInt32 // the most are of those that are sent
	}
	d, err := newTracePrompts(o, tok, t.Streams())
	if err != nil {
		return Flow{}, err
	}
	t.Note(d.doubt())
	f, err := o.Replay.replay(d.flow(), o.Seed, most)
	return f, inDataset("timed_trace", err)
}

// tracePrompts are the requests of a trace: as long as recorded, sharing what they shared, at the times they
// came. Its prompts are token ids and are made as they are asked for; of the file it keeps little more than the hash
// ids.
type tracePrompts struct {
	o      timedTrace
	vocab  Vocabulary // that prompts are made of, unless a tokenizer knew its own
	own    bool       // it did
	trace  *hashTrace
	blocks *traceBlocks
	made   int
}

// newTracePrompts reads the file. It seeds both generators of s with 0, whatever the seed of the run, as vLLM does. tok
// may be nil: prompts are then made of the ids of o.Vocabulary, and are not those that vLLM would make.
func newTracePrompts(o timedTrace, tok tokenizer.Tokenizer, s *numpy.Streams) (*tracePrompts, error) {
	d := &tracePrompts{o: o, vocab: o.Vocabulary}
	ids, err := d.vocabulary(tok)
	if err != nil {
		return nil, inDataset("timed_trace", err)
	}
	d.blocks = newTraceBlocks(ids)
	if d.trace, err = textfile.Read(o.Path, "a trace, a JSON object on each line",
		func(r io.Reader) (*hashTrace, error) { return readTrace(r, o) }); err != nil {
		return nil, inFile("timed_trace", o.Path, err)
	}
	s.Python.Seed(0)
	s.Legacy.Seed(0)
	return d, nil
}

func (d *tracePrompts) flow() Flow {
	return Flow{Next: d.next, Len: len(d.trace.lines), Times: d.times, About: d.description()}
}

// vocabulary lists what prompts may hold: all ids of the tokenizer, those of added tokens among them, without the
// special ones.
func (d *tracePrompts) vocabulary(tok tokenizer.Tokenizer) ([]int, error) {
	if tok == nil || len(tok.IDs()) == 0 {
		if !d.vocab.Known() {
			d.vocab = AssumedVocabulary()
		}
		return d.vocab.IDs(), nil
	}
	d.own = true
	ids := except(slices.Clone(tok.IDs()), tok.SpecialIDs())
	if len(ids) == 0 {
		return nil, errors.New("the tokenizer has nothing but special tokens; give another with --tokenizer")
	}
	return ids, nil
}

// next makes the next prompt, with the trace's own time in At, which may be smaller than that of the one before.
func (d *tracePrompts) next() (Conversation, error) {
	if d.made == len(d.trace.lines) {
		return Conversation{}, io.EOF
	}
	line := d.trace.lines[d.made]
	ids := d.prompt(d.trace.hashIDs(d.made), int(line.input))
	turn := Turn{TokenIDs: ids, InputTokens: len(ids), MaxTokens: int(line.output)}
	d.made++
	return Conversation{ID: d.o.IDPrefix + strconv.Itoa(d.made-1), Turns: []Turn{turn}, At: line.at}, nil
}

// prompt puts the blocks of the hash ids together, the last one cut to what is still wanted. It is shorter than wanted
// if there are too few.
func (d *tracePrompts) prompt(hashes []byte, wanted int) []int {
	ids := []int{}
	for len(hashes) > 0 && len(ids) < wanted {
		length, width := binary.Uvarint(hashes)
		hash := hashes[width : width+int(length)]
		hashes = hashes[width+int(length):]
		ids = append(ids, d.blocks.block(hash, min(d.o.ChunkSize, wanted-len(ids)))...)
	}
	return ids
}

// times are the offsets from the start of the run at which the requests are to start, in their order. Requests start in
// the order of the trace: one whose time stamp is smaller than that of an earlier one, or below 0, starts at once.
func (d *tracePrompts) times() []time.Duration {
	times := make([]time.Duration, len(d.trace.lines))
	now := time.Duration(0)
	for i, line := range d.trace.lines {
		now = max(now, line.at)
		times[i] = now
	}
	return times
}

// doubt is a warning where most prompts come out shorter than the trace says, "" where they do not. Traces with
// blocks of another size than vLLM's default are mostly in milliseconds, too.
func (d *tracePrompts) doubt() string {
	short := d.trace.short
	if 2*short <= len(d.trace.lines) || d.trace.chunk == 0 {
		return ""
	}
	size := 1 << bits.Len(uint(d.trace.chunk-1))
	return fmt.Sprintf("%d of %d prompts come out shorter than the trace says: %d tokens for each hash id are too "+
		"few, %d would do (--timed-trace-chunk-hash-size %[4]d); "+
		"if its time stamps are milliseconds, give --timed-trace-sec-multiplier 0.001 as well", short,
		len(d.trace.lines), d.o.ChunkSize, size)
}

// description is a line about the prompts, for the head of a report.
func (d *tracePrompts) description() string {
	short, back := d.trace.short, 0
	for i, at := range d.times() {
		if d.trace.lines[i].at < at {
			back++
		}
	}
	ids := "token ids"
	if !d.own {
		ids = d.vocab.described(d.o.Vocabulary.Known())
	}
	s := fmt.Sprintf("timed_trace: %d prompts in %s, in blocks of %d %s", len(d.trace.lines), d.o.Path, d.o.ChunkSize,
		ids)
	if short > 0 {
		s += fmt.Sprintf("; %d shorter than the trace says, for want of hash ids", short)
	}
	if back > 0 {
		s += fmt.Sprintf("; %d start at once, their time stamps going back", back)
	}
	return s
}
