package loadgen

import (
	"bufio"
	"context"
	"net"
	"slices"
	"sync"
	"time"

	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// Connections are those of a run to its server: the idle ones for reuse, and all of them so that they can be cut. They may
// be opened before the run; an Engine that was given them owns them and closes them when its run is over.
type Connections struct {
	target *target.Target
	kernel bool // chunks are stamped by the kernel

	mu   sync.Mutex // guards everything below
	idle []*link    // the most recently used last
	open map[*link]struct{}
	cut  bool
}

// NewConnections opens nothing yet. timestamps as in Options.
func NewConnections(t *target.Target, timestamps string) *Connections {
	return &Connections{target: t, kernel: timestamps != metrics.UserStamps && KernelStamps(), open: map[*link]struct{}{}}
}

// Close cuts every connection and refuses new ones.
func (l *Connections) Close() { l.cutAll() }

// take returns an idle connection, nil if there is none fresh enough.
func (l *Connections) take() *link {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.idle) > 0 {
		k := l.idle[len(l.idle)-1]
		l.idle = l.idle[:len(l.idle)-1]
		if time.Since(k.since) < idleLimit {
			return k
		}
		l.discard(k)
	}
	return nil
}

// dial opens a new connection.
func (l *Connections) dial(ctx context.Context, clock runClock) (*link, error) {
	raw, err := l.target.Dial(ctx)
	if err != nil {
		return nil, err
	}
	k := &link{raw: &stampedConn{Conn: raw, clock: clock}}
	// The handshake must be open to being cut as well, so the connection is known before it.
	k.conn = k.raw
	l.mu.Lock()
	l.open[k] = struct{}{}
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
	if l.cut {
		l.discard(k)
		return
	}
	// Those that nobody took for long are at the front.
	for len(l.idle) > 0 && time.Since(l.idle[0].since) >= idleLimit {
		l.discard(l.idle[0])
		l.idle = slices.Delete(l.idle, 0, 1)
	}
	k.since = time.Now()
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
	for k := range l.open {
		_ = k.raw.Close()
	}
}
