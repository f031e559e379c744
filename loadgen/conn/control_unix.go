//go:build unix

package conn

import (
	"errors"
	"net"
	"syscall"
)

// control calls ask with the descriptor of a connection, regardless of its deadlines. The error is net.ErrClosed if it
// is closed at this end, errors.ErrUnsupported if it is not a socket.
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
