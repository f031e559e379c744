package loadgen

import (
	"bufio"
	"context"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"benchtop/loadgen/target"
)

// Connections are those of a run to its server: the idle ones for reuse, and all of them so that they can be cut. They may
// be opened before the run; an Engine that was given them owns them and closes them when its run is over.
type Connections struct {
	target *target.Target
	stamps *stamping // nil: chunks are stamped by us

	life    context.Context // ends when every connection is cut
	end     context.CancelFunc
	opening chan struct{} // holds a token while nobody opens ahead

	mu      sync.Mutex // guards everything below
	clock   runClock   // of the connections opened ahead
	idle    []*link    // used before, the most recently used last
	habit   habit      // of the server, after an answer
	ahead   []*link    // opened ahead and never used, the newest last
	open    map[*link]struct{}
	dialled int
	most    int // open at a time, since Peak was asked
	cut     bool
}

// ConnectionStats count connections. ClockSteps is how often the system's clock was seen to jump against the monotonic
// one, which makes stamps of the kernel useless for a moment.
type ConnectionStats struct{ Open, Dialled, ClockSteps int }

const (
	// idleLeast is shorter than any keep-alive we know of (gunicorn: 2 s): a server that closes a connection sooner after an
	// answer has another reason.
	idleLeast = time.Second
	// idleLimit is shorter than the keep-alive of the servers we know (uvicorn: 5 s), so that a connection is rarely
	// reused just when the server closes it.
	idleLimit = 3500 * time.Millisecond
	// aheadLimit is for connections that never carried a request. Keep-alive counts from the end of an answer, so here only
	// the wait for the first request matters, and what stands before a server allows a minute for that or does not care
	// (nginx, node, load balancers: 60 s; uvicorn: no limit).
	aheadLimit = 30 * time.Second
)

// habit is what a server was seen to do with a connection after an answer. Some promise to keep it, close it right away all the same
// (llama.cpp), and the end crosses the next request on its way: that request is lost by no fault of the server under load, and is
// not sent again. So until it is known, a connection rests after its answer for as long as such an end takes.
type habit int8

const (
	unknownHabit habit = iota
	keepsOpen          // an answer came on a connection that had carried one before
	closesAtOnce       // a connection was closed within idleLeast of its answer
)

// NewConnections opens nothing yet. timestamps as in Options.
func NewConnections(t *target.Target, timestamps string) *Connections {
	l := &Connections{
		target: t, stamps: newStamping(timestamps),
		clock: runClock{time.Now()}, open: map[*link]struct{}{}, opening: make(chan struct{}, 1),
	}
	l.life, l.end = context.WithCancel(context.Background())
	l.opening <- struct{}{}
	return l
}

// Close cuts every connection and refuses new ones.
func (l *Connections) Close() { l.cutAll() }

// Stats counts the connections that are open now and those dialled so far.
func (l *Connections) Stats() ConnectionStats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return ConnectionStats{Open: len(l.open), Dialled: l.dialled, ClockSteps: l.stamps.clockSteps()}
}

// Peak is the most connections that were open at a time since it was called before.
func (l *Connections) Peak() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	most := max(l.most, len(l.open))
	l.most = len(l.open)
	return most
}

// adopt gives the connections the clock of a run, before any of them is taken.
func (l *Connections) adopt(clock runClock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock = clock
	for _, k := range l.ahead {
		k.adopt(clock)
	}
}

// adopt forgets what was stamped by another clock.
func (k *link) adopt(clock runClock) { k.raw.clock, k.raw.read = clock, 0 }

// take returns an idle connection, nil if there is none that is fresh and alive.
func (l *Connections) take() *link {
	for {
		k, limit := l.pop()
		// Whether it is alive is a question to the system, so it is asked outside the lock.
		if k == nil || time.Since(k.since) < limit && alive(k) {
			return k
		}
		l.ended(k)
	}
}

// ended drops a connection that idled for too long or that the server has closed, and learns from the latter.
func (l *Connections) ended(k *link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.habit == unknownHabit && k.used && k.asked && time.Since(k.since) < idleLeast {
		l.habit = closesAtOnce
		for _, other := range l.idle {
			l.discard(other)
		}
		l.idle = nil
	}
	l.discard(k)
}

// KeptOpen says that the server is known to keep its connections open after an answer, so that none has to rest.
func (l *Connections) KeptOpen() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.habit = keepsOpen
}

// answered says that an answer began to come on a connection.
func (l *Connections) answered(k *link) {
	if k.used {
		l.KeptOpen()
	}
}

// pop takes the connection off the lists that was used last, else one that never was, and says how long it may have idled. While the
// server's habit is not known, one that has not rested yet stays, and the one that has rested longest is taken.
func (l *Connections) pop() (*link, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case len(l.idle) == 0:
	case l.habit != unknownHabit || !l.idle[0].asked:
		return last(&l.idle), idleLimit
	case time.Since(l.idle[0].since) >= l.idle[0].rest():
		k := l.idle[0]
		l.idle = slices.Delete(l.idle, 0, 1)
		return k, idleLimit
	}
	return last(&l.ahead), aheadLimit
}

// last takes the last connection off a list, nil if there is none.
func last(list *[]*link) *link {
	n := len(*list)
	if n == 0 {
		return nil
	}
	k := (*list)[n-1]
	(*list)[n-1] = nil
	*list = (*list)[:n-1]
	return k
}

// dial opens a new connection.
func (l *Connections) dial(ctx context.Context, clock runClock) (*link, error) {
	from := time.Now()
	raw, err := l.target.Dial(ctx)
	if err != nil {
		return nil, err
	}
	k := &link{raw: newStampedConn(raw, clock, l.stamps), dial: time.Since(from)}
	_, k.asked = raw.(syscall.Conn)
	// The handshake must be open to being cut as well, so the connection is known before it.
	k.conn = k.raw
	l.mu.Lock()
	l.open[k] = struct{}{}
	l.dialled++
	l.most = max(l.most, len(l.open))
	cut := l.cut
	l.mu.Unlock()
	if cut {
		l.drop(k)
		return nil, net.ErrClosed
	}
	secure, err := l.target.Secure(ctx, k.raw)
	if err != nil {
		l.drop(k)
		return nil, err
	}
	k.conn = secure
	k.reader = bufio.NewReaderSize(k, headerBuffer)
	return k, nil
}

// keep puts a connection back for reuse.
func (l *Connections) keep(k *link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut || l.habit == closesAtOnce {
		l.discard(k)
		return
	}
	// Those that nobody took for long are at the front.
	for len(l.idle) > 0 && time.Since(l.idle[0].since) >= idleLimit {
		l.discard(l.idle[0])
		l.idle = slices.Delete(l.idle, 0, 1)
	}
	k.used, k.since = true, time.Now()
	l.idle = append(l.idle, k)
}

// drop closes a connection.
func (l *Connections) drop(k *link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.discard(k)
}

func (l *Connections) discard(k *link) {
	delete(l.open, k)
	// Closing the raw connection is enough: a TLS close would wait for the peer.
	_ = k.raw.Close()
}

// cutAll closes every connection and refuses new ones.
func (l *Connections) cutAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	l.end()
	l.stamps.close()
	for k := range l.open {
		_ = k.raw.Close()
	}
	clear(l.open)
	l.idle, l.ahead = nil, nil
}
