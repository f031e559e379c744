// Package pipetest is a network in memory for tests, in virtual time as well.
package pipetest

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

// Pipe returns a network in memory: a listener to serve on and the function that dials it. It works in virtual time;
// make it inside the testing/synctest bubble that uses it. Dialling waits until the listener accepts, ctx ends or the
// listener is closed.
//
// The connections hold some bytes, unlike net.Pipe's, where each Write waits for its reader: there, a server that
// answers before it has read a whole request and a client that writes first and reads then wait for each other for
// ever, and a client that reads late would slow down the server's handler, which no kernel does.
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

// shut makes dials fail as on a port without a listener, until open.
func (l *pipeListener) Shut() { l.refuses.Store(true) }

func (l *pipeListener) Open() error {
	l.refuses.Store(false)
	return nil
}

type pipeAddr string

func (pipeAddr) Network() string  { return "pipe" }
func (a pipeAddr) String() string { return string(a) }

// pipeConn is one end of a connection.
type pipeConn struct {
	address pipeAddr
	other   *pipeConn

	change        *sync.Cond   // of both ends; its lock guards all below and is never held while waiting
	unread        bytes.Buffer // written by the other end
	reads, writes pipeDeadline
	abrupt        bool // Close resets
	closed        bool
}

// pipeDeadline is a moment that can be moved while others wait for it; the zero time means never.
type pipeDeadline struct {
	at    time.Time
	timer *time.Timer // wakes them
}

func newPipeConns(name pipeAddr) (client, server *pipeConn) {
	client = &pipeConn{address: name, change: sync.NewCond(new(sync.Mutex))}
	server = &pipeConn{address: "simulator", change: client.change, other: client}
	client.other = server
	return client, server
}

// Read returns waiting data, or waits. Data that the other end wrote before it closed comes before io.EOF.
func (c *pipeConn) Read(b []byte) (n int, err error) {
	err = c.wait("read", &c.reads, func() (bool, error) {
		switch {
		case len(b) == 0:
			return true, nil
		case c.unread.Len() > 0:
			n, _ = c.unread.Read(b)
			c.change.Broadcast()
			return true, nil
		case c.other.closed && c.other.abrupt:
			return false, syscall.ECONNRESET
		case c.other.closed:
			return false, io.EOF
		}
		return false, nil
	})
	return n, err
}

// Write returns when all of b is on its way. It fails at once if the other end is closed.
func (c *pipeConn) Write(b []byte) (n int, err error) {
	err = c.wait("write", &c.writes, func() (bool, error) {
		if c.other.closed {
			return false, io.ErrClosedPipe
		}
		if more := min(len(b)-n, pipeCapacity-c.other.unread.Len()); more > 0 {
			c.other.unread.Write(b[n : n+more])
			n += more
			c.change.Broadcast()
		}
		return n == len(b), nil
	})
	return n, err
}

// wait calls try after every change until it is done or fails, or the connection is closed or past its deadline.
func (c *pipeConn) wait(op string, d *pipeDeadline, try func() (done bool, err error)) error {
	c.change.L.Lock()
	defer c.change.L.Unlock()
	for {
		var done bool
		var err error
		switch {
		case c.closed:
			err = net.ErrClosed
		case !d.at.IsZero() && time.Until(d.at) <= 0:
			err = os.ErrDeadlineExceeded
		default:
			done, err = try()
		}
		switch {
		case done || err == io.EOF:
			return err
		case err != nil:
			return &net.OpError{Op: op, Net: "pipe", Source: c.address, Addr: c.other.address, Err: err}
		}
		c.change.Wait()
	}
}

// SetLinger with 0 makes Close reset the connection: once the other end has read what was written, its reads fail.
// Other values change nothing.
func (c *pipeConn) SetLinger(seconds int) error {
	c.change.L.Lock()
	defer c.change.L.Unlock()
	c.abrupt = seconds == 0
	return nil
}

func (c *pipeConn) Close() error {
	c.change.L.Lock()
	c.closed = true
	c.change.L.Unlock()
	return c.SetDeadline(time.Time{}) // no timer outlives the connection
}

func (c *pipeConn) LocalAddr() net.Addr  { return c.address }
func (c *pipeConn) RemoteAddr() net.Addr { return c.other.address }

func (c *pipeConn) SetDeadline(t time.Time) error      { return c.set(t, &c.reads, &c.writes) }
func (c *pipeConn) SetReadDeadline(t time.Time) error  { return c.set(t, &c.reads) }
func (c *pipeConn) SetWriteDeadline(t time.Time) error { return c.set(t, &c.writes) }

func (c *pipeConn) set(t time.Time, deadlines ...*pipeDeadline) error {
	c.change.L.Lock()
	defer c.change.L.Unlock()
	for _, d := range deadlines {
		if d.timer != nil {
			d.timer.Stop()
		}
		*d = pipeDeadline{at: t}
		if left := time.Until(t); left > 0 { // a deadline that has passed is seen at once
			d.timer = time.AfterFunc(left, c.wake)
		}
	}
	c.change.Broadcast()
	return nil
}

func (c *pipeConn) wake() {
	c.change.L.Lock()
	defer c.change.L.Unlock()
	c.change.Broadcast()
}
