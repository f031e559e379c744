//go:build !linux

package conn

import (
	"errors"
	"io"
	"net"
)

func openStampedSocket() (io.Closer, error) { return nil, errors.ErrUnsupported }

func awaitStamps() {}

// kernelReader exists on Linux only.
type kernelReader struct{ steps int }

func newKernelReader(net.Conn, *wallClock) *kernelReader { return nil }

func (*kernelReader) read([]byte) (int, int64, error) { return 0, noStamp, errors.ErrUnsupported }
