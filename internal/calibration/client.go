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

// prepare opens connections ahead if the load says so.
func (c *ownClient) prepare(ctx context.Context, base string) error {
	t, err := target.New(target.Options{BaseURL: base})
	if err != nil {
		return err
	}
	c.target, c.connections = t, conn.NewPool(t, c.load.Timestamps)
	c.connections.KeptOpen() // the server is local
	if !c.load.Preconnect {
		return nil
	}
	return c.connections.Open(ctx, c.load.ahead())
}

// ahead is the most connections that the load needs; 0 if that depends on the server's speed.
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
func (c *ownClient) run(ctx context.Context, _ string, start time.Time, t *Accumulator) error {
	l := &c.load
	o := loadgen.Defaults()
	o.Target, o.Connections, o.Model = c.target, conn.Pools{c.connections}, "metronome"
	o.Start, o.Schedule, o.ClosedLoop, o.Limit, o.Until = start, l.Arrivals(), l.Closed, l.Streams, l.Duration
	o.Timestamps, o.Drain = l.Timestamps, 0
	o.StallTimeout = max(o.StallTimeout, 10*l.ITL)
	c.view = live.NewView(start, l.plan(start))
	e, err := loadgen.New(o, event.NewStream(start, c.view, sink{t}))
	if err != nil {
		return err
	}
	watchers, stop := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer stop()
	watching.Go(func() { c.health(watchers, start) })
	if l.Watch != nil {
		snapshots := c.view.Publish(watchers, snapshotEvery)
		watching.Go(func() { l.Watch(watchers, snapshots) })
	}
	return e.Run(ctx, prompts(l.Requests, l.Chunks))
}

// snapshotEvery is the interval between snapshots, as for the dashboard.
const snapshotEvery = 500 * time.Millisecond

// judge adds the stamps and the verdict of the live view.
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

// prompts are minimal, at most so many, 0 for no end, each with its own id.
func prompts(most, chunks int) datasets.Flow {
	n := 0
	return datasets.Flow{About: "calibration", Len: most, Next: func() (datasets.Conversation, error) {
		if most > 0 && n == most {
			return datasets.Conversation{}, io.EOF
		}
		n++
		return datasets.Conversation{ID: "calibration-" + strconv.Itoa(n),
			Turns: []datasets.Turn{{Text: "tick", InputTokens: 1, MaxTokens: chunks}}}, nil
	}}
}

// Accumulator collects the observations of a client under measurement. Its methods may be called from any goroutine.
type Accumulator struct {
	open, most, chunks atomic.Int64

	mu      sync.Mutex // guards the fields below
	seen    []RequestSummary
	failed  int
	problem string // of the first failure
}

// RequestSummary is a successful request in compact form.
type RequestSummary struct {
	ID string
	// Sent is the time of the write of its first byte, from the start of the run.
	Sent time.Duration
	// Late as in metrics.Request.OwnLateness, Connect the time to open its connection, 0 if it was open.
	Late, Connect time.Duration
	// Chunks are the times of chunks with output, in microseconds after Sent.
	Chunks []int32
}

// Began counts a stream.
func (t *Accumulator) Began() {
	n := t.open.Add(1)
	for most := t.most.Load(); n > most && !t.most.CompareAndSwap(most, n); {
		most = t.most.Load()
	}
}

// Chunk counts a chunk with output. It allocates nothing.
func (t *Accumulator) Chunk() { t.chunks.Add(1) }

// Ended adds a successful stream.
func (t *Accumulator) Ended(s RequestSummary) {
	t.open.Add(-1)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen = append(t.seen, s)
}

// Failed adds a failed request; began reports whether its stream was counted.
func (t *Accumulator) Failed(began bool, why string) {
	if began {
		t.open.Add(-1)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed++; t.problem == "" {
		t.problem = why
	}
}

// Ends counts the requests that have ended so far; problem is that of the first failure.
func (t *Accumulator) Ends() (succeeded, failed int, problem string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.seen), t.failed, t.problem
}

// sink passes the events of a run to an accumulator.
type sink struct{ *Accumulator }

func (t sink) Take(e *event.Event) {
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

func (t sink) done(q *metrics.Request) {
	if q.Failure == metrics.Cancelled { // by the end of the load, which is no failure
		if q.Sent != metrics.Never {
			t.open.Add(-1)
		}
		return
	}
	if !q.OK() {
		t.Failed(q.Sent != metrics.Never, string(q.Failure)+": "+q.Error)
		return
	}
	s := RequestSummary{ID: q.ID, Sent: q.Sent, Late: q.OwnLateness(), Connect: q.Connect,
		Chunks: make([]int32, 0, len(q.Chunks))}
	for _, c := range q.Chunks {
		if c.Tokens > 0 {
			s.Chunks = append(s.Chunks, int32((c.At-q.Sent)/time.Microsecond))
		}
	}
	t.Ended(s)
}

// health sends the live view a sample of the process each second, as in a real run, until ctx ends.
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
		second, now := process.Sample(time.Since(start).Round(time.Microsecond)), c.connections.Stats()
		second.Sockets, second.Dialled, second.ClockStep = now.Open, now.Dialled-before.Dialled,
			now.ClockSteps > before.ClockSteps
		c.view.Take(&event.Event{Kind: event.Fact, Value: c.view.Counted(second)})
		before = now
	}
}
