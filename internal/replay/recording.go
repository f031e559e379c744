package replay

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/report"
)

// endless is after everything.
const endless = time.Duration(math.MaxInt64)

// longestRun bounds the length, because a journal may hold any number; the windows of a live view go as far.
const longestRun = 7 * 24 * time.Hour

// recording is a run as it lies in memory. It does not change once it is made.
type recording struct {
	plan     metrics.Plan
	facts    []event.Event          // in the order in which they were told
	client   []metrics.ClientSecond // of the facts
	requests []metrics.Request      // without their chunks
	chunks   []chunkBytes           // of the same requests
	moments  []moment               // in order of time
	length   time.Duration
	count    int   // of chunks
	broken   error // why the events end early, nil if they do not
}

// moment is when something happens, but for chunks.
type moment struct {
	at    time.Duration
	index int32 // of the thing, in its list
	kind  kind
}

type kind uint8

const (
	isDue kind = iota
	isSent
	isDone
	isFact
)

// record reads a run. If the events end with an error, the run is what came before it, unless no request did.
func record(events event.Events) (*recording, error) {
	var kept facts
	run, requests, err := report.Gather(kept.of(events))
	if err != nil {
		return nil, err
	}
	r := &recording{plan: run.Plan, client: run.Client}
	latest := longestRun
	if run.Ended != metrics.Never {
		latest = min(max(0, run.Ended), longestRun) + time.Hour
	}
	var far event.Damage
	for q, err := range requests {
		switch {
		case err != nil && len(r.requests) == 0:
			return nil, err
		case err != nil: // as in a report, the run is what could be read
			r.broken = err
		case within(&q, latest):
			r.add(q)
		default:
			far.Add(event.Damage{Lines: 1, Err: errFarOff})
		}
	}
	kept.damage.Add(far)
	r.facts = kept.all(max(0, run.Ended))
	for i, e := range r.facts {
		r.moments = append(r.moments, moment{e.At, int32(i), isFact})
	}
	slices.SortStableFunc(r.moments, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	r.length = run.Ended
	if r.length == metrics.Never {
		for i := range r.requests {
			r.length = max(r.length, r.requests[i].Done)
		}
	}
	r.length = min(max(0, r.length), longestRun)
	return r, nil
}

var errFarOff = errors.New("the times of a request are far beyond the end of the run")

// facts are those of a run, but for two that may come in any number: damaged lines are counted, and recounts are in the
// requests.
type facts struct {
	list   []event.Event
	damage event.Damage
}

// of keeps the facts among events that are ranged over.
func (f *facts) of(events event.Events) event.Events {
	return func(yield func(event.Event, error) bool) {
		*f = facts{}
		for e, err := range events {
			f.keep(e)
			if !yield(e, err) {
				return
			}
		}
	}
}

func (f *facts) keep(e event.Event) {
	switch x := e.Value.(type) {
	case nil, metrics.Recount:
	case event.Damage:
		f.damage.Add(x)
	default:
		f.list = append(f.list, e)
	}
}

// all are the facts, the damage at a moment among them.
func (f *facts) all(at time.Duration) []event.Event {
	if f.damage.Lines == 0 {
		return f.list
	}
	return append(f.list, event.Event{At: at, Kind: event.Fact, Value: f.damage})
}

// within says that nothing of q came later. A damaged journal may hold any number, and a time line that goes so far
// costs gigabytes.
func within(q *metrics.Request, latest time.Duration) bool {
	last := max(q.Due, q.Sent, q.FirstChunk, q.FirstToken, q.FirstAnswer, q.LastChunk, q.Done)
	for i := range q.Chunks {
		last = max(last, q.Chunks[i].At)
	}
	return last <= latest
}

// add files a request. In a damaged journal its moments may stand in any order; here they come one after the other.
func (r *recording) add(q metrics.Request) {
	i := int32(len(r.requests))
	r.chunks = append(r.chunks, pack(q.Chunks))
	r.count += len(q.Chunks)
	q.Chunks, q.Piece = nil, nil
	r.requests = append(r.requests, q)
	last := time.Duration(0)
	for k, at := range []time.Duration{isDue: q.Due, isSent: q.Sent, isDone: q.Done} {
		if at != metrics.Never {
			last = max(last, at)
			r.moments = append(r.moments, moment{last, i, kind(k)})
		}
	}
}

// all yields the events as they were read, until ctx ends.
func (r *recording) all(ctx context.Context) event.Events {
	return func(yield func(event.Event, error) bool) {
		for _, e := range r.facts {
			if !yield(e, nil) {
				return
			}
		}
		for i := range r.requests {
			if err := ctx.Err(); err != nil {
				yield(event.Event{}, err)
				return
			}
			q := r.requests[i]
			q.Chunks = r.chunks[i].unpack()
			if !yield(event.Event{At: q.Done, Kind: event.Done, Request: &q}, nil) {
				return
			}
		}
		if r.broken != nil {
			yield(event.Event{}, r.broken)
		}
	}
}

// result is the report, computed in the background.
type result struct {
	ready chan struct{} // closed when the next is set, or ctx has ended
	value *metrics.Report
}

func (r *recording) summarize(ctx context.Context) *result {
	out := &result{ready: make(chan struct{})}
	go func() {
		defer close(out.ready)
		if v, err := report.Of(r.all(ctx)); errors.Is(err, r.broken) { // else ctx has ended
			out.value = &v
		}
	}()
	return out
}

// now is the report if it is computed, else nil.
func (r *result) now() *metrics.Report {
	select {
	case <-r.ready:
		return r.value
	default:
		return nil
	}
}

// chunkBytes are the chunks of a request in about three bytes each, where they take sixteen in the open. First their
// number and the unit of time, 0 for microseconds and 1 for nanoseconds; then for each chunk how much later it came
// than the one before, shifted by one. The lowest bit is set where it is not one token of the visible answer; what it
// is follows: tokens, shifted by one, and a bit for the answer.
type chunkBytes []byte

// furthest bounds times, because a journal may hold any number.
const furthest = 1 << 60

func pack(chunks []metrics.Chunk) chunkBytes {
	if len(chunks) == 0 {
		return nil
	}
	unit, name := time.Microsecond, byte(0)
	for i := range chunks {
		if chunks[i].At%time.Microsecond != 0 {
			unit, name = time.Nanosecond, 1
		}
	}
	out := binary.AppendUvarint(make(chunkBytes, 0, 4+4*len(chunks)), uint64(len(chunks)))
	out = append(out, name)
	last := time.Duration(0)
	for _, c := range chunks {
		at := min(max(c.At, -furthest), furthest) / unit
		later := int64(at-last) << 1
		last = at
		if c.Tokens == 1 && c.Answer {
			out = binary.AppendVarint(out, later)
			continue
		}
		out = binary.AppendVarint(out, later|1)
		what := int64(c.Tokens) << 1
		if c.Answer {
			what |= 1
		}
		out = binary.AppendVarint(out, what)
	}
	return append(chunkBytes(nil), out...) // as long as it has to be
}

// unpack returns the chunks. They are the caller's.
func (p chunkBytes) unpack() []metrics.Chunk {
	if len(p) == 0 {
		return nil
	}
	count, n := binary.Uvarint(p)
	unit := time.Microsecond
	if p[n] == 1 {
		unit = time.Nanosecond
	}
	out := make([]metrics.Chunk, 0, count)
	last := int64(0)
	for p = p[n+1:]; len(p) > 0; {
		v, n := binary.Varint(p)
		p = p[n:]
		last += v >> 1
		c := metrics.Chunk{At: time.Duration(last) * unit, Tokens: 1, Answer: true}
		if v&1 != 0 {
			what, n := binary.Varint(p)
			p = p[n:]
			c.Tokens, c.Answer = int32(what>>1), what&1 != 0
		}
		out = append(out, c)
	}
	return out
}
