package loadgen

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

var systemPacers = []string{"ppoll"}

// ppollSleeper sleeps in ppoll(2) on a thread of its own with the smallest timer slack. Go's own timers are rounded up
// to a millisecond while the process is idle; this wakes within some 50 µs. An eventfd wakes it early.
type ppollSleeper struct {
	mu     sync.Mutex // guards closed, and event against use after close
	closed bool
	event  int
}

// newSystemSleeper locks its goroutine to its thread for good, since the timer slack belongs to the thread; the thread
// ends with the goroutine.
func newSystemSleeper() (sleeper, error) {
	runtime.LockOSThread()
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("pacer ppoll: eventfd: %w; try --pacer timer", err)
	}
	// A failure only costs precision.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	return &ppollSleeper{event: fd}, nil
}

func (s *ppollSleeper) sleep(d time.Duration) {
	fds := []unix.PollFd{{Fd: int32(s.event), Events: unix.POLLIN}}
	var timeout *unix.Timespec
	if d >= 0 {
		t := unix.NsecToTimespec(int64(d))
		timeout = &t
	}
	// A signal ends the wait early, which the caller's loop makes good.
	n, err := unix.Ppoll(fds, timeout, nil)
	if err == nil && n > 0 {
		var drain [8]byte
		_, _ = unix.Read(s.event, drain[:])
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
