package loadgen

import (
	"errors"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// alive reports whether the server has left an idle connection open, as far as the kernel knows. What cannot be asked
// counts as alive; if it is not, the request is sent again. It costs about a microsecond.
//
// Data behind TLS may be a session ticket, and may be followed by the end of the connection, which is why the kernel is
// asked for that and not for the next byte. Without TLS nothing may come before a request.
func alive(k *link) bool {
	seen, err := look(k.raw.Conn)
	if err != nil {
		return !errors.Is(err, net.ErrClosed)
	}
	plain := k.conn == k.raw
	return seen&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) == 0 && !(plain && seen&unix.POLLIN != 0)
}

// waiting reports whether a connection has data that nobody has read.
func waiting(conn net.Conn) bool {
	seen, err := look(conn)
	return err == nil && seen&unix.POLLIN != 0
}

// look asks the kernel what there is on a connection, without waiting.
func look(conn net.Conn) (seen int16, err error) {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	// Not Read, which would fail for a deadline that has passed.
	closed := raw.Control(func(fd uintptr) {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN | unix.POLLRDHUP}}
		_, err = unix.Poll(fds, 0)
		seen = fds[0].Revents
	})
	if closed != nil {
		return 0, net.ErrClosed // at our end
	}
	return seen, err
}
