package loadgen

import (
	"net"
	"time"
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
