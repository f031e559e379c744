package loadgen

import (
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// timerfdSleeper sleeps on a timerfd(2) in Go's own poller: the kernel's timer is exact, unlike the poller's own, and no
// thread sleeps in a system call that the requests could use.
type timerfdSleeper struct {
	timer *os.File
	fd    int
	spent [8]byte

	mu     sync.Mutex // guards what follows, and the timer against a wake while it is set or after it is closed
	woken  bool
	closed bool
}

func newTimerfdSleeper() (sleeper, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("pacer timerfd: %w; try --pacer timer", os.NewSyscallError("timerfd_create", err))
	}
	return &timerfdSleeper{timer: os.NewFile(uintptr(fd), "timer"), fd: fd}, nil
}

func (s *timerfdSleeper) sleep(d time.Duration) {
	s.mu.Lock()
	if s.woken {
		s.woken = false
		s.mu.Unlock()
		return
	}
	if d < 0 {
		d = time.Hour // long enough: the caller comes again
	}
	s.set(d)
	s.mu.Unlock()
	_, _ = s.timer.Read(s.spent[:])
	s.mu.Lock()
	s.woken = false
	s.mu.Unlock()
}

// set makes the timer readable after a time above 0.
func (s *timerfdSleeper) set(d time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(d, 1)))}
	_ = unix.TimerfdSettime(s.fd, 0, &spec, nil)
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
