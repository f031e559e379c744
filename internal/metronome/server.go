// Package metronome is a server that does no work: it answers a completions request with a stream of chunks at a fixed
// pace and logs the time of each write. The difference of a client's measurement is the client's own error.
//
// The path has the pace before the endpoint, so that one server serves every measurement:
//
//	POST /ttft=50ms/itl=10ms/v1/completions   first chunk after 50 ms, then one every 10 ms
//	POST /v1/completions                      all chunks as fast as the client takes them
//	POST …/v1/chat/completions                the same as chat
//	GET  …/v1/models, …/health                for clients that check the server first
//	GET  /log                                 the writes since the last time, see FetchLog
//
// The number of chunks is max_completion_tokens or max_tokens of the body, 16 without either. Apart from that, only the
// X-Request-Id of a request matters.
//
// Chunk k is due at the end of the request, plus ttft, plus k times itl, so lateness never adds up and no chunk is left
// out. If the first chunk has to wait, the header goes out before it, as from servers that prefill; else with it. Each
// chunk is one HTTP chunk and one write; the last write includes the finish reason, the usage and the end of the
// stream.
//
// On Linux one goroutine writes all paced chunks, at little more than the cost of the system calls. Elsewhere, and on
// connections that are no sockets, each connection keeps its own pace with Go's timers.
package metronome

import (
	"bufio"
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Server is a metronome. It is safe for concurrent use.
type Server struct {
	clock            clock
	completion, chat *template
	streamHead       []byte
	log              serverLog
	bodies           sync.Pool     // of *bytes.Buffer, for the bodies of requests
	closing          chan struct{} // closed by Close

	mu        sync.Mutex // guards the fields below, and closing closing
	listener  net.Listener
	conns     map[net.Conn]struct{}
	serving   sync.WaitGroup // connections
	begun     bool           // the scheduler was started, if there is one
	scheduler *scheduler     // nil if there is none
}

// New makes a server. No goroutine runs until Serve; Close ends all of them.
func New() *Server { return newServer(" token") }

// newServer makes a server whose chunks have a text.
func newServer(text string) *Server {
	return &Server{
		clock:      newClock(),
		completion: newTemplate("cmpl-metronome", "text_completion", `"text":`+quoted(text)),
		chat:       newTemplate("chatcmpl-metronome", "chat.completion.chunk", `"delta":{"content":`+quoted(text)+`}`),
		streamHead: []byte(streamHead),
		bodies:     sync.Pool{New: func() any { return new(bytes.Buffer) }},
		closing:    make(chan struct{}),
		conns:      map[net.Conn]struct{}{},
	}
}

// Serve answers the connections of a listener until Close, and then returns nil. It closes the listener. It is called
// once.
func (s *Server) Serve(l net.Listener) error {
	defer l.Close()
	s.mu.Lock()
	s.listener = l
	s.mu.Unlock()
	for !s.closed() {
		c, err := l.Accept()
		switch {
		case err == nil:
			s.serve(c)
		case s.closed():
		case errors.Is(err, net.ErrClosed):
			return err
		default: // an aborted connection, or a lack of descriptors
			select {
			case <-time.After(10 * time.Millisecond):
			case <-s.closing:
			}
		}
	}
	return nil
}

func (s *Server) closed() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}

// serve starts the goroutine of a connection.
func (s *Server) serve(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed() {
		_ = c.Close()
		return
	}
	s.conns[c] = struct{}{}
	s.serving.Go(func() {
		newConnection(s, c).run()
		_ = c.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.conns, c)
	})
}

// pacing returns the scheduler, which starts at the first call. It is nil where there is none.
func (s *Server) pacing() *scheduler {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.begun && !s.closed() {
		s.begun = true
		s.scheduler = newScheduler(s.clock)
	}
	return s.scheduler
}

// Close closes the listener, breaks off all answers and waits for all goroutines. The error is that of closing the
// listener. It may be called again.
func (s *Server) Close() error {
	s.mu.Lock()
	first := !s.closed()
	var err error
	if first {
		close(s.closing)
		if s.listener != nil {
			err = s.listener.Close()
		}
		for c := range s.conns {
			_ = c.Close()
		}
	}
	scheduler := s.scheduler
	s.mu.Unlock()
	if first && scheduler != nil {
		scheduler.close()
	}
	s.serving.Wait()
	return err
}

// clock is a wall clock that never jumps: the wall time of its start plus the monotonic time since, in Unix
// nanoseconds.
type clock struct {
	base time.Time
	wall int64 // of base
}

func newClock() clock {
	base := time.Now()
	return clock{base, WallOf(base).UnixNano()}
}

func (c clock) now() int64 { return c.wall + int64(time.Since(c.base)) }

