package simulator

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// pipeCapacity is how many bytes one direction of a connection holds before Write waits, much as a socket would.
const pipeCapacity = 64 << 10

// Pipe returns a network in memory: a listener to serve on and the function that dials it. It works in virtual time; make it
// inside the testing/synctest bubble that uses it. Dialling waits until the listener accepts, ctx ends or the listener is
// closed.
//
// The connections hold some bytes, unlike net.Pipe's, where each Write waits for its reader: there, a server that answers
// before it has read a whole request and a client that writes first and reads then wait for each other for ever, and a client
// that reads late would slow down the server's handler, which no kernel does.
func Pipe() (net.Listener, func(ctx context.Context) (net.Conn, error)) {
	l := &pipeListener{accepts: make(chan net.Conn), closed: make(chan struct{})}
	return l, l.dial
}

type pipeListener struct {
	accepts chan net.Conn
	dials   atomic.Int64
	refuses atomic.Bool
	once    sync.Once
	closed  chan struct{}
}

func (l *pipeListener) dial(ctx context.Context) (net.Conn, error) {
	if l.refuses.Load() {
		return nil, &net.OpError{Op: "dial", Net: "pipe", Addr: l.Addr(), Err: syscall.ECONNREFUSED}
	}
	client, server := newPipeConns(pipeAddr(fmt.Sprintf("client-%d", l.dials.Add(1))))
	select {
	case l.accepts <- server:
		return client, nil
	case <-ctx.Done():
		return nil, &net.OpError{Op: "dial", Net: "pipe", Addr: l.Addr(), Err: ctx.Err()}
	case <-l.closed:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Addr: l.Addr(), Err: net.ErrClosed}
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accepts:
		return c, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "accept", Net: "pipe", Addr: l.Addr(), Err: net.ErrClosed}
	}
}

// Close stops accepting; connections stay open.
func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return pipeAddr("simulator") }

// shut makes the next dials fail as on a port where nobody listens, until open.
func (l *pipeListener) shut() { l.refuses.Store(true) }

func (l *pipeListener) open() error {
	l.refuses.Store(false)
	return nil
}

type pipeAddr string

func (pipeAddr) Network() string  { return "pipe" }
func (a pipeAddr) String() string { return string(a) }

// pipeConn is one end of a connection.
type pipeConn struct {
	in, out       *pipeBuffer
	local, remote pipeAddr
	reads, writes *deadline
	abrupt        atomic.Bool // Close resets
	once          sync.Once
	closed        chan struct{}
}

func newPipeConns(name pipeAddr) (client, server *pipeConn) {
	up, down := newPipeBuffer(), newPipeBuffer()
	end := func(in, out *pipeBuffer, local, remote pipeAddr) *pipeConn {
		return &pipeConn{
			in: in, out: out, local: local, remote: remote,
			reads: newDeadline(), writes: newDeadline(), closed: make(chan struct{}),
		}
	}
	return end(down, up, name, "simulator"), end(up, down, "simulator", name)
}

// Read returns what is there, or waits. What the other end wrote before it closed is still read, then io.EOF comes.
func (c *pipeConn) Read(b []byte) (int, error) {
	for {
		if err := c.usable(c.reads); err != nil {
			return 0, c.failed("read", err)
		}
		if len(b) == 0 {
			return 0, nil
		}
		n, err := c.in.take(b)
		if err != nil && err != io.EOF {
			err = c.failed("read", err)
		}
		if n > 0 || err != nil {
			return n, err
		}
		select {
		case <-c.in.readable:
		case <-c.reads.expired():
		case <-c.closed:
		}
	}
}

// Write returns when all of b is on its way. It fails at once if the other end is closed.
func (c *pipeConn) Write(b []byte) (int, error) {
	written := 0
	for {
		if err := c.usable(c.writes); err != nil {
			return written, c.failed("write", err)
		}
		n, err := c.out.put(b[written:])
		written += n
		if err != nil {
			return written, c.failed("write", err)
		}
		if written == len(b) {
			return written, nil
		}
		select {
		case <-c.out.writable:
		case <-c.writes.expired():
		case <-c.closed:
		}
	}
}

