package loadgen

import (
	"bufio"
	"context"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"benchtop/loadgen/target"
)

// stampedConn is the raw connection of one stream. It stamps reads and the start of a request. It lies under TLS and
// HTTP, so the stamps are taken as close to the system call as Go allows.
//
// One goroutine at a time uses it; Close may come from any.
type stampedConn struct {
	net.Conn
	clock runClock

	armed   bool          // the next write is the first of a request
	sent    time.Duration // when that write began
	read    time.Duration // when the last read returned
	expires time.Time     // read deadline in force
}

func (c *stampedConn) Write(p []byte) (int, error) {
	if c.armed {
		c.armed = false
		c.sent = c.clock.now()
	}
	return c.Conn.Write(p)
}

func (c *stampedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.read = c.clock.now()
	}
	return n, err
}

// expire makes reads fail some time between at and at+slack. The slack spares most moves of the deadline. A connection
// that takes no deadline any more is closed, which the next read will tell.
func (c *stampedConn) expire(at time.Time, slack time.Duration) {
	if early := c.expires.Sub(at); early >= 0 && early <= slack {
		return
	}
	c.expires = at.Add(slack)
	_ = c.SetReadDeadline(c.expires)
}

// link is a connection ready for HTTP: the stamped connection, TLS above it where there is any, and the reading state of
// the HTTP library, which lives as long as the connection.
type link struct {
	raw    *stampedConn
	conn   net.Conn // raw, or TLS over it
	reader *bufio.Reader
	answer fasthttp.Response
	buffer [bodyBuffer]byte
	since  time.Time // idle since

	total   int64   // bytes read from conn
	marks   [4]mark // the last reads from it
	next    int
	failure error // of the last read; the HTTP library does not always pass it on
}

// mark says up to which byte a read went and when it returned.
type mark struct {
	end int64
	at  time.Duration
}

const (
	headerBuffer = 4096 // an answer's header has to fit
	bodyBuffer   = 2048
	// idleLimit is shorter than the keep-alive of the servers we know (uvicorn: 5 s), so that a connection is rarely
	// reused just when the server closes it.
	idleLimit = 3500 * time.Millisecond
)

// Read reads for the HTTP library and remembers which bytes came when.
func (k *link) Read(p []byte) (int, error) {
	n, err := k.conn.Read(p)
	if n > 0 {
		k.total += int64(n)
		k.marks[k.next%len(k.marks)] = mark{k.total, k.raw.read}
		k.next++
	}
	if err != nil {
		k.failure = err
	}
	return n, err
}

// arrived is when the data that the HTTP library returned last was complete. The library reads the line end behind a
// chunk before it returns the chunk; a server or proxy may send that line end much later, together with the next chunk.
// So not the last read counts but the one that brought the last byte of data.
func (k *link) arrived(chunked bool) time.Duration {
	end := k.total - int64(k.reader.Buffered())
	if chunked {
		end -= 2
	}
	for i := max(0, k.next-len(k.marks)); i < k.next; i++ {
		if m := k.marks[i%len(k.marks)]; m.end >= end {
			return m.at
		}
	}
	return k.raw.read
}

// links owns every connection of a run: the idle ones for reuse, and all of them so that they can be cut.
type links struct {
	target *target.Target
	clock  runClock

	mu   sync.Mutex // guards everything below
	idle []*link    // the most recently used last
	open map[*link]struct{}
	cut  bool
}

func newLinks(t *target.Target, clock runClock) *links {
	return &links{target: t, clock: clock, open: map[*link]struct{}{}}
}

// take returns an idle connection, nil if there is none fresh enough.
func (l *links) take() *link {
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
func (l *links) dial(ctx context.Context) (*link, error) {
	raw, err := l.target.Dial(ctx)
	if err != nil {
		return nil, err
	}
	k := &link{raw: &stampedConn{Conn: raw, clock: l.clock}}
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
func (l *links) keep(k *link) {
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
func (l *links) drop(k *link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.discard(k)
}

func (l *links) discard(k *link) {
	delete(l.open, k)
	// Closing the raw connection is enough: a TLS close would wait for the peer.
	_ = k.raw.Close()
}

// cutAll closes every connection and refuses new ones.
func (l *links) cutAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	for k := range l.open {
		_ = k.raw.Close()
	}
}
