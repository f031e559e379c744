package loadgen

import (
	"sync"

	"benchtop/metrics"
)

// limiter lets at most so many jobs run at once and starts the others in the order they came, those that go on with a
// conversation before those that begin one. A job that waits is an entry in a queue, not a goroutine; a goroutine that
// ends a job goes on with the next. The limit may be changed while it works.
type limiter struct {
	// work counts goroutines, and the conversations that were entered and have not left.
	work sync.WaitGroup

	mu       sync.Mutex    // guards everything below
	limit    int           // of jobs; 0: none, negative: nothing is started
	most     int           // conversations; 0: no limit, negative: none begins
	paused   bool          // nothing is started
	running  int           // jobs
	active   int           // conversations that have begun and not left
	entered  int           // conversations that have not left, those that wait in the queue among them
	resuming []*job        // go on with a conversation
	queue    []*job        // begin one
	shorter  chan struct{} // closed when the queue gets shorter; nil without a waiter
	closed   bool
}

// enter announces a conversation, whose first job is submitted next. It must leave.
func (l *limiter) enter() {
	l.work.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entered++
}

// waiting reports whether more may start though nothing more is submitted: a job is queued, or a conversation is
// between two turns.
func (l *limiter) waiting() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue) > 0 || len(l.resuming) > 0 || l.entered > l.running
}

// submit starts the first job of a conversation now or puts it at the end of the queue; not ok after close.
func (l *limiter) submit(j *job) (started, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return false, false
	case l.free() && len(l.resuming) == 0 && len(l.queue) == 0 && l.admits():
		l.active++
		j.atOnce = true
		l.start(j)
		return true, true
	}
	l.queue = append(l.queue, j)
	return false, true
}

// resume starts a later job of a conversation, or queues it before those that begin one; not ok after close.
func (l *limiter) resume(j *job) (ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return false
	case l.free() && len(l.resuming) == 0:
		j.atOnce = true
		l.start(j)
	default:
		l.resuming = append(l.resuming, j)
	}
	return true
}

// leave ends a conversation. begun says that its first job was started.
func (l *limiter) leave(begun bool) {
	defer l.work.Done()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entered--
	if begun {
		l.active--
		l.fill()
	}
}

func (l *limiter) free() bool { return !l.paused && (l.limit == 0 || l.running < l.limit) }

// admits reports whether another conversation may begin.
func (l *limiter) admits() bool { return l.most == 0 || l.active < l.most }

func (l *limiter) start(j *job) {
	l.running++
	l.work.Go(func() {
		for ; j != nil; j = l.next() {
			j.run()
		}
	})
}

// next ends a job and returns the one to go on with, nil for none.
func (l *limiter) next() *job {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running--
	if !l.free() {
		return nil
	}
	j := l.pop()
	if j != nil {
		l.running++
	}
	return j
}

// pop takes the next job that may start, nil for none.
func (l *limiter) pop() (j *job) {
	switch {
	case len(l.resuming) > 0:
		l.resuming, j = pop(l.resuming)
	case len(l.queue) > 0 && l.admits():
		l.queue, j = pop(l.queue)
		l.active++
		l.signal()
	}
	return j
}

// pop takes the first of a queue and forgets it there.
func pop(queue []*job) (rest []*job, first *job) {
	first, queue[0] = queue[0], nil
	return queue[1:], first
}

// signal wakes goroutines that wait for a shorter queue.
func (l *limiter) signal() {
	if l.shorter != nil {
		close(l.shorter)
		l.shorter = nil
	}
}

// wait returns when all conversations have left. It follows the last submit.
func (l *limiter) wait() { l.work.Wait() }

// setLimit changes the limit, 0 for none. A lower one takes effect as running jobs end.
func (l *limiter) setLimit(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limit = n
	l.fill()
}

// setMost changes the limit of conversations, 0 for none. A lower one takes effect as conversations leave.
func (l *limiter) setMost(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.most = n
	l.fill()
}

// setPaused begins or ends a pause in which nothing is started. Running jobs go on.
func (l *limiter) setPaused(paused bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paused = paused
	l.fill()
}

// fill starts queued jobs up to the limit.
func (l *limiter) fill() {
	for l.free() {
		j := l.pop()
		if j == nil {
			return
		}
		l.start(j)
	}
}

// backlog returns a channel that closes when the queue gets shorter if at least n jobs wait in it, else nil.
func (l *limiter) backlog(n int) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) < n {
		return nil
	}
	if l.shorter == nil {
		l.shorter = make(chan struct{})
	}
	return l.shorter
}

// close takes no more jobs and returns those that never started. Running ones go on.
func (l *limiter) close() []*job {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	dropped := append(l.resuming, l.queue...)
	l.resuming, l.queue = nil, nil
	l.signal()
	return dropped
}

// share is the part of a limit that is an engine's own. A limit stays one where the others have all of it.
func share(p metrics.Part, limit int) int {
	if n := p.Of(limit); n > 0 || limit <= 0 {
		return max(n, 0)
	}
	return -1
}
