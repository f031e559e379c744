package metronome

import (
	"container/heap"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// scheduler writes the chunks of all paced streams when they are due, from one goroutine. It sleeps on a timerfd(2) in
// Go's poller: Go's timers are rounded up to a millisecond while a process is idle, and a thread asleep in a system
// call of its own would keep a processor, perhaps the only one, from the connections. Its writes never block: the
// stream of a client that does not read goes back to its connection.
type scheduler struct {
	clock clock
	timer *os.File
	fd    int // of the timer
	ended chan struct{}

	mu      sync.Mutex // guards the fields up to news
	fresh   []*stream
	sleeper int64 // the end of the present sleep; 0 while awake
	closed  bool

	news atomic.Bool // fresh or closed has changed

	// The following fields belong to the writing goroutine.
	schedule schedule
	piece    []byte
	n        int
	errno    error
	put      func(fd uintptr) bool // writes piece; made once
}

// newScheduler returns nil if the system has no timerfd.
func newScheduler(c clock) *scheduler {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil
	}
	s := &scheduler{clock: c, timer: os.NewFile(uintptr(fd), "timer"), fd: fd, ended: make(chan struct{})}
	s.put = s.write
	go s.run()
	return s
}

// play writes the chunks of a stream until its end, an error, a write that would block, or the first chunk if there is
// no pace to keep. It returns false if the scheduler was closed.
func (s *scheduler) play(t *stream) bool {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return false
	}
	s.fresh = append(s.fresh, t)
	s.news.Store(true)
	if t.due < s.sleeper {
		s.sleeper = 0
		s.set(1) // ends the sleep
	}
	s.mu.Unlock()
	<-t.back
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.closed
}

// set makes the timer readable after a time, which must be above 0.
func (s *scheduler) set(d time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	_ = unix.TimerfdSettime(s.fd, 0, &spec, nil) // cannot fail with these arguments
}

// close returns all streams to their connections and waits for the goroutine. It is called once.
func (s *scheduler) close() {
	s.mu.Lock()
	s.closed = true
	s.news.Store(true)
	s.set(1) // ends the sleep
	s.mu.Unlock()
	<-s.ended
	_ = s.timer.Close()
}

func (s *scheduler) run() {
	defer close(s.ended)
	for {
		if s.news.Load() && !s.takeNews() {
			break
		}
		if len(s.schedule) == 0 {
			s.sleep(math.MaxInt64)
			continue
		}
		now := s.clock.now()
		if due := s.schedule[0].due; due > now {
			s.sleep(due)
			continue
		}
		s.writeDue(now)
	}
	for _, a := range s.schedule {
		a.s.back <- struct{}{}
	}
}

// takeNews moves new streams to the schedule. It returns false once the scheduler is closed.
func (s *scheduler) takeNews() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.news.Store(false)
	for i, t := range s.fresh {
		heap.Push(&s.schedule, dueStream{t.due, t})
		s.fresh[i] = nil
	}
	s.fresh = s.fresh[:0]
	return !s.closed
}

// writeDue writes the chunk that is due first.
func (s *scheduler) writeDue(now int64) {
	t := s.schedule[0].s
	s.piece, s.n, s.errno = t.advance(now), 0, nil
	if err := t.raw.Write(s.put); err != nil {
		t.err = err
	} else if s.errno != nil {
		t.err = s.errno
	} else {
		t.rest = s.piece[s.n:]
	}
	if t.err != nil || len(t.rest) > 0 || t.next == t.chunks || t.pace.itl == 0 {
		heap.Pop(&s.schedule)
		t.back <- struct{}{}
		return
	}
	s.schedule[0].due = t.due
	heap.Fix(&s.schedule, 0)
}

// write writes as much as it can without blocking.
func (s *scheduler) write(fd uintptr) bool {
	for {
		n, err := unix.Write(int(fd), s.piece)
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
		case err != nil:
			s.errno = err
		default:
			s.n = n
		}
		return true
	}
}

// sleep waits until a time or for news.
func (s *scheduler) sleep(until int64) {
	s.mu.Lock()
	if s.news.Load() {
		s.mu.Unlock()
		return
	}
	s.sleeper = until
	// An hour is long enough for an endless sleep.
	s.set(time.Duration(min(max(until-s.clock.now(), 1), int64(time.Hour))))
	s.mu.Unlock()
	var expirations [8]byte
	if _, err := s.timer.Read(expirations[:]); err != nil {
		time.Sleep(time.Millisecond) // rather than spin
	}
	s.mu.Lock()
	s.sleeper = 0
	s.mu.Unlock()
}

// schedule holds streams, the one due first on top: a heap with the due times next to the pointers, so that sifting
// touches no stream.
type schedule []dueStream

type dueStream struct {
	due int64
	s   *stream
}

func (a schedule) Len() int           { return len(a) }
func (a schedule) Less(i, j int) bool { return a[i].due < a[j].due }
func (a schedule) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *schedule) Push(x any)        { *a = append(*a, x.(dueStream)) }

// Pop removes the last of the slice, for the heap.
func (a *schedule) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	(*a)[last] = dueStream{} // forget the stream
	*a = (*a)[:last]
	return x
}
