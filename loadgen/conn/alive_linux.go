package conn

import (
	"errors"
	"net"
	"syscall"
	"unsafe"

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
	var errno syscall.Errno
	err = control(conn, func(fd int) {
		asked := unix.PollFd{Fd: int32(fd), Events: unix.POLLIN | unix.POLLRDHUP}
		var atOnce unix.Timespec
		// A raw system call, since it does not wait: see ready.
		_, _, errno = unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&asked)), 1,
			uintptr(unsafe.Pointer(&atOnce)), 0, 0, 0)
		seen = asked.Revents
	})
	if err == nil && errno != 0 {
		err = errno
	}
	return seen, err
}
