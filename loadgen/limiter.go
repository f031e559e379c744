package loadgen

import "sync"

// limiter lets at most so many jobs run at once and starts the others in the order they came. A job that waits is an
// entry in a queue, not a goroutine; a goroutine that ends a job goes on with the next. The limit may be changed while
// it works.
type limiter struct {
	work sync.WaitGroup

	mu      sync.Mutex // guards everything below
	limit   int        // 0: none
	paused  bool       // nothing is started
	running int
	queue   []*job
	shorter chan struct{} // closed when the queue gets shorter; nil without a waiter
	closed  bool
}

// submit starts a job now or puts it at the end of the queue; not ok after close.
func (l *limiter) submit(j *job) (started, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return false, false
	case l.free() && len(l.queue) == 0:
		l.start(j)
		return true, true
	}
	l.queue = append(l.queue, j)
	return false, true
}

func (l *limiter) free() bool { return !l.paused && (l.limit == 0 || l.running < l.limit) }

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

func (l *limiter) pop() *job {
	if len(l.queue) == 0 {
		return nil
	}
	j := l.queue[0]
	l.queue[0] = nil
	l.queue = l.queue[1:]
	l.signal()
	return j
}

// signal wakes goroutines that wait for a shorter queue.
func (l *limiter) signal() {
	if l.shorter != nil {
		close(l.shorter)
		l.shorter = nil
	}
}

// wait returns when all jobs have ended, those queued by a pause included. It follows the last submit.
func (l *limiter) wait() {
	for shorter := l.backlog(1); shorter != nil; shorter = l.backlog(1) {
		<-shorter
	}
	l.work.Wait()
}

// setLimit changes the limit, 0 for none. A lower one takes effect as running jobs end.
func (l *limiter) setLimit(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limit = max(n, 0)
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
	dropped := l.queue
	l.queue = nil
	l.signal()
	return dropped
}
