package metronome

import (
	"cmp"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"
)

// Options for New.
type Options struct {
	// Text of every chunk, " token" if empty.
	Text string
}

// Server is a metronome. It is safe for concurrent use.
type Server struct {
	clock            clock
	completion, chat *script
	streamHead       []byte
	journal          journal
	bodies           sync.Pool // of *[]byte: requests that fit no connection's buffer

	mu        sync.Mutex // guards what follows
	closed    bool
	closing   chan struct{} // closed by Close
	listeners map[net.Listener]struct{}
	conns     map[net.Conn]struct{}
	serving   sync.WaitGroup // connections
	begun     bool           // the scheduler was asked for
	scheduler *scheduler     // nil if there is none
}

// New makes a server. No goroutine runs until Serve; Close ends all of them.
func New(o Options) *Server {
	text := cmp.Or(o.Text, " token")
	return &Server{
		clock:      newClock(),
		completion: completionScript(text),
		chat:       chatScript(text),
		streamHead: []byte(streamHead),
		closing:    make(chan struct{}),
		listeners:  map[net.Listener]struct{}{},
		conns:      map[net.Conn]struct{}{},
	}
}

// Serve answers the connections of a listener until Close, which it returns nil for. It closes the listener. It may be
// called for several listeners at once.
func (s *Server) Serve(l net.Listener) error {
	defer l.Close()
	if !s.listen(l) {
		return nil
	}
	for {
		c, err := l.Accept()
		switch {
		case err == nil:
			s.serve(c)
		case s.over():
			return nil
		case !passes(err):
			s.forget(l)
			return err
		default:
			select {
			case <-time.After(10 * time.Millisecond):
			case <-s.closing:
			}
		}
	}
}

// passes says that a failed Accept is worth another one: a connection that came and went, or a lack of descriptors.
func passes(err error) bool {
	for _, e := range []error{syscall.ECONNABORTED, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.EINTR} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func (s *Server) listen(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.listeners[l] = struct{}{}
	}
	return !s.closed
}

func (s *Server) forget(l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
}

func (s *Server) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// serve starts the goroutine of a connection.
func (s *Server) serve(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
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
	if !s.begun && !s.closed {
		s.begun = true
		s.scheduler = newScheduler(s.clock)
	}
	return s.scheduler
}

// Close closes the listeners, ends all answers where they are and waits for all goroutines. The error is that of closing a
// listener. It may be called again.
func (s *Server) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	var err error
	if first {
		close(s.closing)
		for l := range s.listeners {
			err = errors.Join(err, l.Close())
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
