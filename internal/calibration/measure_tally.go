package calibration

import (
	"sync"
	"sync/atomic"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

// Tally is told by a client under measurement what it sees. Its methods may be called from any goroutine.
type Tally struct {
	open, most, chunks atomic.Int64

	mu      sync.Mutex // guards everything below
	seen    []Seen
	failed  int
	problem string // of the first failure
}

// Seen is a request that succeeded, in compact form.
type Seen struct {
	ID string
	// Sent is when its first byte was written, from the start of the run.
	Sent time.Duration
	// Late as in metrics.Request.OwnLateness, Connect the time to open its connection, 0 if it was open.
	Late, Connect time.Duration
	// Chunks are the times of those with output, in microseconds after Sent.
	Chunks []int32
}

// Began counts a stream.
func (t *Tally) Began() {
	n := t.open.Add(1)
	for most := t.most.Load(); n > most && !t.most.CompareAndSwap(most, n); {
		most = t.most.Load()
	}
}

// Chunk counts a chunk with output. It allocates nothing.
func (t *Tally) Chunk() { t.chunks.Add(1) }

// Ended files a stream that succeeded.
func (t *Tally) Ended(s Seen) {
	t.open.Add(-1)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen = append(t.seen, s)
}

// Failed files a request that did not; began says whether its stream was counted.
func (t *Tally) Failed(began bool, why string) {
	if began {
		t.open.Add(-1)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed++; t.problem == "" {
		t.problem = why
	}
}

// Ends is how many requests ended so far.
func (t *Tally) Ends() (succeeded, failed int, problem string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.seen), t.failed, t.problem
}

// tallied is a tally as a sink of a run.
type tallied struct{ *Tally }

func (t tallied) Take(e *event.Event) {
	switch e.Kind {
	case event.Sent:
		t.Began()
	case event.Chunk:
		if e.Chunk.Tokens > 0 {
			t.Chunk()
		}
	case event.Done:
		t.done(e.Request)
	}
}

func (t tallied) done(q *metrics.Request) {
	if q.Failure == metrics.Cancelled { // by the end of the load: nobody's failure
		if q.Sent != metrics.Never {
			t.open.Add(-1)
		}
		return
	}
	if !q.OK() {
		t.Failed(q.Sent != metrics.Never, string(q.Failure)+": "+q.Error)
		return
	}
	s := Seen{ID: q.ID, Sent: q.Sent, Late: q.OwnLateness(), Connect: q.Connect, Chunks: make([]int32, 0, len(q.Chunks))}
	for _, c := range q.Chunks {
		if c.Tokens > 0 {
			s.Chunks = append(s.Chunks, int32((c.At-q.Sent)/time.Microsecond))
		}
	}
	t.Ended(s)
}
