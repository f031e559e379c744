// Package event is the vocabulary of a run. Each event of a run is emitted once: the live view, the journal and the
// search are sinks of one stream. The report is that of the events of the journal, and most of it is summed up beside.
//
//	loadgen ──requests, chunks──▶ Stream ──▶ live.View       snapshots
//	watchers, control ──facts──▶    │  ├───▶ journal.Writer ──Source──▶ report.From, replay
//	                                │  └───▶ report.Fold
//	                                └──────▶ control.Trial, …
package event

import (
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"benchtop/metrics"
)

// Kind is the subject of an event.
type Kind uint8

const (
	// Due: a request was handed to the limiter. Sent: its first byte went out. Chunk: a chunk of its answer came. Done:
	// it ended.
	Due Kind = iota
	Sent
	Chunk
	Done
	// Fact: anything else, by the type of the value:
	//
	//	metrics.Plan          the plan of the run; the first event of a journal
	//	metrics.LogEntry      a line of the log, with the load or the objectives that were set
	//	metrics.Steering      the load in force from here on
	//	metrics.Phase         the phase of the run from here on
	//	metrics.Saving        the place of the result, and its problem
	//	metrics.Source        whether the server's counters, or the GPUs, can be read
	//	metrics.ClientSecond  a sample of the client
	//	metrics.Worker        a machine of a run of several
	//	metrics.ServerSecond  a sample of the server
	//	metrics.GPUSecond     a sample of the accelerators
	//	metrics.AnswerCheck   a known prompt that was sent again, and its answer
	//	metrics.Recount       a better count of an answer's tokens
	//	metrics.End           the end of the run; the last event of a journal
	//	Damage                lines of a journal that cannot be read
	Fact
	kinds
)

// Event is something that happened in a run.
type Event struct {
	// At is the offset from the start of the run.
	At   time.Duration
	Kind Kind
	// Request is the subject, nil for a fact. Until it is done it belongs to the goroutine that emits the event: sinks
	// read it while they take the event, and keep it only after Done.
	Request *metrics.Request
	// Chunk is the last chunk of the request.
	Chunk metrics.Chunk
	// Value of a fact.
	Value any
}

// Damage counts the lines of a journal that were left out, with the error of the first.
type Damage struct {
	Lines int
	Err   error
}

// Add counts further lines.
func (d *Damage) Add(more Damage) {
	if d.Lines == 0 {
		d.Err = more.Err
	}
	d.Lines += more.Lines
}

func (d Damage) String() string {
	if d.Lines > 1 {
		return fmt.Sprintf("%d damaged journal lines skipped, the first: %s", d.Lines, d.Err)
	}
	return fmt.Sprintf("damaged journal line skipped: %s", d.Err)
}

// Sink takes the events of a run, from many goroutines at once. Take must not block, because the load waits for it, and
// must not emit events to the stream. The event belongs to the caller: a sink that keeps it keeps a copy.
type Sink interface{ Take(*Event) }

// Discard is a sink that drops all events.
var Discard Sink = NewStream(time.Time{})

// Events are the events of a run in the order of their emission. They can be ranged over again. An error is the last of
// them.
type Events = iter.Seq2[Event, error]

// Pick says which requests of a run are wanted, so that the others are not read in full. The zero value wants all.
type Pick struct {
	// Only reports whether the request with an index is wanted; nil for all.
	Only func(index int) bool
	// Plain: they are wanted without their chunks.
	Plain bool
}

// Source gives the events of a run, of which some requests are picked. It may give more.
type Source func(Pick) Events

// Followed are events and then some facts, unless the events end with an error.
func Followed(events Events, facts ...any) Events {
	return func(yield func(Event, error) bool) {
		for e, err := range events {
			if !yield(e, err) || err != nil {
				return
			}
		}
		for _, f := range facts {
			if !yield(Event{Kind: Fact, Value: f}, nil) {
				return
			}
		}
	}
}

// Requests are the finished requests in the order of their ends, without later counts of their tokens.
func Requests(events Events) iter.Seq2[metrics.Request, error] {
	return func(yield func(metrics.Request, error) bool) {
		for e, err := range events {
			var q metrics.Request
			if err == nil && e.Kind == Done {
				q = *e.Request
			}
			if (err != nil || e.Kind == Done) && !yield(q, err) {
				return
			}
		}
	}
}

// Stream passes the events of one run to its sinks.
type Stream struct {
	start time.Time
	sinks [kinds][]Sink
	mu    sync.Mutex // held while a fact is emitted, so that all sinks take facts in the same order
}

// NewStream returns the stream of a run whose offset 0 is start.
func NewStream(start time.Time, sinks ...Sink) *Stream {
	s := &Stream{start: start}
	for _, sink := range sinks {
		s.Add(sink)
	}
	return s
}

// Add adds a sink for some kinds of events, or for all if none is named; chunks are many. It must come before events of
// other goroutines.
func (s *Stream) Add(sink Sink, some ...Kind) {
	for k := range kinds {
		if len(some) == 0 || slices.Contains(some, k) {
			s.sinks[k] = append(s.sinks[k], sink)
		}
	}
}

// Take passes the event of a request on. It is the hot path and allocates nothing.
func (s *Stream) Take(e *Event) {
	for _, sink := range s.sinks[e.Kind] {
		sink.Take(e)
	}
}

// File emits a fact of its own moment.
func (s *Stream) File(e *Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Take(e)
}

// Tell emits a fact of this moment.
func (s *Stream) Tell(fact any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := time.Since(s.start).Round(time.Microsecond)
	if e, ok := fact.(metrics.LogEntry); ok {
		e.At = at
		fact = e
	}
	s.Take(&Event{At: at, Kind: Fact, Value: fact})
}
