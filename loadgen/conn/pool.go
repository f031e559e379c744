// Package conn holds the connections of a run to its server: a pool that opens them ahead of need and decides which to
// use again, HTTP on one of them, and the times at which bytes arrived, by the kernel's stamps where it has them. It
// knows nothing of the content of requests.
package conn

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"time"

	"benchtop/loadgen/target"
)

// Pool has all connections of a run: idle ones for reuse, and all so that they can be cut. They may be opened before
// the run.
type Pool struct {
	target *target.Target
	stamps *stampState // nil: chunks are timed by their reads

	life    context.Context // ends when every connection is cut
	end     context.CancelFunc
	opening chan struct{} // holds a token unless a call of Open is at work

	mu      sync.Mutex // guards everything below
	clock   Clock
	idle    []*Conn // used before, the most recently used last
	habit   habit   // of the server, after an answer
	ahead   []*Conn // opened ahead and never used, the newest last
	open    map[*Conn]struct{}
	dialled int
	most    int // open at a time, since the last call of Peak
}

// Stats count connections. ClockSteps is the number of jumps of the wall clock against the monotonic one, around which
// the kernel's stamps are of no use.
type Stats struct{ Open, Dialled, ClockSteps int }

const (
	// idleLeast is shorter than any known keep-alive (gunicorn: 2 s): a server that closes a connection sooner after an
	// answer has another reason.
	idleLeast = time.Second
	// idleLimit is shorter than the keep-alive of known servers (uvicorn: 5 s), so that a connection is rarely reused
	// just when the server closes it.
	idleLimit = 3500 * time.Millisecond
	// aheadLimit is for connections that never carried a request. Keep-alive counts from the end of an answer, so here
	// only the wait for the first request matters: nginx, node and load balancers allow 60 s, uvicorn has no limit.
	aheadLimit = 30 * time.Second
	// dialsAtOnce is the number of concurrent dials ahead of need: enough to hide the round trips, few enough for any
	// server's queue of connections.
	dialsAtOnce = 64
)

// habit is the server's observed handling of a connection after an answer. Some servers (llama.cpp) announce keep-alive
// but close at once, and the close crosses the next request on its way: this request is lost and not sent again. So
// until the habit is known, a connection rests after its answer for as long as a close takes to arrive.
type habit int8

const (
	unknownHabit habit = iota
	keepsOpen          // a connection carried a second answer
	closesAtOnce       // a connection was closed within idleLeast of its answer
)

// NewPool opens nothing yet. timestamps is metrics.KernelStamps, metrics.UserStamps, or "" for the kernel's where this
// system has them.
func NewPool(t *target.Target, timestamps string) *Pool {
	p := &Pool{target: t, stamps: newStamping(timestamps), clock: Clock{time.Now()}, open: map[*Conn]struct{}{},
		opening: make(chan struct{}, 1)}
	p.life, p.end = context.WithCancel(context.Background())
	p.opening <- struct{}{}
	return p
}

// Close cuts every connection and refuses new ones.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
	p.stamps.close()
	for c := range p.open {
		_ = c.raw.Close()
	}
	clear(p.open)
	p.idle, p.ahead = nil, nil
}

// Stats counts the connections that are open now and those dialled so far.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Stats{Open: len(p.open), Dialled: p.dialled, ClockSteps: p.stamps.clockSteps()}
}

// Peak is the largest number of connections open at a time since its last call.
func (p *Pool) Peak() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	most := max(p.most, len(p.open))
	p.most = len(p.open)
	return most
}

// SetClock sets the clock of the run before any connection is taken.
func (p *Pool) SetClock(clock Clock) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clock = clock
}

// KeptOpen tells the pool that the server keeps connections open after an answer, so that none has to rest.
func (p *Pool) KeptOpen() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.habit = keepsOpen
}

// Take returns an idle connection, nil if there is none that is fresh and alive.
func (p *Pool) Take() *Conn {
	for {
		c, limit := p.pop()
		// alive makes a system call, so it is outside the lock.
		if c == nil || time.Since(c.since) < limit && alive(c) {
			return c
		}
		p.drop(c, true)
	}
}

// pop takes the most recently used connection off the lists, else an unused one, and returns its longest idle time.
// While the server's habit is unknown, it takes the connection that has rested longest, and none that still has to
// rest.
func (p *Pool) pop() (*Conn, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case len(p.idle) == 0:
	case p.habit != unknownHabit || !p.idle[0].pollable:
		return last(&p.idle), idleLimit
	case time.Since(p.idle[0].since) >= p.idle[0].rest():
		c := p.idle[0]
		p.idle = slices.Delete(p.idle, 0, 1)
		return c, idleLimit
	}
	c := last(&p.ahead)
	if c != nil {
		c.raw.setClock(p.clock) // the connection may be older than the run
	}
	return c, aheadLimit
}

// last takes the last connection off a list, nil if there is none.
func last(list *[]*Conn) *Conn {
	n := len(*list)
	if n == 0 {
		return nil
	}
	c := (*list)[n-1]
	*list = slices.Delete(*list, n-1, n)
	return c
}

