package link

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// every is how often a source tells how long its file is, if nothing makes it tell earlier.
	every = 250 * time.Millisecond
	// liveBatch is the size of live records in bytes at which they are sent at once.
	liveBatch = 256 << 10
	// largestFetch and smallestFetch bound the bytes of one answer. If they do not come in time, fewer are asked for.
	largestFetch, smallestFetch = 1 << 20, 16 << 10
	fetchFor                    = 2 * time.Second
)

// The notice of a source has a head of fixed size, and live records behind it:
//
//	number    uint64  1, 2, 3, …
//	length    uint64  of the file, up to its last new line
//	ended     uint8   1: the file does not grow any more
const noticeHead = 8 + 8 + 1

// A fetch asks for bytes from an offset (uint64), as many as a limit (uint32). The answer is those bytes alone. A fetch
// of limit 0 has everything before its offset.
const fetchSize = 8 + 4

// Source offers a file that grows to a [Replica] elsewhere, and sends live records beside it. It tells how long the
// file is four times a second; the replica fetches what it lacks. So a message lost costs nothing but time, and the
// receiver sets the pace.
type Source struct {
	wire    Wire
	subject string
	file    io.ReaderAt

	length atomic.Int64 // of the whole lines, or of the file once it is complete
	copied atomic.Int64 // what the replica says that it has
	ending atomic.Bool  // the file does not grow any more
	ended  atomic.Bool  // and length is that of all of it

	mu      sync.Mutex // guards the fields below
	pending []byte     // a notice: room for its head, and live records
	trouble error      // of the last read

	spare      []byte        // a buffer to reuse, of the goroutine alone
	soon       chan struct{} // requests a notice now
	told       chan struct{} // copied has changed
	stop, done chan struct{} // of the goroutine
	unhandle   func()
	closing    sync.Once
}

// NewSource offers a file to which another goroutine appends lines. The file stays the caller's. Close ends it.
func NewSource(w Wire, subject string, file io.ReaderAt) (*Source, error) {
	s := &Source{wire: w, subject: subject, file: file, pending: make([]byte, noticeHead),
		soon: make(chan struct{}, 1), told: make(chan struct{}, 1),
		stop: make(chan struct{}), done: make(chan struct{})}
	var err error
	if s.unhandle, err = w.Handle(subject+".fetch", s.fetch); err != nil {
		return nil, err
	}
	go s.run()
	return s, nil
}

// Live sends a record with the next notice, at best: it is lost where the notice is. How records are told apart is the
// caller's business; each arrives as a whole. The record is copied.
func (s *Source) Live(record []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending)+len(record) > 2*liveBatch {
		return // the goroutine does not keep up
	}
	s.pending = append(s.pending, record...)
	if len(s.pending) >= liveBatch {
		wake(s.soon)
	}
}

// wake makes a goroutine look, if it has not been told yet.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (s *Source) run() {
	defer close(s.done)
	tick := time.NewTicker(every)
	defer tick.Stop()
	buffer := make([]byte, 64<<10)
	for number, seen := uint64(1), int64(0); ; number++ {
		ending := s.ending.Load() // before the scan, which then reads all
		var err error
		if seen, err = s.scan(buffer, seen); ending && err == nil {
			s.length.Store(seen)
			s.ended.Store(true)
		}
		s.notify(number, err)
		select {
		case <-s.stop:
			return
		case <-tick.C:
		case <-s.soon:
		}
	}
}

// scan reads what was appended since, finds the last new line of it, and returns how far it has read. What cannot be
// read now is read later.
func (s *Source) scan(buffer []byte, seen int64) (int64, error) {
	for {
		n, err := s.file.ReadAt(buffer, seen)
		if i := bytes.LastIndexByte(buffer[:n], '\n'); i >= 0 {
			s.length.Store(seen + int64(i) + 1)
		}
		seen += int64(n)
		switch {
		case errors.Is(err, io.EOF):
			return seen, nil
		case err != nil:
			return seen, err
		}
	}
}

func (s *Source) notify(number uint64, trouble error) {
	s.mu.Lock()
	notice := s.pending
	s.pending = append(s.spare[:0], make([]byte, noticeHead)...)
	s.trouble = trouble
	s.mu.Unlock()
	binary.BigEndian.PutUint64(notice, number)
	binary.BigEndian.PutUint64(notice[8:], uint64(s.length.Load()))
	if s.ended.Load() {
		notice[16] = 1
	}
	if len(notice) > s.wire.MaxPayload() {
		notice = notice[:noticeHead]
	}
	_ = s.wire.Publish(s.subject, notice) // if it is lost, the next one says the same, and its number tells
	s.spare = notice                      // of this goroutine alone
}

// fetch answers with bytes of the file that end with a line, if one ends among them.
func (s *Source) fetch(_ string, data []byte) []byte {
	if len(data) != fetchSize {
		return nil
	}
	offset, length := int64(binary.BigEndian.Uint64(data)), s.length.Load()
	limit := int64(binary.BigEndian.Uint32(data[8:]))
	if offset < 0 || offset > length {
		return nil
	}
	if limit == 0 {
		s.copied.Store(offset)
		wake(s.told)
		return []byte{}
	}
	answer := make([]byte, min(limit, largestFetch, int64(s.wire.MaxPayload()), length-offset))
	n, _ := s.file.ReadAt(answer, offset) // what is missing is asked for again
	if i := bytes.LastIndexByte(answer[:n], '\n'); i >= 0 {
		n = i + 1
	}
	return answer[:n]
}

// End says that the file does not grow any more, and waits until the replica has all of it, its last line whole or not.
// If the context is done before, the error says how much the replica may lack.
func (s *Source) End(ctx context.Context) error {
	s.ending.Store(true)
	wake(s.soon)
	for !s.ended.Load() || s.copied.Load() < s.length.Load() {
		select {
		case <-s.told:
		case <-s.done:
			return fmt.Errorf("%s: closed before the coordinator had all of it", s.subject)
		case <-ctx.Done():
			s.mu.Lock()
			defer s.mu.Unlock()
			return errors.Join(fmt.Errorf("%s: the coordinator did not say in time that it has all %d bytes: %w",
				s.subject, s.length.Load(), context.Cause(ctx)), s.trouble)
		}
	}
	return nil
}

// Close ends the source: nothing is told or answered any more.
func (s *Source) Close() {
	s.closing.Do(func() {
		close(s.stop)
		<-s.done
		s.unhandle()
	})
}