// WallOf is the wall-clock time of a moment on the monotonic clock. The two clocks cannot be read at once: a reading of
// the wall clock between two of the monotonic one belongs to their middle, and the tightest of many tries is exact to a
// fraction of a microsecond.
func WallOf(start time.Time) time.Time {
	const tries = 200
	var wall time.Time
	best := time.Duration(math.MaxInt64)
	for range tries {
		before := time.Now()
		now := time.Now() // the wall clock is read first, then the monotonic one
		if gap := now.Sub(before); gap < best {
			best = gap
			wall = now.Round(0).Add(-(before.Sub(start) + gap/2))
		}
	}
	return wall
}

// Entry is the record of one answer. Its times are wall-clock times of the server process, its start plus the monotonic
// time since, so on the same machine they compare with the client's as long as the clock is not set.
type Entry struct {
	// ID is the request's X-Request-Id.
	ID string
	// Arrived is the time when the whole request had been read.
	Arrived time.Time
	// Writes are the times just before the write of each chunk with output. In a broken answer, the last write may have
	// failed.
	Writes []time.Time
}

// FetchLog takes the log of a metronome at base, a URL such as http://127.0.0.1:8000, and clears it there. An answer is
// in it as soon as its last chunk can have arrived; one still under way is left for the next time. If the log had no
// room for some answers, the others are returned with an error.
func FetchLog(ctx context.Context, base string) ([]Entry, error) {
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true} // no proxy: the server is local
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+"/log", nil)
	if err != nil {
		return nil, fmt.Errorf("log of the metronome: %w", err)
	}
	r, err := transport.RoundTrip(q)
	if err != nil {
		return nil, fmt.Errorf("log of the metronome at %s: %w", base, err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("log of the metronome at %s: status %s; is it a metronome?", base, r.Status)
	}
	entries, err := readLog(bufio.NewReaderSize(r.Body, 64<<10))
	if err != nil {
		return entries, fmt.Errorf("log of the metronome at %s: %w", base, err)
	}
	return entries, nil
}

// ClearLog drops the log of a metronome, whether it had room for all answers or not.
func ClearLog(ctx context.Context, base string) error {
	log, err := FetchLog(ctx, base)
	if log == nil {
		return err
	}
	return nil
}

// logMagic begins a log. It changes with the format.
const logMagic = "metronome log 2"

// logHead begins a log in transit, which is in the form of encoding/gob; the answers follow.
type logHead struct {
	Magic            string
	Answers, Missing int
}

func writeLog(w io.Writer, answers []answer, missing int) error {
	to := gob.NewEncoder(w)
	if err := to.Encode(logHead{logMagic, len(answers), missing}); err != nil {
		return err
	}
	for i := range answers {
		if err := to.Encode(answers[i]); err != nil {
			return err
		}
		answers[i] = answer{} // frees its memory
	}
	return nil
}

// readLog reads a whole log.
func readLog(r io.Reader) ([]Entry, error) {
	from := gob.NewDecoder(r)
	var head logHead
	if err := from.Decode(&head); err != nil || head.Magic != logMagic {
		return nil, errors.New("not a metronome log: bad header")
	}
	entries := []Entry{}
	for range head.Answers {
		var a answer
		if err := from.Decode(&a); err != nil {
			return nil, fmt.Errorf("damaged metronome log: %w (answer %d of %d)", err, len(entries)+1, head.Answers)
		}
		e := Entry{ID: a.ID, Arrived: time.Unix(0, a.Arrived), Writes: make([]time.Time, len(a.Writes))}
		for i, at := range a.Writes {
			e.Writes[i] = time.Unix(0, at)
		}
		entries = append(entries, e)
	}
	if head.Missing > 0 {
		return entries, fmt.Errorf("%d answers are missing: it was full; take it more often", head.Missing)
	}
	return entries, nil
}

// answer is the log's record of an answer. Times are Unix nanoseconds of the server's clock.
type answer struct {
	ID      string
	Arrived int64
	Writes  []int64
}

// mostTimes limits the memory of a log that is never taken, to half a gigabyte.
const mostTimes = 64 << 20

// serverLog collects the answers since it was last taken.
type serverLog struct {
	mu      sync.Mutex
	answers []answer
	times   int // in all answers
	missing int // answers beyond the limit
}

func (l *serverLog) add(a answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.times+len(a.Writes) > mostTimes {
		l.missing++
		return
	}
	l.times += len(a.Writes)
	l.answers = append(l.answers, a)
}

// take returns the answers and empties the log.
func (l *serverLog) take() (answers []answer, missing int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	answers, missing = l.answers, l.missing
	l.answers, l.times, l.missing = nil, 0, 0
	return answers, missing
}
