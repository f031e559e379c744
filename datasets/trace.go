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
	Common
	columns, unit string
	speed         float64
	replay        *Replay // of all recordings, which has flags here
}

// TraceHeading is that of the flags of data sets with times.
const TraceHeading = "Data sets timed_trace, trace and agents"

func (k *traceKind) Define(group func(string) Flags) {
	f := group(TraceHeading)
	f.StringVar(&k.columns, "trace-columns", "",
		"trace: columns of the file, timestamp=NAME,input=NAME,output=NAME (default: found by well-known names)")
	f.StringVar(&k.unit, "trace-unit", "",
		"trace: unit of time stamps that are numbers: s, ms, us or ns (default: found)")
	f.Float64Var(&k.speed, "trace-speed", k.speed, "trace: how many times as fast as recorded, as 2 or 0.5")
	k.replay.define(f)
}

func (k traceKind) needs() Needs {
	return Needs{File: RequiredFile, Forms: AsText | AsTokenIDs, Ends: true, AllRows: true, FullLength: true,
		Timed: true, Aligned: true, OwnOutputLens: true}
}

func (k traceKind) options() (o trace.Options, err error) {
	o = trace.Options{From: k.Replay.From, To: k.Replay.To, Speed: k.speed * k.Replay.scale(), Most: max(0, k.Prompts)}
	if o.Unit, err = trace.ParseUnit(k.unit); err != nil {
		return o, fmt.Errorf("--trace-unit %w", err)
	}
	if k.Replay.share() < 1 {
		o.Most = 0 // of those that are sent
	}
	o.Columns, err = trace.ParseColumns(k.columns)
	return o, within("--trace-columns", err)
}

func (k traceKind) check() error {
	o, err := k.options()
	p := &problems{}
	p.between("number of prompts", k.Prompts, 0, math.MaxInt32)
	p.seed(k.Seed, math.MaxInt64)
	return errors.Join(err, p.of("trace"), inDataset("trace", o.Validate()))
}

func (k traceKind) open(ctx context.Context, t Tools) (Flow, error) {
	o, err := k.options()
	if err != nil {
		return Flow{}, err
	}
	requests, err := textfile.Read(k.Path, "a trace, in CSV or with an object on each line",
		func(r io.Reader) (*trace.Requests, error) {
			return trace.Read(ctx, r, o)
		})
	if err != nil {
		return Flow{}, inFile("trace", k.Path, err)
	}
	tok, vocab, err := k.maker(t)
	if err != nil {
		return Flow{}, err
	}
	f, err := newTrace(requests, o, k.Common, tok, vocab)
	if err != nil {
		return Flow{}, err
	}
	// the rest is in the times already
	rest := Replay{MaxGap: time.Duration(math.Ceil(float64(k.Replay.MaxGap) / o.Speed)), Sample: k.Replay.Sample}
	f, err = rest.replay(f, k.Seed, k.Prompts)
	return f, inDataset("trace", err)
}

// newTrace makes random prompts as long as recorded ones, at the times of these.
func newTrace(q *trace.Requests, o trace.Options, c Common, tok tokenizer.Tokenizer, vocab Vocabulary) (Flow, error) {
	c.Prompts = q.Len()
	pair := func(i int) lengths.Pair { return q.At(i).Pair }
	r := newRandom("trace", RandomOptions{Common: c, Batch: 1, Vocabulary: vocab}, tok)
	r.pair = pair
	if err := r.prepare(); err != nil {
		return Flow{}, err
	}
	f := Flow{Len: q.Len(), Miss: func() int { return r.miss }}
	input, output := lengths.Summarize(q.Len(), pair)
	f.About = fmt.Sprintf("trace: %d prompts in %s over %s (%s, %s, %s), %s input tokens%s, as %s", q.Len(), c.Path,
		q.At(q.Len()-1).At.Round(time.Millisecond), shortened(q.Columns.Timestamp), shortened(q.Columns.Input),
		shortened(q.Columns.Output),
		input, c.answers(output.String()), formOf(r.vocab, tok != nil, r.assumed))
	if name := trace.UnitName(q.Unit); name != "" {
		f.About += "; time stamps in " + name
	}
	if o.Speed != 1 {
		f.About += fmt.Sprintf("; at %g times the speed", o.Speed)
	}
	if q.Empty > 0 {
		f.About += fmt.Sprintf("; %d rows without input or output tokens left out", q.Empty)
	}
	if q.Sorted {
		f.About += "; sorted by time"
	}
	f.Times = func() []time.Duration {
		times := make([]time.Duration, q.Len())
		for i := range times {
			times[i] = q.At(i).At
		}
		return times
	}
	f.Next = func() (Conversation, error) {
		at := time.Duration(0)
		if r.made < q.Len() {
			at = q.At(r.made).At
		}
		c, err := r.next()
		c.At = at
		return c, err
	}
	return f, nil
}
