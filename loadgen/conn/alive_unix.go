//go:build unix && !linux

package conn

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// alive reports whether the server has left an idle connection open, as far as the kernel knows. A connection that is
// not a socket counts as alive; otherwise the request fails. It costs about a microsecond.
//
// Data behind TLS may be a session ticket. Without TLS no data may arrive before a request.
func alive(c *Conn) bool {
	n, err := peek(c.raw.Conn)
	if err != nil {
		return errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) || errors.Is(err, errors.ErrUnsupported)
	}
	return n > 0 && c.conn != c.raw
}

// waiting reports whether a connection has unread data.
func waiting(conn net.Conn) bool {
	n, err := peek(conn)
	return err == nil && n > 0
}

// peek looks at the next byte of a connection, without waiting.
func peek(conn net.Conn) (n int, err error) {
	var failed error
	err = control(conn, func(fd int) {
		var next [1]byte
		n, _, failed = unix.Recvfrom(fd, next[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	})
	return n, errors.Join(err, failed)
}
