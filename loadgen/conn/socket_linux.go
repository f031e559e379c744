package conn

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"benchtop/internal/race"
)

// socket is a TCP connection with a poller of its own in place of the runtime's, and the kernel's stamps of its data.
// It behaves as a connection of package net. A read allocates nothing and costs one system call, also where it has to
// wait.
//
// One goroutine at a time reads, one writes; the other methods may be called from any.
type socket struct {
	fd            int
	poller        *poller
	wall          *wallClock
	local, remote net.Addr

	readable, writable chan struct{} // of capacity 1
	hungUp             atomic.Bool   // the server sends no more: what there is can be read without a wait
	writing            atomic.Bool   // a write waits

	mu      sync.Mutex // guards what follows, and fd against use after Close
	closed  bool
	readBy  time.Time
	writeBy time.Time
	alarm   *time.Timer // at readBy

	// Of the reading goroutine.

	drained bool // the last read took all there was: the next one waits first
	// steps is the number of steps of the wall clock when the socket was last empty before the data of the last read:
	// the data arrived later, so its stamp follows at least so many steps.
	steps   int
	empty   int // the same for the next data
	msg     unix.Msghdr
	part    unix.Iovec
	control [controlWords]uint64
}

// controlWords hold a control message with three times, and half of another.
const controlWords = 12

// newSocket takes over a connection, and returns nil unless that is a plain TCP connection: a wrapped one has to be
// read through its wrapper, and packets of a unix socket have no stamps.
func newSocket(conn net.Conn, p *poller, wall *wallClock) *socket {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil
	}
	s := &socket{
		fd: -1, poller: p, wall: wall, local: tcp.LocalAddr(), remote: tcp.RemoteAddr(),
		readable: make(chan struct{}, 1), writable: make(chan struct{}, 1),
	}
	// A descriptor of our own, since the runtime polls its own one until that is closed.
	err := control(tcp, func(fd int) {
		if askForStamps(fd) == nil {
			s.fd, _ = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		}
	})
	if err != nil || s.fd < 0 {
		return nil
	}
	if p.add(s) != nil {
		_ = unix.Close(s.fd)
		return nil
	}
	_ = tcp.Close()
	s.empty = wall.steps() // data that arrived earlier is not an answer
	s.msg.Iov = &s.part
	s.msg.SetIovlen(1)
	s.msg.Control = (*byte)(unsafe.Pointer(&s.control))
	return s
}

func (s *socket) LocalAddr() net.Addr  { return s.local }
func (s *socket) RemoteAddr() net.Addr { return s.remote }

// Close wakes a read and a write that wait.
func (s *socket) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.failed("close", net.ErrClosed)
	}
	s.closed = true
	s.poller.remove(s)
	if s.alarm != nil {
		s.alarm.Stop()
	}
	signal(s.readable)
	signal(s.writable)
	return os.NewSyscallError("close", unix.Close(s.fd))
}

// SetDeadline sets both deadlines.
func (s *socket) SetDeadline(t time.Time) error {
	_ = s.SetWriteDeadline(t)
	return s.SetReadDeadline(t)
}

// SetReadDeadline holds for a read that waits, too.
func (s *socket) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.failed("set", net.ErrClosed)
	}
	s.readBy = t
	switch left := time.Until(t); {
	case t.IsZero() && s.alarm != nil:
		s.alarm.Stop()
	case t.IsZero():
	case s.alarm == nil:
		s.alarm = time.AfterFunc(left, func() { signal(s.readable) })
	default:
		s.alarm.Reset(left)
	}
	return nil
}

// SetWriteDeadline holds for later writes.
func (s *socket) SetWriteDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.failed("set", net.ErrClosed)
	}
	s.writeBy = t
	return nil
}

// usable is an error once the socket is closed or its deadline has passed. It is called with the lock.
func (s *socket) usable(deadline time.Time) error {
	switch {
	case s.closed:
		return net.ErrClosed
	case !deadline.IsZero() && time.Until(deadline) <= 0:
		return os.ErrDeadlineExceeded
	}
	return nil
}

// failed is an error as package net has it.
func (s *socket) failed(op string, err error) error {
	return &net.OpError{Op: op, Net: s.remote.Network(), Source: s.local, Addr: s.remote, Err: err}
}