// usable says why one may not read or write now, or nil.
func (c *pipeConn) usable(d *deadline) error {
	select {
	case <-c.closed:
		return net.ErrClosed
	default:
	}
	select {
	case <-d.expired():
		return os.ErrDeadlineExceeded
	default:
		return nil
	}
}

func (c *pipeConn) failed(op string, err error) error {
	return &net.OpError{Op: op, Net: "pipe", Source: c.local, Addr: c.remote, Err: err}
}

// SetLinger with 0 makes Close reset the connection: once the other end has read what was written, its reads fail. Other
// values change nothing.
func (c *pipeConn) SetLinger(seconds int) error {
	c.abrupt.Store(seconds == 0)
	return nil
}

func (c *pipeConn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.in.close(io.EOF)
		if c.abrupt.Load() {
			c.out.close(syscall.ECONNRESET)
		} else {
			c.out.close(io.EOF)
		}
		c.reads.set(time.Time{}) // no timer outlives the connection
		c.writes.set(time.Time{})
	})
	return nil
}

func (c *pipeConn) LocalAddr() net.Addr  { return c.local }
func (c *pipeConn) RemoteAddr() net.Addr { return c.remote }

func (c *pipeConn) SetDeadline(t time.Time) error {
	c.reads.set(t)
	c.writes.set(t)
	return nil
}

func (c *pipeConn) SetReadDeadline(t time.Time) error {
	c.reads.set(t)
	return nil
}

func (c *pipeConn) SetWriteDeadline(t time.Time) error {
	c.writes.set(t)
	return nil
}

// pipeBuffer is one direction of a connection. Its channels have capacity 1 and say "look again".
type pipeBuffer struct {
	readable, writable chan struct{}

	mu    sync.Mutex // guards all below; never held while waiting
	bytes bytes.Buffer
	end   error // what comes after the last byte, nil while open
}

func newPipeBuffer() *pipeBuffer {
	return &pipeBuffer{readable: make(chan struct{}, 1), writable: make(chan struct{}, 1)}
}

// take moves bytes into b. Nothing and no error means: wait. A closed buffer is first emptied, then its end comes.
func (p *pipeBuffer) take(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bytes.Len() == 0 {
		if p.end != nil {
			poke(p.readable) // for another reader
			return 0, p.end
		}
		return 0, nil
	}
	n, _ := p.bytes.Read(b)
	poke(p.writable)
	if p.bytes.Len() > 0 {
		poke(p.readable)
	}
	return n, nil
}

// put takes as much of b as there is room for.
func (p *pipeBuffer) put(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end != nil {
		poke(p.writable) // for another writer
		return 0, io.ErrClosedPipe
	}
	n := min(len(b), pipeCapacity-p.bytes.Len())
	if n > 0 {
		p.bytes.Write(b[:n])
		poke(p.readable)
	}
	return n, nil
}

// close ends the direction; the first end given counts.
func (p *pipeBuffer) close(end error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end == nil {
		p.end = end
	}
	poke(p.readable)
	poke(p.writable)
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// deadline is a moment that can be moved while others wait for it.
type deadline struct {
	mu    sync.Mutex // guards all below; never held while waiting
	timer *time.Timer
	round int           // counts calls of set, so that a timer that was stopped too late does nothing
	past  chan struct{} // closed when the moment has come
	fired bool
}

func newDeadline() *deadline { return &deadline{past: make(chan struct{})} }

// set moves the deadline to t; the zero time means never. Waiters that were told it had come are not called back.
func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.round++
	wait := time.Until(t)
	if !t.IsZero() && wait <= 0 {
		d.fire()
		return
	}
	if d.fired {
		d.fired = false
		d.past = make(chan struct{})
	}
	if t.IsZero() {
		return
	}
	round := d.round
	d.timer = time.AfterFunc(wait, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.round == round {
			d.fire()
		}
	})
}

// fire is called with the lock held.
func (d *deadline) fire() {
	if !d.fired {
		d.fired = true
		close(d.past)
	}
}

// expired returns the channel that is closed when the moment has come, as set last.
func (d *deadline) expired() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.past
}
