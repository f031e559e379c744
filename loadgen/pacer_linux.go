package loadgen

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

func pacerKinds(roomy bool) []string {
	if roomy {
		return []string{"spin", "timerfd", "ppoll", "timer"}
	}
	return []string{"timerfd", "spin", "ppoll", "timer"}
}

// spinAhead covers almost every wake-up from ppoll (p99 of 140 µs on a busy virtual machine), and with that also what Go
// takes to give the thread its place back. It costs 15 % of a core at 1,000 arrivals a second and 55 % at 5,000.
const spinAhead = 200 * time.Microsecond

// ppollSleeper sleeps in ppoll(2) on a thread of its own with the smallest timer slack. Go's own timers are rounded up
// to a millisecond while the process is idle; this wakes within some 50 µs. An eventfd wakes it early.
//
// Some 10 µs of that are Go's: it takes the thread's place among those that run Go code (its P) away during the sleep, and
// wakes its monitor thread when the sleep is over. A raw system call would avoid it by sleeping with the place occupied, at
// the cost of the requests. With one place and a busy client this is bad: 10,000 streams of 5 chunks a second on one core had
// some read seconds late, and none with timerfd.
type ppollSleeper struct {
	mu     sync.Mutex // guards closed, and event against use after close
	closed bool
	event  int

	// What the system call is given. In fields, since variables would be allocated for each sleep.
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
		// The thread is its own, so there is nobody to yield to.
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
	// A signal ends the wait early, which the caller's loop makes good.
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