// Read is for reads that need no stamp.
func (s *socket) Read(p []byte) (int, error) {
	n, _, err := s.read(p)
	return n, err
}

// read returns the stamp of the data besides: a time of the wall clock in nanoseconds, or noStamp. After an error the
// next read does not wait, since this one may have been told of data.
func (s *socket) read(p []byte) (int, int64, error) {
	for wait := s.drained && !s.hungUp.Load() && len(p) > 0; ; wait = true {
		if wait {
			if err := s.await(); err != nil {
				s.drained = false
				return 0, noStamp, s.failed("read", err)
			}
		}
		n, err := s.receive(p)
		switch {
		case err == unix.EAGAIN:
			continue
		case err != nil:
			s.drained = false
			return 0, noStamp, s.failed("read", err)
		case n == 0 && len(p) > 0:
			return 0, noStamp, io.EOF
		}
		return n, stampIn(s.controlBytes()[:s.msg.Controllen]), nil
	}
}

// await waits for data, the end of the connection, or that of the time.
func (s *socket) await() error {
	s.mu.Lock()
	err := s.usable(s.readBy)
	s.mu.Unlock()
	if err == nil {
		<-s.readable
	}
	return err
}

// receive reads what is there; EAGAIN for nothing.
func (s *socket) receive(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(s.readBy); err != nil || len(p) == 0 {
		return 0, err
	}
	steps := s.wall.steps()
	s.part.Base = &p[0]
	s.part.SetLen(len(p))
	errno := unix.EINTR
	for errno == unix.EINTR {
		s.msg.SetControllen(len(s.controlBytes())) // the kernel left the length of the last message there
		// A raw system call is enough, since it never waits; it saves a twentieth of a read.
		var got uintptr
		got, _, errno = unix.RawSyscall(unix.SYS_RECVMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&s.msg)),
			unix.MSG_DONTWAIT)
		n = int(got)
	}
	s.part.Base = nil
	if errno == unix.EAGAIN {
		s.empty = steps
		return 0, errno
	}
	if race.Enabled {
		// A read of nothing tells the detector that data is received after it is sent, as package net does. There is no
		// other way outside the standard library.
		_, _ = syscall.Read(s.fd, nil)
	}
	s.steps = s.empty
	if errno != 0 {
		return 0, os.NewSyscallError("read", errno)
	}
	if s.drained = n < len(p); s.drained {
		s.empty = steps
	}
	return n, nil
}

func (s *socket) controlBytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&s.control)), unsafe.Sizeof(s.control))
}

func (s *socket) Write(p []byte) (written int, err error) {
	for {
		n, err := s.send(p[written:])
		written += n
		switch {
		case errors.Is(err, unix.EAGAIN):
			s.awaitRoom()
		case err != nil:
			return written, s.failed("write", err)
		case written == len(p):
			return written, nil
		}
	}
}

// send writes what there is room for; EAGAIN for nothing. A write that then waits is told of room.
func (s *socket) send(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(s.writeBy); err != nil || len(p) == 0 {
		return 0, err
	}
	s.writing.Store(true) // before the socket is full
	n, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(s.fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
	switch errno {
	case 0:
		s.writing.Store(int(n) < len(p))
		return int(n), nil
	case unix.EINTR:
		return 0, nil
	case unix.EAGAIN:
		return 0, errno
	}
	return 0, os.NewSyscallError("write", errno)
}

// awaitRoom waits until there may be room for a write, or its time is over.
func (s *socket) awaitRoom() {
	s.mu.Lock()
	by := s.writeBy
	s.mu.Unlock()
	if by.IsZero() {
		<-s.writable
		return
	}
	over := time.NewTimer(time.Until(by))
	defer over.Stop()
	select {
	case <-s.writable:
	case <-over.C:
	}
}

// SyscallConn gives the descriptor to those who ask the kernel about it.
func (s *socket) SyscallConn() (syscall.RawConn, error) { return descriptor{s}, nil }

// descriptor is that of a socket. It is only looked at.
type descriptor struct{ *socket }

func (d descriptor) Control(f func(fd uintptr)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return net.ErrClosed
	}
	f(uintptr(d.fd))
	return nil
}

func (descriptor) Read(func(uintptr) bool) error  { return errors.ErrUnsupported }
func (descriptor) Write(func(uintptr) bool) error { return errors.ErrUnsupported }
