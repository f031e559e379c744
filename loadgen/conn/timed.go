package conn

import (
	"net"
	"sync"
	"time"

	"benchtop/metrics"
)

// timedConn is the raw connection of one stream. It stamps reads and the start of a request. It lies under TLS and
// HTTP, so the stamps are taken as close to the system call as Go allows, or by the kernel when the packet arrives.
//
// One goroutine at a time uses it; Close may come from any.
type timedConn struct {
	net.Conn
	clock  Clock
	stamps *stampState // of all connections
	kernel *socket     // Conn, with stamps of the kernel; nil: a read is stamped when it returns

	sent     time.Duration // when the first write of a request began; metrics.Never before it
	read     time.Duration // arrival of the data of the last read
	delay    time.Duration // from then until the read; metrics.Never without a stamp of the kernel
	expires  time.Time     // read deadline in force
	retried  bool          // the last read was repeated after its deadline
	full     bool          // the last read filled its buffer, so there may have been more data
	returned time.Duration // when the last read returned, without stamps of the kernel
}

// noStamp is the stamp of data without one.
const noStamp = 0

// newTimedConn uses stamps of the kernel if stamps is not nil and the connection supports them.
func newTimedConn(conn net.Conn, stamps *stampState) *timedConn {
	c := &timedConn{Conn: conn, stamps: stamps, delay: metrics.Never}
	if stamps != nil {
		if c.kernel = newSocket(conn, stamps.poller, stamps.wall); c.kernel != nil {
			c.Conn = c.kernel
		}
	}
	return c
}

// setClock drops the time of the last read, which is of another clock.
func (c *timedConn) setClock(clock Clock) { c.clock, c.read = clock, 0 }

func (c *timedConn) Write(p []byte) (int, error) {
	if c.sent == metrics.Never {
		c.sent = c.clock.Now()
		c.read = c.sent // the answer cannot arrive earlier
	}
	return c.Conn.Write(p)
}

// Read reads and stamps. After a standstill of the process the deadline may have passed although data arrived in time.
// So a read that timed out is repeated if data is waiting, but not twice in a row: a request must not outlive its
// deadline for ever.
func (c *timedConn) Read(p []byte) (int, error) {
	n, err := c.receive(p)
	if !IsTimeout(err) || c.retried || !waiting(c.Conn) {
		c.retried = false
		return n, err
	}
	c.retried, c.expires = true, time.Time{}
	_ = c.SetReadDeadline(time.Now().Add(time.Second)) // enough to read the waiting data
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

// atOnce is the longest time between two reads whose data was waiting together.
const atOnce = 50 * time.Microsecond

// receiveUnstamped takes the time of the read. Data that did not fit into the previous read, and follows at once, has
// the time of that.
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

// stamp sets the arrival of the last read: the kernel's stamp, but not earlier than the read before.
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
	before := c.read
	c.read = min(user, max(before, c.clock.At(c.stamps.anchor.Add(time.Duration(at)))))
	c.delay = user - c.read
	c.stamps.poller.arrived(c.read-before, c.read-c.sent)
}

// expire makes reads fail some time between at and at+slack. The slack spares most moves of the deadline. On a
// closed connection it fails, which the next read shows.
func (c *timedConn) expire(at time.Time, slack time.Duration) {
	if early := c.expires.Sub(at); early >= 0 && early <= slack {
		return
	}
	c.expires = at.Add(slack)
	_ = c.SetReadDeadline(c.expires)
}

// stampState is the state that connections share for stamps of the kernel.
type stampState struct {
	anchor time.Time // zero of the monotonic clock of wall
	wall   *wallClock
	poller *poller
}

// newStamping returns nil unless stamps of the kernel are wanted and available.
func newStamping(timestamps string) *stampState {
	if timestamps == metrics.UserStamps || !KernelStamps() {
		return nil
	}
	poller, err := newPoller()
	if err != nil {
		return nil
	}
	awaitStamps()
	anchor := time.Now()
	return &stampState{anchor: anchor, wall: newWallClock(systemClock(anchor)), poller: poller}
}

// close may be called more than once, and for nil.
func (s *stampState) close() {
	if s != nil {
		s.poller.close()
	}
}

// clockSteps is the number of steps of the wall clock seen so far.
func (s *stampState) clockSteps() int {
	if s == nil {
		return 0
	}
	return s.wall.steps()
}

// stampedSocket requests stamps as long as the process lives. The kernel begins to stamp packets some time after the
// first socket requests it, and stops after the last one is closed.
var stampedSocket = sync.OnceValues(openStampedSocket)

// KernelStamps reports whether this system's kernel stamps packets as they arrive. It begins to at the first call, so
// an early one saves the first pool the wait.
func KernelStamps() bool {
	_, err := stampedSocket()
	return err == nil
}
