//go:build !linux

package conn

import (
	"errors"
	"io"
	"net"
	"time"
)

func openStampedSocket() (io.Closer, error) { return nil, errors.ErrUnsupported }

func awaitStamps() {}

// socket and poller exist on Linux only.
type (
	socket struct {
		net.Conn
		steps  int
		poller *poller
	}
	poller struct{}
)

func newPoller() (*poller, error) { return nil, errors.ErrUnsupported }

func (*poller) close() {}

func (*poller) arrived(_, _ time.Duration) {}

func newSocket(net.Conn, *poller, *wallClock) *socket { return nil }

func (*socket) read([]byte) (int, int64, error) { return 0, noStamp, errors.ErrUnsupported }
