package loadgen

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

// dialsAtOnce bounds how many connections are being opened ahead at a time: enough to hide the round trips, few enough
// for any server's queue of connections.
const dialsAtOnce = 64

// Open opens connections ahead of need, TLS included, until n are open, those counted that are open already, in use or
// not. It may be called before a run and while it is on, and again with a higher n. It ends early with ctx or Close, and
// when the server takes no more; the error says how many are open and why the first dial failed. What was opened stays of
// use.
func (l *Connections) Open(ctx context.Context, n int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if l.life.Err() != nil {
		cancel(net.ErrClosed)
	}
	defer context.AfterFunc(l.life, func() { cancel(net.ErrClosed) })()
	select {
	case <-l.opening:
		defer func() { l.opening <- struct{}{} }()
	case <-ctx.Done():
	}
	l.clean()
	job := opening{links: l, missing: n - l.Stats().Open}
	var dialers sync.WaitGroup
	for range min(job.missing, dialsAtOnce) {
		dialers.Go(func() { job.dial(ctx) })
	}
	dialers.Wait()
	if job.missing <= 0 {
		return nil
	}
	if job.err == nil {
		job.err = context.Cause(ctx)
	}
	return fmt.Errorf("%d of %d connections are open: %w", l.Stats().Open, n, job.err)
}

// opening is one call of Open.
type opening struct {
	links *Connections

	mu      sync.Mutex // guards what is below
	missing int
	err     error // of the first dial that failed by itself
}

// dial opens connections until none is missing. A dialer gives up at its first failure and leaves that connection to the
// others that are still at it, so that a single failure matters little and a server that is down is not asked for all.
func (o *opening) dial(ctx context.Context) {
	for ctx.Err() == nil && o.claim() {
		k, err := o.links.dial(ctx, runClock{time.Now()})
		if err != nil {
			o.failed(ctx, err)
			return
		}
		o.links.stock(k)
	}
}

func (o *opening) claim() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.missing <= 0 {
		return false
	}
	o.missing--
	return true
}

func (o *opening) failed(ctx context.Context, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.missing++
	if o.err == nil && ctx.Err() == nil {
		o.err = err
	}
}

// stock puts a connection that was opened ahead where the first request finds it.
func (l *Connections) stock(k *link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		l.discard(k)
		return
	}
	k.adopt(l.clock)
	k.since = time.Now()
	l.ahead = append(l.ahead, k)
}

// clean drops the idle connections that are of no more use, so that they are not counted. Whether one is alive is a question
// to the system, so all are taken off the lists meanwhile: a request that comes just then opens its own.
func (l *Connections) clean() {
	l.mu.Lock()
	idle, ahead := l.idle, l.ahead
	l.idle, l.ahead = nil, nil
	l.mu.Unlock()
	idle, ahead = l.sift(idle, idleLimit), l.sift(ahead, aheadLimit)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		return // which closed them, too
	}
	l.idle, l.ahead = append(idle, l.idle...), append(ahead, l.ahead...)
}

// sift drops what is not alive, or idle for longer than the limit.
func (l *Connections) sift(list []*link, limit time.Duration) []*link {
	return slices.DeleteFunc(list, func(k *link) bool {
		useless := time.Since(k.since) >= limit || !alive(k)
		if useless {
			l.drop(k)
		}
		return useless
	})
}
