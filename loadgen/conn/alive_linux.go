package conn

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// alive reports whether the server has left an idle connection open, as far as the kernel knows. A connection that is
// not a socket counts as alive; otherwise the request fails. It costs about a microsecond.
//
// Data behind TLS may be a session ticket, with the end of the connection behind it, so the kernel is polled for the
// end and not for the next byte. Without TLS no data may arrive before a request.
func alive(c *Conn) bool {
	seen, err := poll(c.raw.Conn)
	if err != nil {
		return !errors.Is(err, net.ErrClosed)
	}
	plain := c.conn == c.raw
	return seen&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) == 0 && !(plain && seen&unix.POLLIN != 0)
}

// waiting reports whether a connection has unread data.
func waiting(conn net.Conn) bool {
	seen, err := poll(conn)
	return err == nil && seen&unix.POLLIN != 0
}

// poll returns the pending events of a connection without waiting.
func poll(conn net.Conn) (seen int16, err error) {
	var failed error
	err = control(conn, func(fd int) {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN | unix.POLLRDHUP}}
		_, failed = unix.Poll(fds, 0)
		seen = fds[0].Revents
	})
	return seen, errors.Join(err, failed)
}
