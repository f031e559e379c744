//go:build unix && !linux

package loadgen

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// alive reports whether the server has left an idle connection open, as far as the kernel knows. What cannot be asked
// counts as alive; if it is not, the request is sent again. It costs about a microsecond.
//
// Data behind TLS may be a session ticket. Without TLS nothing may come before a request.
func alive(k *link) bool {
	c, ok := k.raw.Conn.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return true
	}
	n := 0
	// Not Read, which would fail for a deadline of the last request.
	failed := raw.Control(func(fd uintptr) {
		var next [1]byte
		n, _, err = unix.Recvfrom(int(fd), next[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	})
	if failed != nil {
		return false // it is closed at our end
	}
	if err != nil {
		return errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR)
	}
	return n > 0 && k.conn != k.raw
}
