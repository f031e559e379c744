// Package metronome is a server that does no work: it answers a completions request with a stream of chunks at a fixed
// pace and keeps a log of when it wrote each of them. What a client measures of it beside that is the client's own error.
//
// The pace stands in the path before the endpoint, so that one server serves every measurement:
//
//	POST /ttft=50ms/itl=10ms/v1/completions   first chunk after 50 ms, then one every 10 ms
//	POST /v1/completions                      all chunks as fast as the client takes them
//	POST …/v1/chat/completions                the same as chat
//	GET  …/v1/models, …/health                for a client that asks first
//	GET  /log                                 what was written since the last time, see FetchLog
//
// The number of chunks is max_completion_tokens or max_tokens of the body, 16 if there is neither. Nothing else of a
// request is looked at but its X-Request-Id.
//
// Chunk k is due at the moment the request was read whole, plus ttft, plus k times itl, so lateness never adds up and no
// chunk is left out. If the first chunk has to wait, the header goes out ahead of it, as from servers that prefill; else it
// goes with it. Each chunk is one HTTP chunk and one write; the last one carries the finish reason and brings usage and the
// end of the stream with it.
//
// On Linux one goroutine writes all paced chunks, which leaves little but the system calls. Elsewhere, and on connections
// that are no sockets, each connection keeps its own time with Go's timers.
package metronome

import (
	"bytes"
	"errors"
	"math"
	"net"
	"sync"
	"time"
)

// Server is a metronome. It is safe for concurrent use.
type Server struct {
	clock            clock
	completion, chat *script
	streamHead       []byte
	log              serverLog
	bodies           sync.Pool     // of *bytes.Buffer: requests that fit no connection's buffer
	closing          chan struct{} // closed by Close

	mu        sync.Mutex // guards what follows, and the closing
	listener  net.Listener
	conns     map[net.Conn]struct{}
	serving   sync.WaitGroup // connections
	begun     bool           // the scheduler was asked for
	scheduler *scheduler     // nil if there is none
}

// New makes a server. No goroutine runs until Serve; Close ends all of them.
func New() *Server { return newServer(" token") }

// newServer makes a server with the text of every chunk.
func newServer(text string) *Server {
	return &Server{
		clock:      newClock(),
		completion: newScript("cmpl-metronome", "text_completion", `"text":`+quoted(text)),
		chat:       newScript("chatcmpl-metronome", "chat.completion.chunk", `"delta":{"content":`+quoted(text)+`}`),
		streamHead: []byte(streamHead),
		bodies:     sync.Pool{New: func() any { return new(bytes.Buffer) }},
		closing:    make(chan struct{}),
		conns:      map[net.Conn]struct{}{},
	}
}

// Serve answers the connections of a listener until Close, which it returns nil for. It closes the listener. It is called once.
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
		default: // a connection that came and went, or a lack of descriptors
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

// pacing returns the scheduler, which starts when it is first needed. It is nil where there is none.
func (s *Server) pacing() *scheduler {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.begun && !s.closed() {
		s.begun = true
		s.scheduler = newScheduler(s.clock)
	}
	return s.scheduler
}

// Close closes the listener, ends all answers where they are and waits for all goroutines. The error is that of closing the
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

// clock tells wall-clock time that never jumps: the wall time of its start plus the monotonic time since, in Unix
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

// WallOf is the wall-clock time of a moment that was read from the monotonic clock. The two clocks cannot be read at once: a
// reading of the wall clock between two of the monotonic one belongs to their middle, and the tightest of many tries
// is right to a fraction of a microsecond.
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
