package trace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"time"

	"benchtop/datasets/lengths"
	"benchtop/datasets/textfile"
)

// Longest is how long a run may take, and the most that lies between a request and the first one.
const Longest = 366 * 24 * time.Hour

// Options say which requests of a trace are wanted, and when they start.
type Options struct {
	Columns  Columns       // those without a name are found
	Unit     float64       // seconds in one unit of the time stamps; 0 finds it
	From, To time.Duration // of the time since the first row; To is 0 for all the rest
	Speed    float64       // how many times as fast as recorded
	Most     int           // requests at most, 0 for all
}

// Validate reports every problem with the options.
func (o Options) Validate() error {
	var problems []error
	if !(o.Speed > 0) || math.IsInf(o.Speed, 0) {
		problems = append(problems, fmt.Errorf("the speed %v must be above 0", o.Speed))
	}
	if o.From < 0 || o.To < 0 || o.To > 0 && o.From >= o.To {
		problems = append(problems, fmt.Errorf("the part of the trace from %v to %v is empty", o.From, o.To))
	}
	return errors.Join(problems...)
}

// Request is a recorded request: when it starts, and its lengths.
type Request struct {
	At time.Duration // from the start of the run, never less than that of the one before
	lengths.Pair
}

// Requests are those of a trace, in the order of their times.
type Requests struct {
	Columns Columns
	Unit    float64 // seconds in one unit of the time stamps; 0 of dates
	Empty   int     // rows that are left out, for want of input or output tokens
	Sorted  bool    // the rows were out of order

	textfile.Blocks[Request]
	last time.Duration // of the rows read, wanted or not
}

// maxRequests bounds the requests kept, and with them memory, at 1 GiB.
const maxRequests = 1 << 26

// Swap and Less are for sort.Stable.
func (q *Requests) Swap(i, j int)      { *q.At(i), *q.At(j) = *q.At(j), *q.At(i) }
func (q *Requests) Less(i, j int) bool { return q.At(i).At < q.At(j).At }

// Read reads a trace: CSV with a header, or an object on each line. The trace starts with the first request, or where
// o.From says. Rows that are out of order are put in that of their times.
func Read(ctx context.Context, r io.Reader, o Options) (*Requests, error) {
	t, err := newRows(r)
	if err != nil {
		return nil, err
	}
	q := &Requests{}
	if q.Columns, err = o.Columns.in(t.columns); err != nil {
		return nil, err
	}
	t.pick(q.Columns.Timestamp, q.Columns.Input, q.Columns.Output)
	clock := Clock{Unit: o.Unit, Milliseconds: q.Columns.Milliseconds(t.columns)}
	read, err := q.read(ctx, t, &clock, o)
	if err != nil {
		return nil, err
	}
	switch {
	case read == 0:
		return nil, fmt.Errorf("the file has no rows; %s", forms)
	case q.Len() == 0 && q.Empty > 0:
		return nil, fmt.Errorf("none of the requests has both input and output tokens; %d were read", q.Empty)
	case q.Len() == 0:
		return nil, fmt.Errorf("no request lies in the part of the trace that was asked for; the last of %d is %s "+
			"after the first", read, q.last)
	}
	if !clock.Dates() {
		q.Unit = clock.Unit
	}
	if q.Sorted {
		sort.Stable(q)
	}
	return q, q.start(o)
}

// read keeps the requests that are wanted, and returns how many rows it has read.
func (q *Requests) read(ctx context.Context, t *rows, clock *Clock, o Options) (n int, err error) {
	for ; o.Most == 0 || q.Len() < o.Most; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return n, ctx.Err()
		}
		values, line, err := t.next()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if err := q.take(values, clock, o); err != nil {
			return n, textfile.AtLine(line, err)
		}
		if q.Len() > maxRequests {
			return n, textfile.AtLine(line, fmt.Errorf("more than %d requests; take a part of them", maxRequests))
		}
	}
	return n, nil
}

// take keeps the request of a row if it is wanted.
func (q *Requests) take(values [][]byte, clock *Clock, o Options) error {
	at, err := clock.At(values[0])
	if err == nil && (at > Longest || at < -Longest) {
		err = fmt.Errorf("%s is %s from the first one, more than a year; what is the unit of the time stamps?",
			textfile.Value(values[0]), at)
	}
	if err != nil {
		return inColumn(q.Columns.Timestamp, err)
	}
	q.last = max(q.last, at)
	if at < o.From && o.From > 0 || at >= o.To && o.To > 0 {
		return nil
	}
	input, err := Length(values[1], 0)
	if err != nil {
		return inColumn(q.Columns.Input, err)
	}
	output, err := Length(values[2], 0)
	if err != nil {
		return inColumn(q.Columns.Output, err)
	}
	if input == 0 || output == 0 {
		q.Empty++
		return nil
	}
	q.Sorted = q.Sorted || q.Len() > 0 && at < q.At(q.Len()-1).At
	q.Add(Request{at, lengths.Pair{Input: int32(input), Output: int32(output)}})
	return nil
}

func inColumn(name string, err error) error {
	return fmt.Errorf("column %s: %w", textfile.Quote(name), err)
}

// Milliseconds reports whether these are the columns of Mooncake's traces, whose time stamps are milliseconds. Those of
// Bailian's have the same names, beside others, and are seconds.
func (c Columns) Milliseconds(there []string) bool {
	return c.Timestamp == "timestamp" && c.Input == "input_length" && c.Output == "output_length" &&
		!slices.Contains(there, "chat_id")
}

// start turns offsets from the first row into those from the start of the run.
func (q *Requests) start(o Options) error {
	origin := o.From
	if origin == 0 {
		origin = q.At(0).At
	}
	if last := float64(q.At(q.Len()-1).At-origin) / o.Speed; last > float64(Longest) {
		return fmt.Errorf("at a speed of %v the trace would go on for more than a year", o.Speed)
	}
	for i := range q.Len() {
		r := q.At(i)
		r.At = time.Duration(math.Round(float64(r.At-origin) / o.Speed))
	}
	return nil
}