// Dial opens a new connection.
func (p *Pool) Dial(ctx context.Context) (*Conn, error) {
	from := time.Now()
	raw, err := p.target.Dial(ctx)
	if err != nil {
		return nil, err
	}
	c := &Conn{raw: newTimedConn(raw, p.stamps), dial: time.Since(from)}
	_, c.pollable = raw.(syscall.Conn)
	// Close must reach a connection during its handshake, so it is registered before.
	p.mu.Lock()
	c.raw.setClock(p.clock)
	p.open[c] = struct{}{}
	p.dialled++
	p.most = max(p.most, len(p.open))
	err = p.closed()
	p.mu.Unlock()
	if err == nil {
		c.conn, err = p.target.Secure(ctx, c.raw)
	}
	if err != nil {
		p.drop(c, false)
		return nil, err
	}
	c.reader = bufio.NewReaderSize(c, headerBuffer)
	return c, nil
}

// closed is an error once the connections are cut.
func (p *Pool) closed() error {
	if p.life.Err() != nil {
		return net.ErrClosed
	}
	return nil
}

// Answered notes that a connection receives an answer.
func (p *Pool) Answered(c *Conn) {
	if c.used {
		p.KeptOpen()
	}
}

// Release takes a connection back after an answer. err is the error of the last read, io.EOF for a whole answer.
func (p *Pool) Release(c *Conn, err error) {
	reusable := err == io.EOF && c.failure == nil && !c.Answer.ConnectionClose() && c.reader.Buffered() == 0 &&
		c.Answer.StatusCode() != http.StatusSwitchingProtocols // it speaks something else from now on
	_ = c.Answer.CloseBodyStream()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !reusable || p.closed() != nil || p.habit == closesAtOnce {
		p.discard(c)
		return
	}
	// The connections that have idled longest are at the front.
	for len(p.idle) > 0 && time.Since(p.idle[0].since) >= idleLimit {
		p.discard(p.idle[0])
		p.idle = slices.Delete(p.idle, 0, 1)
	}
	c.used, c.since = true, time.Now()
	p.idle = append(p.idle, c)
}

// Failed drops a connection without an answer.
func (p *Pool) Failed(c *Conn, err error) { p.drop(c, errors.Is(err, ErrUnanswered)) }

// drop closes a connection. If the server may have closed it, it updates the habit.
func (p *Pool) drop(c *Conn, byServer bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if byServer && p.habit == unknownHabit && c.used && c.pollable && time.Since(c.since) < idleLeast {
		p.habit = closesAtOnce
		for _, other := range p.idle {
			p.discard(other)
		}
		p.idle = nil
	}
	p.discard(c)
}

func (p *Pool) discard(c *Conn) {
	delete(p.open, c)
	// A TLS close would wait for the peer.
	_ = c.raw.Close()
}

// Open opens connections ahead of need, TLS included, until n are open, connections in use included. It may be called
// before and during a run, and again with a higher n. It ends early with ctx or Close, and when the server accepts no
// more; the error says how many are open and why the first dial failed. Connections opened so far stay in the pool.
func (p *Pool) Open(ctx context.Context, n int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := p.closed(); err != nil {
		cancel(err)
	}
	defer context.AfterFunc(p.life, func() { cancel(net.ErrClosed) })()
	select {
	case <-p.opening:
		defer func() { p.opening <- struct{}{} }()
	case <-ctx.Done():
	}
	p.clean()
	missing := make(chan struct{}, max(0, n-p.Stats().Open))
	for range cap(missing) {
		missing <- struct{}{}
	}
	failures := make(chan error, dialsAtOnce)
	var dialers sync.WaitGroup
	for range min(cap(missing), dialsAtOnce) {
		dialers.Go(func() {
			if err := p.dialMissing(ctx, missing); err != nil && ctx.Err() == nil {
				failures <- err
			}
		})
	}
	dialers.Wait()
	if len(missing) == 0 {
		return nil
	}
	err := context.Cause(ctx)
	select {
	case err = <-failures:
	default:
	}
	return fmt.Errorf("%d of %d connections are open: %w", p.Stats().Open, n, err)
}

// dialMissing opens connections until none is missing. A dialer gives up at its first failure and leaves the connection
// to the other dialers, so that a single failure matters little and a server that is down gets few dials.
func (p *Pool) dialMissing(ctx context.Context, missing chan struct{}) error {
	for ctx.Err() == nil {
		select {
		case <-missing:
		default:
			return nil
		}
		c, err := p.Dial(ctx)
		if err != nil {
			missing <- struct{}{}
			return err
		}
		p.add(c)
	}
	return nil
}

// add files a connection that was opened ahead of need.
func (p *Pool) add(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed() != nil {
		p.discard(c)
		return
	}
	c.since = time.Now()
	p.ahead = append(p.ahead, c)
}

// clean drops dead and expired connections, so that they are not counted. Since alive makes a system call, all are off
// the lists meanwhile: a request opens its own connection during this time.
func (p *Pool) clean() {
	p.mu.Lock()
	idle, ahead := p.idle, p.ahead
	p.idle, p.ahead = nil, nil
	p.mu.Unlock()
	idle, ahead = p.prune(idle, idleLimit), p.prune(ahead, aheadLimit)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed() == nil {
		p.idle, p.ahead = append(idle, p.idle...), append(ahead, p.ahead...)
	}
}

// prune drops connections that are dead, or idle for longer than the limit.
func (p *Pool) prune(list []*Conn, limit time.Duration) []*Conn {
	return slices.DeleteFunc(list, func(c *Conn) bool {
		useless := time.Since(c.since) >= limit || !alive(c)
		if useless {
			p.drop(c, false)
		}
		return useless
	})
}
