package conn

import (
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// poller tells sockets that data came, many at a time. The runtime's own poller wakes the process for every packet,
// which costs more than the chunk in it. Since the kernel has the time of a packet, it may wait to be read with others:
// under load the poller rests for pollPause between two looks.
//
// While it does not rest, it waits at a gate: an epoll in the runtime's poller, which lets one event of the sockets'
// epoll through and is shut until it is set again.
type poller struct {
	fd     int // epoll of the sockets, edge-triggered
	gate   *os.File
	gateFD int
	begin  func() // starts the goroutine, with the first socket
	events [256]unix.EpollEvent
	closed atomic.Bool

	mu      sync.Mutex
	sockets []*socket // by descriptor

	// Counts since the last decision whether to rest.
	since        time.Time
	seen         int          // sockets with data
	quick, young atomic.Int64 // reads soon after the one before, and soon after the request
	rests        bool
}

const (
	// pollPause is the shortest sleep of an idle process: the runtime rounds it up to a millisecond.
	pollPause = time.Millisecond
	// restWindow is the time between two decisions whether to rest.
	restWindow = 20 * time.Millisecond
	// restFrom is the rate of reads from which a rest brings several of them together.
	restFrom = 2_000
	// youngLess is the age of a request below which a rest would add noticeably to it: the next one of a user starts
	// that much later. Half of the reads are of older ones, or there is no rest.
	youngLess = 200 * pollPause
	// quickLess is a gap between two reads of a socket that a rest could make one, which then has one time. At most one
	// in quickShare reads has one, such as those of the end of an answer, or there is no rest.
	quickLess  = 2 * pollPause
	quickShare = 8
)

// newPoller makes a poller, to be closed. Its goroutine starts with the first socket.
func newPoller() (*poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	gate, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		_ = unix.Close(fd)
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	_ = unix.SetNonblock(gate, true) // so that the runtime polls it
	p := &poller{fd: fd, gate: os.NewFile(uintptr(gate), "gate"), gateFD: gate, since: time.Now()}
	raw, err := p.gate.SyscallConn()
	if err == nil {
		err = unix.EpollCtl(gate, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: gateEvents})
	}
	if err != nil {
		_ = unix.Close(fd)
		_ = p.gate.Close()
		return nil, os.NewSyscallError("epoll_ctl", err)
	}
	p.begin = sync.OnceFunc(func() { go p.run(raw) })
	return p, nil
}

const (
	gateEvents   = unix.EPOLLIN | unix.EPOLLONESHOT
	socketEvents = unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET
	hungUpEvents = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
)

func (p *poller) close() {
	if !p.closed.Swap(true) {
		_ = p.gate.Close()
		p.begin() // which closes the other
	}
}

// run wakes sockets until the gate is closed.
func (p *poller) run(gate syscall.RawConn) {
	_ = gate.Read(func(uintptr) bool {
		var passed [1]unix.EpollEvent
		if ready(p.gateFD, passed[:]) > 0 { // which shuts it
			p.look()
			p.set()
		}
		return false
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = unix.Close(p.fd)
	p.fd = -1
}

// ready returns the events of an epoll without waiting. Since a raw system call does not tell the runtime of itself, it
// does not wake the runtime's monitor either, whose sleeps would cost as much as the reads.
func ready(epoll int, events []unix.EpollEvent) int {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll), uintptr(unsafe.Pointer(&events[0])),
		uintptr(len(events)), 0, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// set sets the gate to let an event through.
func (p *poller) set() {
	e := unix.EpollEvent{Events: gateEvents}
	_, _, _ = unix.RawSyscall6(unix.SYS_EPOLL_CTL, uintptr(p.gateFD), unix.EPOLL_CTL_MOD, uintptr(p.fd),
		uintptr(unsafe.Pointer(&e)), 0, 0)
}

// look wakes the sockets that have data, and goes on to do so while it rests in between.
func (p *poller) look() {
	for !p.closed.Load() {
		n := ready(p.fd, p.events[:])
		if n == 0 {
			return
		}
		p.wake(p.events[:n])
		switch rests := p.decide(n); {
		case n == len(p.events): // there may be more
		case !rests:
			return
		default:
			time.Sleep(pollPause)
		}
	}
}

func (p *poller) wake(events []unix.EpollEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range events {
		e := &events[i]
		if int(e.Fd) >= len(p.sockets) || p.sockets[e.Fd] == nil {
			continue // closed meanwhile
		}
		s := p.sockets[e.Fd]
		if e.Events&hungUpEvents != 0 {
			s.hungUp.Store(true)
		}
		signal(s.readable)
		if e.Events&(unix.EPOLLOUT|hungUpEvents) != 0 && s.writing.Load() {
			signal(s.writable)
		}
	}
}

// decide counts n sockets with data and reports whether to rest.
func (p *poller) decide(n int) bool {
	p.seen += n
	if past := time.Since(p.since); past >= restWindow {
		seen := int64(p.seen)
		p.rests = float64(seen) >= restFrom*past.Seconds() &&
			p.quick.Load() <= seen/quickShare && p.young.Load() <= seen/2
		p.since, p.seen = p.since.Add(past), 0
		p.quick.Store(0)
		p.young.Store(0)
	}
	return p.rests
}

// add has a socket told of its data.
func (p *poller) add(s *socket) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := unix.EpollCtl(p.fd, unix.EPOLL_CTL_ADD, s.fd, &unix.EpollEvent{Events: socketEvents, Fd: int32(s.fd)})
	if err != nil {
		return os.NewSyscallError("epoll_ctl", err)
	}
	for len(p.sockets) <= s.fd {
		p.sockets = append(p.sockets, nil)
	}
	p.sockets[s.fd] = s
	p.begin()
	return nil
}

// remove forgets a socket, which the kernel forgets when it is closed.
func (p *poller) remove(s *socket) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.fd < len(p.sockets) && p.sockets[s.fd] == s {
		p.sockets[s.fd] = nil
	}
}

// arrived counts a read of a socket: the gap to the one before, and the age of its request.
func (p *poller) arrived(gap, age time.Duration) {
	if gap < quickLess {
		p.quick.Add(1)
	}
	if age < youngLess {
		p.young.Add(1)
	}
}

// signal wakes the goroutine that waits on a channel of capacity 1, or the next one that does.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
