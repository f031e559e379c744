package link

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Replica copies the file of a [Source]: each byte once, in order, however messages are lost, doubled or late.
type Replica struct {
	wire    Wire
	subject string
	write   func([]byte) error
	live    func([]byte)

	mu       sync.Mutex // guards the fields below
	state    Copy
	last     uint64    // the number of the latest notice
	moved    time.Time // when bytes came, or a notice that nothing is missing
	err      error     // of write, or of a file that is another one
	finished bool

	soon     chan struct{} // something may be missing
	done     chan struct{} // finished: everything is here, or never will be
	ctx      context.Context
	cancel   context.CancelFunc
	stopped  chan struct{}
	unhandle func()
}

// Copy is how far a replica has come.
type Copy struct {
	Have, Length int64     // bytes of the file: here, and at the source as far as is known
	Ended        bool      // the file does not grow any more
	Lost         uint64    // notices that did not come, with their live records
	Heard        time.Time // when the last notice came
}

// silence is how long a replica waits for bytes that it lacks before it says so.
const silence = 30 * time.Second

// NewReplica copies the file of a subject from an offset on, which is how much of it is here already. Write takes the
// bytes in order, from one goroutine; after its first error no more are fetched. Live takes the live records of a
// notice as it comes, and may be nil. Close ends the replica.
func NewReplica(w Wire, subject string, have int64, write func([]byte) error, live func([]byte)) (*Replica, error) {
	r := &Replica{wire: w, subject: subject, write: write, live: live, moved: time.Now(),
		state: Copy{Have: have, Length: have},
		soon:  make(chan struct{}, 1), done: make(chan struct{}), stopped: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	var err error
	if r.unhandle, err = w.Handle(subject, r.notice); err != nil {
		return nil, err
	}
	go r.run()
	return r, nil
}

func (r *Replica) notice(_ string, data []byte) []byte {
	if len(data) < noticeHead {
		return nil
	}
	number, length := binary.BigEndian.Uint64(data), int64(binary.BigEndian.Uint64(data[8:]))
	r.mu.Lock()
	if number <= r.last { // doubled or overtaken
		r.mu.Unlock()
		return nil
	}
	if r.last > 0 {
		r.state.Lost += number - r.last - 1
	}
	r.last = number
	r.state.Length = max(r.state.Length, length)
	r.state.Ended = r.state.Ended || data[16] == 1
	r.state.Heard = time.Now()
	if r.state.Ended && length < r.state.Have {
		r.finish(fmt.Errorf("%s: the copy has %d bytes, and the file on the worker only %d: it is another file",
			r.subject, r.state.Have, length))
	}
	if r.state.Have >= r.state.Length {
		r.moved = r.state.Heard
	}
	r.mu.Unlock()
	wake(r.soon)
	if live := data[noticeHead:]; len(live) > 0 && r.live != nil {
		r.live(live)
	}
	return nil
}

// finish ends the waiting. The mutex is held.
func (r *Replica) finish(err error) {
	if !r.finished {
		r.finished, r.err = true, err
		close(r.done)
	}
}

// run fetches what is missing, one answer after another.
func (r *Replica) run() {
	defer close(r.stopped)
	limit := largestFetch
	for {
		switch p := r.Progress(); {
		case r.failure() != nil:
			return
		case p.Have < p.Length:
			switch n, err := r.fetch(p.Have, limit); {
			case n > 0:
				limit = min(2*limit, largestFetch)
				continue
			case errors.Is(err, context.DeadlineExceeded):
				limit = max(limit/2, smallestFetch)
			}
			time.Sleep(every)
			wake(r.soon)
		case p.Ended:
			r.thank(p.Have)
		}
		select {
		case <-r.soon:
		case <-r.ctx.Done():
			return
		}
	}
}

// thank tells the source, which waits for it, that everything is here, and again with each notice by which it still
// waits. The source is gone, or has heard it, when nobody answers.
func (r *Replica) thank(have int64) {
	for range 3 {
		if _, err := r.fetch(have, 0); err == nil || errors.Is(err, ErrNobody) || r.ctx.Err() != nil {
			break
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finish(nil)
}

// fetch asks for bytes and writes them.
func (r *Replica) fetch(have int64, limit int) (int, error) {
	ctx, cancel := context.WithTimeout(r.ctx, fetchFor)
	defer cancel()
	ask := binary.BigEndian.AppendUint64(nil, uint64(have))
	data, err := r.wire.Request(ctx, r.subject+".fetch", binary.BigEndian.AppendUint32(ask, uint32(limit)))
	if err != nil || len(data) == 0 {
		return 0, err
	}
	err = r.write(data)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.finish(err)
		return 0, err
	}
	r.state.Have += int64(len(data))
	r.state.Length = max(r.state.Length, r.state.Have)
	r.moved = time.Now()
	return len(data), nil
}

func (r *Replica) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Progress is how far the copy is.
func (r *Replica) Progress() Copy {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// Wait waits until the file has ended and all of it is here. Its error says how much is missing when the context is
// done or nothing has come for half a minute; then the replica goes on, and Wait may be called again. Other errors are
// those of write, and of a file on the worker that is shorter than the copy.
func (r *Replica) Wait(ctx context.Context) error {
	for {
		r.mu.Lock()
		left := silence - time.Since(r.moved)
		r.mu.Unlock()
		err := fmt.Errorf("nothing has come for %d s", int(silence.Seconds()))
		select {
		case <-r.done:
			return r.failure()
		case <-r.ctx.Done():
			err = errors.New("closed")
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-time.After(left):
			if left > 0 { // look again: something may have come meanwhile
				continue
			}
		}
		p, all := r.Progress(), "at least "
		if p.Ended {
			all = ""
		}
		return fmt.Errorf("%s: %d of %s%d bytes are here: %w", r.subject, p.Have, all, p.Length, err)
	}
}

// Close ends the replica.
func (r *Replica) Close() {
	r.cancel()
	<-r.stopped
	r.unhandle()
}
