package loadgen

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// alive reports whether the server has left an idle connection open, as far as the kernel knows. What cannot be asked
// counts as alive; if it is not, the request is sent again. It costs about a microsecond.
//
// Data behind TLS may be a session ticket, and may be followed by the end of the connection, which is why the kernel is
// asked for that and not for the next byte. Without TLS nothing may come before a request.
func alive(k *link) bool {
	c, ok := k.raw.Conn.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return true
	}
	seen, err := int16(0), error(nil)
	// Not Read, which would fail for a deadline of the last request.
	failed := raw.Control(func(fd uintptr) {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN | unix.POLLRDHUP}}
		_, err = unix.Poll(fds, 0)
		seen = fds[0].Revents
	})
	if failed != nil {
		return false // it is closed at our end
	}
	plain := k.conn == k.raw
	return err != nil || seen&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) == 0 && !(plain && seen&unix.POLLIN != 0)
}
