package loadgen

import (
	"net"
	"time"

	"benchtop/metrics"
)

// stampedConn is the raw connection of one stream. It stamps reads and the start of a request. It lies under TLS and
// HTTP, so the stamps are taken as close to the system call as Go allows, or by the kernel when the packet comes in.
//
// One goroutine at a time uses it; Close may come from any.
type stampedConn struct {
	net.Conn
	clock  runClock
	stamps *stamping     // of all connections
	kernel *kernelReader // nil: a read is stamped when it returns

	armed   bool          // the next write is the first of a request
	sent    time.Duration // when that write began
	read    time.Duration // when what the last read returned had come
	delay   time.Duration // how long it waited for us; metrics.Never without a stamp of the kernel
	expires time.Time     // read deadline in force
}

// noStamp is what data without a stamp of the kernel has for one.
const noStamp = 0

// newStampedConn lets the kernel stamp what the connection reads, if stamps is not nil and the connection can have that.
func newStampedConn(conn net.Conn, clock runClock, stamps *stamping) *stampedConn {
	c := &stampedConn{Conn: conn, clock: clock, stamps: stamps, delay: metrics.Never}
	if stamps != nil {
		c.kernel = newKernelReader(conn, stamps.wall)
	}
	return c
}

func (c *stampedConn) Write(p []byte) (int, error) {
	if c.armed {
		c.armed = false
		c.sent = c.clock.now()
		c.read = c.sent // nothing of the answer came before
	}
	return c.Conn.Write(p)
}

func (c *stampedConn) Read(p []byte) (int, error) {
	if c.kernel == nil || len(p) == 0 {
		n, err := c.Conn.Read(p)
		if n > 0 {
			c.read, c.delay = c.clock.now(), metrics.Never
		}
		return n, err
	}
	n, stamp, err := c.kernel.read(p)
	if n > 0 {
		c.stamp(stamp)
	}
	return n, err
}

// stamp notes when what was just read came: by the kernel's stamp, but not before what came before it.
func (c *stampedConn) stamp(stamp int64) {
	now := c.stamps.wall.now()
	user := c.clock.at(c.stamps.anchor.Add(time.Duration(now.mono)))
	at, ok := int64(0), stamp != noStamp
	if ok {
		at, ok = c.stamps.wall.monotonic(stamp, now, c.kernel.steps)
	}
	if !ok {
		c.read, c.delay = user, metrics.Never
		return
	}
	c.read = min(user, max(c.read, c.clock.at(c.stamps.anchor.Add(time.Duration(at)))))
	c.delay = user - c.read
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
