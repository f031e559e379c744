package calibration

import (
	"context"
	"io"
	"strconv"
	"sync"
	"time"

	"benchtop/datasets"
	"benchtop/loadgen"
	"benchtop/loadgen/target"
	"benchtop/metrics/event"
	"benchtop/metrics/live"
)

// ownClient is the client of a real run: the engine with a live view.
type ownClient struct {
	load        Load
	target      *target.Target
	connections *loadgen.Connections
	view        live.View
}

// prepare opens connections ahead, if asked to.
func (c *ownClient) prepare(ctx context.Context, base string) error {
	t, err := target.New(target.Options{BaseURL: base})
	if err != nil {
		return err
	}
	c.target, c.connections = t, loadgen.NewConnections(t, c.load.Timestamps)
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
	o.Timestamps, o.Pacer, o.Drain = l.Timestamps, l.Pacer, 0
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
	return e.Run(ctx, &turns{left: l.Requests, endless: l.Requests == 0, chunks: l.Chunks})
}

// snapshotEvery is how often whoever watches gets news, as on the dashboard.
const snapshotEvery = 500 * time.Millisecond

// judge fills in what the live view knows.
func (c *ownClient) judge(r *Result) {
	stamps := c.view.Stamps()
	if n := float64(stamps.Chunks); n > 0 {
		r.SharedShare, r.UnstampedShare = float64(stamps.Shared)/n, float64(stamps.Unstamped)/n
	}
	r.Verdict, r.Judged = c.view.Verdict(), true
}

// turns is the source: the shortest of prompts, each with an id of its own.
type turns struct {
	next, left, chunks int
	endless            bool
}

func (s *turns) Next() (datasets.Conversation, error) {
	if s.left == 0 && !s.endless {
		return datasets.Conversation{}, io.EOF
	}
	s.left--
	s.next++
	return datasets.Conversation{
		ID:    "calibration-" + strconv.Itoa(s.next),
		Turns: []datasets.Turn{{Text: "tick", InputTokens: 1, MaxTokens: s.chunks}},
	}, nil
}
