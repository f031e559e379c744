package fleet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"benchtop/export/journal"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// follower makes events of the run of what a machine tells of its part: of its feed while requests are in flight, and
// of its journal when they have ended. Each event comes once, and a request that the feed lacks comes whole when it
// ends.
type follower struct {
	mu      sync.Mutex // guards all
	part    int
	stream  *event.Stream
	merge   *event.Merge
	decoder journal.Decoder
	planned bool // the plan was read
	flights map[int]*flight
	// ended are the requests that ended since the last two notices: those may still have records of them.
	ended [2]map[int]bool
	end   *metrics.End // nil before
	state state
}

// flight is a request that has not ended.
type flight struct {
	q    *metrics.Request
	sent bool
	gone bool // the feed lacks some of its chunks
}

func newFollower(part int, stream *event.Stream, merge *event.Merge) *follower {
	return &follower{part: part, stream: stream, merge: merge, flights: map[int]*flight{},
		ended: [2]map[int]bool{{}, {}}}
}

// feed takes the records of requests in flight.
func (f *follower) feed(b []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	records(b, func(r record) {
		switch r.kind {
		case event.Chunk:
			f.chunk(&r)
			return
		case event.Fact:
			_ = json.Unmarshal(r.line, &f.state) // another version is refused
			return
		}
		e, err := f.decoder.Event(r.line)
		if q := e.Request; err == nil && q != nil && !f.ended[0][q.Index] && !f.ended[1][q.Index] {
			f.begin(q, r.kind == event.Sent)
		}
	})
	clear(f.ended[1])
	f.ended[0], f.ended[1] = f.ended[1], f.ended[0]
}

// begin takes a request that is due, or sent.
func (f *follower) begin(q *metrics.Request, sent bool) {
	x := f.flights[q.Index]
	if x == nil {
		x = &flight{q: q}
		f.flights[q.Index] = x
		f.stream.Take(&event.Event{At: q.Due, Kind: event.Due, Request: q})
	}
	if sent && !x.sent {
		x.send(q)
		f.stream.Take(&event.Event{At: q.Sent, Kind: event.Sent, Request: x.q})
	}
}

// send takes over what is known of a request once it is sent. The view reads the rest of it at any time.
func (x *flight) send(q *metrics.Request) {
	to := x.q
	to.Admitted, to.Sent, to.Encode, to.Connect, to.Server = q.Admitted, q.Sent, q.Encode, q.Connect, q.Server
	to.InputTokens, to.DatasetTokens, to.Inputs = q.InputTokens, q.DatasetTokens, q.Inputs
	to.IdealTokens, to.IdealKnown = q.IdealTokens, q.IdealKnown
	x.sent = true
}

// chunk takes a chunk, unless one before it is missing.
func (f *follower) chunk(r *record) {
	x := f.flights[r.index]
	if x == nil {
		return
	}
	q := x.q
	if x.gone = x.gone || !x.sent || r.n != len(q.Chunks); x.gone {
		return
	}
	q.Add(r.chunk)
	f.stream.Take(&event.Event{At: r.chunk.At, Kind: event.Chunk, Request: q, Chunk: r.chunk})
}

// lines takes whole lines of the journal, the first of which is the plan.
func (f *follower) lines(b []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for line := range bytes.Lines(b) {
		if !f.planned {
			f.planned = true
			if _, err := f.decoder.Plan(line); err != nil {
				return err
			}
			continue
		}
		e, err := f.decoder.Event(line)
		switch {
		case err != nil:
			f.stream.File(&event.Event{Kind: event.Fact, Value: event.Damage{Lines: 1,
				Err: fmt.Errorf("part %d: %w", f.part, err)}})
		case e.Kind == event.Done:
			f.done(e.Request)
		default:
			f.fact(&e)
		}
	}
	return nil
}

// done takes a request that has ended, with what the feed lacked of it.
func (f *follower) done(q *metrics.Request) {
	first := *q
	first.Chunks = nil
	for _, at := range []*time.Duration{&first.FirstChunk, &first.FirstToken, &first.FirstAnswer, &first.LastChunk,
		&first.Done} {
		*at = metrics.Never
	}
	first.Failure, first.OutputTokens, first.CountedChunks = "", 0, 0
	f.begin(&first, q.Sent != metrics.Never)
	x := f.flights[q.Index]
	delete(f.flights, q.Index)
	f.ended[0][q.Index] = true
	for i := len(x.q.Chunks); i < len(q.Chunks); i++ {
		x.q.Add(q.Chunks[i])
		x.q.CountedChunks = min(i+1, q.CountedChunks)
		f.stream.Take(&event.Event{At: q.Chunks[i].At, Kind: event.Chunk, Request: x.q, Chunk: q.Chunks[i]})
	}
	final := *x.q
	final.End(*q)
	f.stream.Take(&event.Event{At: q.Done, Kind: event.Done, Request: &final})
}

// drop cancels the requests in flight of a machine of which nothing more comes.
func (f *follower) drop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range f.flights {
		x.q.Failure, x.q.Done = metrics.Cancelled, max(x.q.Due, x.q.Sent, x.q.LastChunk)
		f.stream.Take(&event.Event{At: x.q.Done, Kind: event.Done, Request: x.q})
	}
	clear(f.flights)
}

// fact takes what concerns this machine: what concerns the run is told by the one that leads it.
func (f *follower) fact(e *event.Event) {
	switch x := e.Value.(type) {
	case metrics.End:
		f.end = &x
	case metrics.LogEntry:
		if x.Level == metrics.Info {
			return
		}
	case metrics.Worker, metrics.Saving: // the offset of its clock is known here; so is the place of the result
		return
	}
	if f.merge.Take(f.part, e) {
		f.stream.File(e)
	}
}
