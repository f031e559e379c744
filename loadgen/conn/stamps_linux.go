package conn

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"benchtop/internal/race"
)

// stampFlags request the time at which the kernel got a packet from the network card's driver.
const stampFlags = unix.SOF_TIMESTAMPING_RX_SOFTWARE | unix.SOF_TIMESTAMPING_SOFTWARE

// openStampedSocket opens a socket that requests stamps.
func openStampedSocket() (*os.File, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		fd, err = unix.Socket(unix.AF_INET6, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	}
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	file := os.NewFile(uintptr(fd), "stamps")
	if err := askForStamps(fd); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// awaitStamps waits until the kernel stamps, which may be a hundred packets after the request on a busy machine.
// Without a loopback it does not wait.
var awaitStamps = sync.OnceFunc(func() {
	socket, err := stampedSocket()
	if err != nil || connectToItself(int(socket.Fd())) != nil {
		return
	}
	// Go's timers would advance virtual time.
	for pause := 0; pause < longestWarming && !stampsArrive(int(socket.Fd())); pause++ {
		_, _ = unix.Poll(nil, 1)
	}
})

// longestWarming in milliseconds.
const longestWarming = 100

// connectToItself makes a datagram socket send to itself.
func connectToItself(fd int) error {
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return os.NewSyscallError("bind", err)
	}
	self, err := unix.Getsockname(fd)
	if err != nil {
		return os.NewSyscallError("getsockname", err)
	}
	return os.NewSyscallError("connect", unix.Connect(fd, self))
}

// stampsArrive reports whether a datagram that the socket sends to itself comes with a stamp.
func stampsArrive(fd int) bool {
	if _, err := unix.Write(fd, []byte{0}); err != nil {
		return false
	}
	var data [1]byte
	var control [controlWords * 8]byte
	_, n, _, _, err := unix.Recvmsg(fd, data[:], control[:], unix.MSG_DONTWAIT)
	return err == nil && stampIn(control[:n]) != noStamp
}

func askForStamps(fd int) error {
	return os.NewSyscallError("setsockopt", unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, stampFlags))
}

// kernelReader reads from a TCP connection and gets the kernel's stamps with the data. A read allocates nothing and
// costs the same system call as a read of package net. One goroutine at a time uses it.
type kernelReader struct {
	conn    *net.TCPConn
	raw     syscall.RawConn
	receive func(fd uintptr) bool // r.try, made once
	wall    *wallClock
	// steps is the number of steps of the wall clock when the socket was last empty before the data of the last read:
	// the data arrived later, so its stamp follows at least so many steps.
	steps int
	empty int // the same for the next data

	msg     unix.Msghdr
	part    unix.Iovec
	control [controlWords]uint64
	n       int
	errno   syscall.Errno
}

// controlWords hold a control message with three times, and half of another.
const controlWords = 12

// newKernelReader returns nil unless the connection is a plain TCP connection: a wrapped one has to be read through its
// wrapper, and packets of a unix socket have no stamps.
func newKernelReader(conn net.Conn, wall *wallClock) *kernelReader {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	var refused error
	if err := raw.Control(func(fd uintptr) { refused = askForStamps(int(fd)) }); err != nil || refused != nil {
		return nil
	}
	r := &kernelReader{conn: tcp, raw: raw, wall: wall}
	r.empty = wall.steps() // data that arrived earlier is not an answer
	r.receive = r.try
	r.msg.Iov = &r.part
	r.msg.SetIovlen(1)
	r.msg.Control = (*byte)(unsafe.Pointer(&r.control))
	return r
}

// read behaves as the connection's own Read, for a p that is not empty, and returns the stamp of the data besides: a
// time of the wall clock in nanoseconds, or noStamp.
func (r *kernelReader) read(p []byte) (int, int64, error) {
	r.part.Base = &p[0]
	r.part.SetLen(len(p))
	err := r.raw.Read(r.receive)
	r.part.Base = nil
	switch {
	case err != nil:
		var op *net.OpError
		if errors.As(err, &op) {
			op.Op = "read" // not raw-read, which package net does not use
		}
		return 0, noStamp, err
	case r.errno != 0:
		return 0, noStamp, &net.OpError{
			Op: "read", Net: r.conn.RemoteAddr().Network(), Source: r.conn.LocalAddr(), Addr: r.conn.RemoteAddr(),
			Err: os.NewSyscallError("read", r.errno),
		}
	case r.n == 0:
		return 0, noStamp, io.EOF
	}
	return r.n, stampIn(r.controlBytes()[:r.msg.Controllen]), nil
}

// try receives waiting data; false for none.
func (r *kernelReader) try(fd uintptr) bool {
	steps := r.wall.steps()
	for {
		r.msg.SetControllen(len(r.controlBytes())) // the kernel left the length of the last message there
		// A raw system call is enough, since it never waits; it saves a twentieth of a read.
		n, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&r.msg)), unix.MSG_DONTWAIT)
		if errno == unix.EINTR {
			continue
		}
		r.n, r.errno = int(n), errno
		break
	}
	if r.errno == unix.EAGAIN {
		r.empty = steps
		return false
	}
	if race.Enabled {
		// A read of nothing tells the detector that data is received after it is sent, as package net does. There is no
		// other way outside the standard library.
		_, _ = syscall.Read(int(fd), nil)
	}
	r.steps = r.empty
	if r.errno == 0 && r.n < int(r.part.Len) {
		r.empty = steps // the data did not fill the buffer
	}
	return true
}

func (r *kernelReader) controlBytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&r.control)), unsafe.Sizeof(r.control))
}

// stampIn finds the stamp in control messages, noStamp if there is none.
func stampIn(control []byte) int64 {
	for len(control) >= unix.SizeofCmsghdr {
		header, data, rest, err := unix.ParseOneSocketControlMessage(control)
		if err != nil {
			return noStamp
		}
		var t unix.Timespec // the software stamp comes first, those of hardware follow
		if header.Level == unix.SOL_SOCKET && header.Type == unix.SCM_TIMESTAMPING &&
			len(data) >= int(unsafe.Sizeof(t)) {
			copy(unsafe.Slice((*byte)(unsafe.Pointer(&t)), unsafe.Sizeof(t)), data)
			return max(noStamp, t.Nano())
		}
		control = rest
	}
	return noStamp
}
