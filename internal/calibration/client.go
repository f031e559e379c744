package calibration

import (
	"context"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"benchtop/datasets"
	"benchtop/internal/telemetry"
	"benchtop/loadgen"
	"benchtop/loadgen/conn"
	"benchtop/loadgen/target"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/live"
)

// ownClient is the client of a real run: the engine with a live view.
type ownClient struct {
	load        Load
	target      *target.Target
	connections *conn.Pool
	view        *live.View
}

// prepare opens connections ahead, if asked to.
func (c *ownClient) prepare(ctx context.Context, base string) error {
	t, err := target.New(target.Options{BaseURL: base})
	if err != nil {
		return err
	}
	c.target, c.connections = t, conn.NewPool(t, c.load.Timestamps)
	c.connections.KeptOpen() // it is our own server
	if !c.load.Preconnect {
		return nil
	}
	return c.connections.Open(ctx, c.load.ahead())
}

// ahead is how many connections the load needs at most; 0 if only the server's speed tells.
func (l *Load) ahead() int {
	switch {
	case l.Streams == 0:
		return l.Requests
	case l.Requests == 0:
		return l.Streams
	}
	return min(l.Streams, l.Requests)
}

// run is a Client.
func (c *ownClient) run(ctx context.Context, _ string, start time.Time, t *Tally) error {
	l := &c.load
	o := loadgen.Defaults()
	o.Target, o.Connections, o.Model = c.target, c.connections, "metronome"
	o.Start, o.Schedule, o.ClosedLoop, o.Limit, o.Until = start, l.Arrivals(), l.Closed, l.Streams, l.Duration
	o.Timestamps, o.Drain = l.Timestamps, 0
	o.StallTimeout = max(o.StallTimeout, 10*l.ITL)
	c.view = live.NewView(start, l.plan(start))
	e, err := loadgen.New(o, event.NewStream(start, c.view, tallied{t}))
	if err != nil {
		return err
	}
	beside, stop := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer stop()
	watching.Go(func() { c.health(beside, start) })
	if l.Watch != nil {
		snapshots := c.view.Publish(beside, snapshotEvery)
		watching.Go(func() { l.Watch(beside, snapshots) })
	}
	return e.Run(ctx, &turns{most: l.Requests, chunks: l.Chunks})
}

// snapshotEvery is how often whoever watches gets news, as on the dashboard.
const snapshotEvery = 500 * time.Millisecond

// judge fills in what the live view knows.
func (c *ownClient) judge(r *Result) {
	stamps := c.view.Stamps()
	if n := float64(stamps.Chunks); n > 0 {
		r.SharedShare, r.UnstampedShare = float64(stamps.Shared)/n, float64(stamps.Unstamped)/n
	}
	r.Verdict, r.Why = OK, []string{}
	if v := c.view.Verdict(); v.Limited() {
		r.Verdict, r.Why = Limited, v.Why
	}
}

// turns is the source: the shortest of prompts, each with an id of its own.
type turns struct {
	sent, most int // most is 0 for no end
	chunks     int
}

func (s *turns) Next() (datasets.Conversation, error) {
	if s.most > 0 && s.sent == s.most {
		return datasets.Conversation{}, io.EOF
	}
	s.sent++
	return datasets.Conversation{
		ID:    "calibration-" + strconv.Itoa(s.sent),
		Turns: []datasets.Turn{{Text: "tick", InputTokens: 1, MaxTokens: s.chunks}},
	}, nil
}

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

// health tells the live view once a second how the process is doing, as in a real run, until ctx ends.
func (c *ownClient) health(ctx context.Context, start time.Time) {
	process := telemetry.WatchProcess()
	defer process.Close()
	before := c.connections.Stats()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		second, now := process.Sample().Second(time.Since(start).Round(time.Microsecond)), c.connections.Stats()
		second.Sockets, second.Dialled, second.ClockStep = now.Open, now.Dialled-before.Dialled, now.ClockSteps > before.ClockSteps
		c.view.Take(&event.Event{Kind: event.Fact, Value: c.view.Counted(second)})
		before = now
	}
}
