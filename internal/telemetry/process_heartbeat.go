package telemetry

import (
	"sync"
	"time"
)

// beatEvery is how often the heartbeat wakes.
const beatEvery = 20 * time.Millisecond

// heartbeat is a goroutine that wakes on a timer and notes how late. What keeps it from running, SIGSTOP, a frozen
// control group or other processes on our cores, keeps everything else in the process from running too.
type heartbeat struct {
	over    chan struct{}
	stopped sync.WaitGroup
	once    sync.Once

	start time.Time
	mu    sync.Mutex // guards late
	late  lateness
}

func startHeartbeat() *heartbeat {
	h := &heartbeat{over: make(chan struct{}), start: time.Now()}
	h.late.due = beatEvery
	h.stopped.Go(h.run)
	return h
}

func (h *heartbeat) run() {
	// A timer that is set anew rather than a ticker, so that each beat is due one interval after the last, also after a
	// stall.
	timer := time.NewTimer(beatEvery)
	defer timer.Stop()
	for {
		select {
		case <-h.over:
			return
		case <-timer.C:
			h.beat()
			timer.Reset(beatEvery)
		}
	}
}

func (h *heartbeat) beat() {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Since(h.start)
	h.late.look(now)
	h.late.due = now + beatEvery
}

// stall is how late a beat was, at most, since the last call.
func (h *heartbeat) stall() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.late.take(time.Since(h.start))
}

func (h *heartbeat) close() {
	h.once.Do(func() { close(h.over) })
	h.stopped.Wait()
}

// lateness follows how late beats are. It is told the time, as an offset from any start.
//
//	due              take          beat
//	 |---------------->|------------>|      two parts of one stall, each in its own sample
type lateness struct {
	due     time.Duration // of the next beat
	counted time.Duration // up to then a beat that was due is in a sample already
	most    time.Duration
}

// look notes how late the beat is, whether it has come or not.
func (l *lateness) look(now time.Duration) {
	l.most = max(l.most, now-max(l.due, l.counted))
}

// take returns the most there was since the last call.
func (l *lateness) take(now time.Duration) time.Duration {
	l.look(now)
	most := l.most
	l.most, l.counted = 0, max(l.counted, now)
	return most
}
