// Package event is the vocabulary of a run. What happens in a run is an Event, and it is told once: the live view, the journal
// and the search are sinks of one stream, and the report is computed from the events that the journal gives back.
//
//	loadgen ──requests, chunks──▶ Stream ──▶ live.View       what is shown
//	watchers, control ──facts──▶    │  └───▶ journal.Writer ──Events──▶ report.Of, replay
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

// Kind says what an event is about.
type Kind uint8

const (
	// Due: a request was handed to the limiter. Sent: its first byte went out. Chunk: a chunk of its answer came. Done: it ended.
	Due Kind = iota
	Sent
	Chunk
	Done
	// Fact: something else happened, which the type of the value names:
	//
	//	metrics.Plan          what the run set out to do; the first event of a journal
	//	metrics.LogEntry      a line of the log, with the load or the objectives that were set
	//	metrics.Steering      the load in force from here on
	//	metrics.Phase         what the run does from here on
	//	metrics.Saving        where the result goes, and what is wrong with that
	//	metrics.Source        whether the server's counters, or the GPUs, can be read
	//	metrics.ClientSecond  what the client saw of itself
	//	metrics.ServerSecond  what the server said of itself
	//	metrics.GPUSecond     what the accelerators did
	//	metrics.Recount       a better count of an answer's tokens
	//	metrics.End           how the run ended; the last event of a journal
	//	Damage                lines of a journal that cannot be read
	Fact
	kinds
)

// Event is something that happened in a run.
type Event struct {
	// At is the offset from the start of the run.
	At   time.Duration
	Kind Kind
	// Request is whose event it is, nil for a fact. Until it is done it belongs to the goroutine that tells of it: sinks read
	// it while they take the event, and keep it only after Done.
	Request *metrics.Request
	// Chunk is the one that came, which is the last of the request's as well.
	Chunk metrics.Chunk
	// Value of a fact.
	Value any
}

// Damage says that lines of a journal were left out: how many, and why the first of them was.
type Damage struct {
	Lines int
	Err   error
}

// Add counts in lines that follow.
func (d *Damage) Add(more Damage) {
	if d.Lines == 0 {
		d.Err = more.Err
	}
	d.Lines += more.Lines
}

func (d Damage) String() string {
	if d.Lines > 1 {
		return fmt.Sprintf("%d damaged lines of the journal were left out, the first: %s", d.Lines, d.Err)
	}
	return fmt.Sprintf("a damaged line of the journal was left out: %s", d.Err)
}

// Sink hears of everything that happens in a run, from many goroutines at once. Take must not wait for anything slow, because the
// load waits for it, and must not tell the stream anything itself. The event is the caller's: a sink that keeps it keeps a copy.
type Sink interface{ Take(*Event) }

// Discard is a sink that does not listen.
var Discard Sink = NewStream(time.Time{})

// Events are those of a run in the order in which they were told. They can be ranged over again. An error is the last of them.
type Events = iter.Seq2[Event, error]

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

// Requests are those that are done, in the order in which they ended. Counts of their tokens that came later are not in them.
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

// Stream tells the sinks of one run what happens in it.
type Stream struct {
	start time.Time
	sinks [kinds][]Sink
	mu    sync.Mutex // held while a fact is told, so that all sinks hear facts in the same order
}

// NewStream returns the stream of a run whose offset 0 is start.
func NewStream(start time.Time, sinks ...Sink) *Stream {
	s := &Stream{start: start}
	for _, sink := range sinks {
		s.Add(sink)
	}
	return s
}

// Add gives the stream another sink, which hears of some kinds of events, or of all if none is named; chunks are many. It comes
// before anything is told from other goroutines.
func (s *Stream) Add(sink Sink, some ...Kind) {
	for k := range kinds {
		if len(some) == 0 || slices.Contains(some, k) {
			s.sinks[k] = append(s.sinks[k], sink)
		}
	}
}

// Take tells of a request. It is the hot path, and allocates nothing.
func (s *Stream) Take(e *Event) {
	for _, sink := range s.sinks[e.Kind] {
		sink.Take(e)
	}
}

// Tell tells a fact of this moment.
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
