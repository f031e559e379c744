//go:build unix

package conn

import (
	"errors"
	"net"
	"syscall"
)

// control asks the system about a connection, whatever its deadlines: a Read would fail for one that has passed. The error is
// net.ErrClosed if it is closed at our end, errors.ErrUnsupported if it is no socket.
func control(conn net.Conn, ask func(fd int)) error {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return errors.ErrUnsupported
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	if raw.Control(func(fd uintptr) { ask(int(fd)) }) != nil {
		return net.ErrClosed
	}
	return nil
}
