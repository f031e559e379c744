package pace

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func kinds(roomy bool) []string {
	if roomy {
		return []string{"spin", "timerfd", "ppoll", "timer"}
	}
	return []string{"timerfd", "spin", "ppoll", "timer"}
}

// spinAhead covers almost every wake-up from ppoll (p99 of 140 µs on a busy virtual machine), including the time
// that Go takes to give the thread its P back. It costs 15 % of a core at 1,000 arrivals a second and 55 % at 5,000.
const spinAhead = 200 * time.Microsecond

// ppollSleeper sleeps in ppoll(2) on a thread of its own with the smallest timer slack. Go's own timers are rounded up
// to a millisecond while the process is idle; this wakes within some 50 µs. An eventfd wakes it early.
//
// Some 10 µs of that are Go's: it takes the thread's P away during the sleep, and wakes its monitor thread afterwards.
// A raw system call would keep the P during the sleep, at the cost of the requests. With one P and a busy client,
// requests suffer in either case: of 10,000 streams of 5 chunks a second on one core some were read seconds late, and
// none with timerfd.
type ppollSleeper struct {
	mu     sync.Mutex // guards closed, and event against use after close
	closed bool
	event  int

	// Arguments of the system call, in fields since variables would be allocated for each sleep.
	polled  [1]unix.PollFd
	timeout unix.Timespec
	drain   [8]byte
}

// newSystemSleeper locks its goroutine to its thread for good, since the timer slack belongs to the thread; the thread
// ends with the goroutine.
func newSystemSleeper(kind string) (sleeper, error) {
	if kind == "timerfd" {
		return newTimerfdSleeper()
	}
	runtime.LockOSThread()
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("pacer %s: eventfd: %w; try --pacer timer", kind, err)
	}
	// A failure only costs precision.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	s := &ppollSleeper{event: fd}
	if kind == "spin" {
		// It has the thread to itself, so it need not yield.
		return &spinSleeper{sleeper: s, ahead: spinAhead}, nil
	}
	return s, nil
}

func (s *ppollSleeper) sleep(d time.Duration) {
	s.polled[0] = unix.PollFd{Fd: int32(s.event), Events: unix.POLLIN}
	var timeout *unix.Timespec
	if d >= 0 {
		s.timeout = unix.NsecToTimespec(int64(d))
		timeout = &s.timeout
	}
	// A signal ends the wait early, and the caller sleeps again.
	n, err := unix.Ppoll(s.polled[:], timeout, nil)
	if err == nil && n > 0 {
		_, _ = unix.Read(s.event, s.drain[:])
	}
}

func (s *ppollSleeper) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	_, _ = unix.Write(s.event, []byte{1, 0, 0, 0, 0, 0, 0, 0})
}

func (s *ppollSleeper) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	_ = unix.Close(s.event)
}

// timerfdSleeper sleeps on a timerfd(2) in Go's own poller: the kernel's timer is exact, unlike the poller's own, and
// no thread sleeps in a system call that the requests could use. The poller tells of each end, so nothing is read.
type timerfdSleeper struct {
	timer *os.File
	raw   syscall.RawConn
	fd    int
	step  func(fd uintptr) bool // s.ended, made once

	// Of the sleep that is on.
	length time.Duration
	begun  bool

	mu     sync.Mutex // guards the fields below, and the timer against a wake while it is set or after it is closed
	woken  bool
	closed bool
}

func newTimerfdSleeper() (sleeper, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("pacer timerfd: %w; try --pacer timer", os.NewSyscallError("timerfd_create", err))
	}
	s := &timerfdSleeper{timer: os.NewFile(uintptr(fd), "timer"), fd: fd}
	s.step = s.ended
	s.raw, err = s.timer.SyscallConn()
	return s, err
}

func (s *timerfdSleeper) sleep(d time.Duration) {
	if d < 0 {
		d = time.Hour // the caller sleeps again
	}
	s.length, s.begun = d, false
	_ = s.raw.Read(s.step)
}

// ended begins the sleep when it is first called, after which the poller keeps what it tells, and then ends it.
func (s *timerfdSleeper) ended(uintptr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.begun && !s.woken {
		s.set(s.length)
		s.begun = true
		return false
	}
	s.woken = false
	return true
}

// set has the timer end after d. A raw system call, which does not wait, spares the runtime's monitor a wake.
func (s *timerfdSleeper) set(d time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(d, 1)))}
	_, _, _ = unix.RawSyscall6(unix.SYS_TIMERFD_SETTIME, uintptr(s.fd), 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
}

func (s *timerfdSleeper) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.woken = true
	s.set(1)
}

func (s *timerfdSleeper) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	_ = s.timer.Close()
}
