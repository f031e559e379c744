package datasets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"benchtop/datasets/lengths"
	"benchtop/datasets/textfile"
	"benchtop/datasets/trace"
	"benchtop/internal/hf/tokenizer"
)

// traceKind is prompts as long as recorded ones, at their times, of a file without hash ids.
type traceKind struct {
	columns, unit string
	speed         float64
	replay        *Replay // of all recordings
}

func (k *traceKind) Name() string { return "trace" }

// TraceHeading is that of the flags of data sets with times.
const TraceHeading = "Data sets timed_trace, trace and agents"

func (k *traceKind) Define(group func(string) Flags) {
	f := group(TraceHeading)
	f.StringVar(&k.columns, "trace-columns", "", "trace: columns of the file, timestamp=NAME,input=NAME,output=NAME (default: found by well-known names)")
	f.StringVar(&k.unit, "trace-unit", "", "trace: unit of time stamps that are numbers: s, ms, us or ns (default: found)")
	f.Float64Var(&k.speed, "trace-speed", k.speed, "trace: how many times as fast as recorded, as 2 or 0.5")
	k.replay.define(f)
}

func (k *traceKind) Needs(Common) Needs {
	return Needs{File: RequiredFile, Forms: AsText | AsTokenIDs, Ends: true, AllRows: true, FullLength: true, Timed: true, Aligned: true, OwnOutputLens: true}
}

func (k *traceKind) options(c Common) (o trace.Options, err error) {
	o = trace.Options{From: c.Replay.From, To: c.Replay.To, Speed: k.speed * c.Replay.scale(), Most: max(0, c.Prompts)}
	if o.Unit, err = trace.ParseUnit(k.unit); err != nil {
		return o, fmt.Errorf("--trace-unit %w", err)
	}
	if c.Replay.share() < 1 {
		o.Most = 0 // of those that are sent
	}
	o.Columns, err = trace.ParseColumns(k.columns)
	return o, within("--trace-columns", err)
}

func (k *traceKind) Validate(c Common) error {
	o, err := k.options(c)
	p := &problems{}
	p.path(c.Path, "the trace")
	p.between("number of prompts", c.Prompts, 0, math.MaxInt32)
	p.seed(c.Seed, math.MaxInt64)
	return errors.Join(err, p.of("trace"), inDataset("trace", o.Validate()))
}

func (k *traceKind) Open(ctx context.Context, c Common, t Tools) (Source, error) {
	o, err := k.options(c)
	if err != nil {
		return nil, err
	}
	requests, err := textfile.Read(c.Path, "a trace, in CSV or with an object on each line", func(r io.Reader) (*trace.Requests, error) {
		return trace.Read(ctx, r, o)
	})
	if err != nil {
		return nil, inFile("trace", c.Path, err)
	}
	tok, vocab, err := c.maker(t)
	if err != nil {
		return nil, err
	}
	d, err := newTrace(requests, o, c, tok, vocab)
	if err != nil {
		return nil, err
	}
	rest := Replay{MaxGap: time.Duration(math.Ceil(float64(c.Replay.MaxGap) / o.Speed)), Sample: c.Replay.Sample} // the rest is in the times already
	source, err := rest.replay(d, c.Seed, c.Prompts)
	return source, inDataset("trace", err)
}

// Trace is a source of random prompts as long as recorded ones, at the times of these. They are made as those of Random.
type Trace struct {
	prompts  *Random
	requests *trace.Requests
	about    string
}

func newTrace(q *trace.Requests, o trace.Options, c Common, tok tokenizer.Tokenizer, vocab Vocabulary) (*Trace, error) {
	c.Prompts = q.Len()
	pair := func(i int) lengths.Pair { return q.At(i).Pair }
	r := newRandom("trace", RandomOptions{Common: c, Batch: 1, Vocabulary: vocab}, tok)
	r.pair = pair
	if err := r.prepare(); err != nil {
		return nil, err
	}
	d := &Trace{prompts: r, requests: q}
	input, output := lengths.Summarize(q.Len(), pair)
	d.about = fmt.Sprintf("trace: %d prompts in %s over %s (%s, %s, %s), %s input tokens%s, as %s", q.Len(), c.Path,
		q.At(q.Len()-1).At.Round(time.Millisecond), shortened(q.Columns.Timestamp), shortened(q.Columns.Input), shortened(q.Columns.Output),
		input, c.answers(output.String()), formOf(r.vocab, tok != nil, r.assumed))
	if name := trace.UnitName(q.Unit); name != "" {
		d.about += "; time stamps in " + name
	}
	if o.Speed != 1 {
		d.about += fmt.Sprintf("; at %g times the speed", o.Speed)
	}
	if q.Empty > 0 {
		d.about += fmt.Sprintf("; %d rows without input or output tokens left out", q.Empty)
	}
	if q.Sorted {
		d.about += "; sorted by time"
	}
	return d, nil
}

// Next makes the next prompt.
func (d *Trace) Next() (Conversation, error) {
	at := time.Duration(0)
	if d.prompts.made < d.requests.Len() {
		at = d.requests.At(d.prompts.made).At
	}
	c, err := d.prompts.Next()
	c.At = at
	return c, err
}

// Times are the offsets from the start of the run at which the requests are to start.
func (d *Trace) Times() []time.Duration {
	times := make([]time.Duration, d.requests.Len())
	for i := range times {
		times[i] = d.requests.At(i).At
	}
	return times
}

// Len is how many prompts there are in all.
func (d *Trace) Len() int { return d.requests.Len() }

// Miss is by how many tokens the prompts made so far miss their lengths, all together.
func (d *Trace) Miss() int { return d.prompts.Miss() }

// Description is a line about the prompts, for the head of a report.
func (d *Trace) Description() string { return d.about }
