package conn

import (
	"io"
	"net"
	"time"

	"benchtop/metrics"
)

// timedConn is the raw connection of one stream. It stamps reads and the start of a request. It lies under TLS and
// HTTP, so the stamps are taken as close to the system call as Go allows, or by the kernel when the packet comes in.
//
// One goroutine at a time uses it; Close may come from any.
type timedConn struct {
	net.Conn
	clock  Clock
	stamps *stamping     // of all connections
	kernel *kernelReader // nil: a read is stamped when it returns

	sent     time.Duration // when the first write of a request began; metrics.Never before it
	read     time.Duration // when what the last read returned had come
	delay    time.Duration // how long it waited for us; metrics.Never without a stamp of the kernel
	expires  time.Time     // read deadline in force
	retried  bool          // the last read was one after its deadline
	full     bool          // the last read took all there was room for, so there may have been more
	returned time.Duration // when the last read returned, where we stamp ourselves
}

// noStamp is what data without a stamp of the kernel has for one.
const noStamp = 0

// newTimedConn lets the kernel stamp what the connection reads, if stamps is not nil and the connection can have that.
func newTimedConn(conn net.Conn, stamps *stamping) *timedConn {
	c := &timedConn{Conn: conn, stamps: stamps, delay: metrics.Never}
	if stamps != nil {
		c.kernel = newKernelReader(conn, stamps.wall)
	}
	return c
}

// setClock forgets what was stamped by another clock.
func (c *timedConn) setClock(clock Clock) { c.clock, c.read = clock, 0 }

func (c *timedConn) Write(p []byte) (int, error) {
	if c.sent == metrics.Never {
		c.sent = c.clock.Now()
		c.read = c.sent // nothing of the answer came before
	}
	return c.Conn.Write(p)
}

// Read reads and stamps. After the process stood still, the deadline may have passed although data came in time: whoever looks
// at the clock first wins. So a read that timed out is done again if there is something to read, once, until one goes well by
// itself: a request must not live for ever on that.
func (c *timedConn) Read(p []byte) (int, error) {
	n, err := c.receive(p)
	if !IsTimeout(err) || c.retried || !waiting(c.Conn) {
		c.retried = false
		return n, err
	}
	c.retried, c.expires = true, time.Time{}
	_ = c.SetReadDeadline(time.Now().Add(time.Second)) // more than it takes to read what is there
	return c.receive(p)
}

func (c *timedConn) receive(p []byte) (int, error) {
	if c.kernel == nil || len(p) == 0 {
		return c.receiveUnstamped(p)
	}
	n, stamp, err := c.kernel.read(p)
	if n > 0 {
		c.stamp(stamp)
	}
	return n, err
}

// atOnce is how soon after a read the next one returns at the latest if its data was there already.
const atOnce = 50 * time.Microsecond

// receiveUnstamped stamps what it reads itself. What the read before had no room for, and is there at once, came with that.
func (c *timedConn) receiveUnstamped(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		now := c.clock.Now()
		if !c.full || now-c.returned > atOnce {
			c.read = now
		}
		c.delay, c.full, c.returned = metrics.Never, n == len(p), now
	}
	return n, err
}

// stamp notes when what was just read came: by the kernel's stamp, but not before what came before it.
func (c *timedConn) stamp(stamp int64) {
	now := c.stamps.wall.now()
	user := c.clock.At(c.stamps.anchor.Add(time.Duration(now.mono)))
	at, ok := int64(0), stamp != noStamp
	if ok {
		at, ok = c.stamps.wall.monotonic(stamp, now, c.kernel.steps)
	}
	if !ok {
		c.read, c.delay = user, metrics.Never
		return
	}
	c.read = min(user, max(c.read, c.clock.At(c.stamps.anchor.Add(time.Duration(at)))))
	c.delay = user - c.read
}

// expire makes reads fail some time between at and at+slack. The slack spares most moves of the deadline. A connection
// that takes no deadline any more is closed, which the next read will tell.
func (c *timedConn) expire(at time.Time, slack time.Duration) {
	if early := c.expires.Sub(at); early >= 0 && early <= slack {
		return
	}
	c.expires = at.Add(slack)
	_ = c.SetReadDeadline(c.expires)
}

// stamping is what the connections of a run need together to be stamped by the kernel.
type stamping struct {
	anchor time.Time // where the monotonic clock of wall begins
	wall   *wallClock
	// warm is a socket that asks for stamps all the time. The kernel begins to stamp packets some time after the first
	// socket asked for it, and stops after the last one was closed.
	warm io.Closer
}

// newStamping returns nil, for stamps of our own, unless the kernel's are wanted and to be had.
func newStamping(timestamps string) *stamping {
	if timestamps == metrics.UserStamps {
		return nil
	}
	warm, err := warmStampedSocket()
	if err != nil {
		return nil
	}
	anchor := time.Now()
	return &stamping{anchor: anchor, wall: newWallClock(systemClock(anchor)), warm: warm}
}

// close may be called more than once, and for nil.
func (s *stamping) close() {
	if s != nil {
		_ = s.warm.Close()
	}
}

// clockSteps is how often the wall clock was set so far, as far as it was noticed.
func (s *stamping) clockSteps() int {
	if s == nil {
		return 0
	}
	return s.wall.steps()
}

// KernelStamps reports whether this system's kernel notes when packets arrive, and lets us have it.
func KernelStamps() bool {
	socket, err := openStampedSocket()
	if err != nil {
		return false
	}
	_ = socket.Close()
	return true
}
