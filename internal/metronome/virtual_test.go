package metronome

import (
	"bufio"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
)

// pipes is a listener without a network, for virtual time.
type pipes struct {
	calls  chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.calls:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	select {
	case <-p.closed:
	default:
		close(p.closed)
	}
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{} }

func (p *pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.calls <- theirs
	return ours
}

// inVirtualTime runs f with a server on pipes. It fails if a goroutine outlives Close.
func inVirtualTime(t *testing.T, f func(t *testing.T, s *Server, p *pipes)) {
	synctest.Test(t, func(t *testing.T) {
		s, p := New(), newPipes()
		served := make(chan error)
		go func() { served <- s.Serve(p) }()
		f(t, s, p)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// Each chunk comes exactly when it is due.
func TestPace(t *testing.T) {
	for _, p := range []struct{ ttft, itl time.Duration }{
		{}, {50 * time.Millisecond, 0}, {0, 10 * time.Millisecond}, {50 * time.Millisecond, 10 * time.Millisecond},
		{1500 * time.Microsecond, 250 * time.Nanosecond}, {time.Hour, time.Hour},
	} {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, s *Server, l *pipes) {
				conn := l.dial()
				c := &client{t, conn, bufio.NewReader(conn)}
				for i := range 3 { // requests of one connection
					begin := time.Now()
					c.send(ask(path(p.ttft, p.itl, "/v1/completions"), fmt.Sprint(i), 40))
					all := c.events()
					checkEvents(t, false, 40, all)
					for k, e := range all[:40] {
						assert.Need(t, e.at.Sub(begin), p.ttft+time.Duration(k)*p.itl, "chunk %d after", k)
					}
					answers, _ := s.log.take()
					if len(answers) != 1 || len(answers[0].Writes) != 40 || answers[0].Arrived != begin.UnixNano() {
						t.Fatalf("log %+v", answers)
					}
					for k, w := range answers[0].Writes {
						if want := p.ttft + time.Duration(k)*p.itl; w-begin.UnixNano() != int64(want) {
							t.Errorf("write %d after %s, want %s", k, time.Duration(w-begin.UnixNano()), want)
						}
					}
				}
				_ = conn.Close()
			})
		})
	}
}

// The header does not wait for the first chunk, as from a server that prefills.
func TestHeaderComesFirst(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, s *Server, l *pipes) {
		conn := l.dial()
		c := &client{t, conn, bufio.NewReader(conn)}
		begin := time.Now()
		c.send(ask(path(time.Second, 0, "/v1/completions"), "", 1))
		if _, err := c.r.Peek(len(streamHead)); err != nil || time.Since(begin) != 0 {
			t.Errorf("the header came after %s (%v)", time.Since(begin), err)
		}
		checkEvents(t, false, 1, c.events())
		assert.Equal(t, time.Since(begin), time.Second, "the chunk came after")
		_ = conn.Close()
	})
}

// A client that reads late gets the chunks of before at once, and the others when they are due.
func TestLatenessDoesNotAddUp(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, s *Server, l *pipes) {
		conn := l.dial()
		c := &client{t, conn, bufio.NewReaderSize(conn, 1<<10)}
		begin := time.Now()
		c.send(ask(path(10*time.Millisecond, 10*time.Millisecond, "/v1/completions"), "", 40))
		time.Sleep(205 * time.Millisecond)
		all := c.events()
		checkEvents(t, false, 40, all)
		for k, e := range all[:40] {
			want := max(time.Duration(k+1)*10*time.Millisecond, 205*time.Millisecond)
			assert.Equal(t, e.at.Sub(begin), want, "chunk %d after", k)
		}
		_ = conn.Close()
	})
}

// Close ends waiting and blocked connections.
func TestCloseInVirtualTime(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, s *Server, l *pipes) {
		idle, waiting, blocked := l.dial(), l.dial(), l.dial()
		defer idle.Close()
		for conn, itl := range map[net.Conn]time.Duration{waiting: time.Hour, blocked: 0} {
			c := &client{t, conn, bufio.NewReader(conn)}
			c.send(ask(path(0, itl, "/v1/completions"), "", 10))
			assert.Must(c.r.ReadString('\n'))(t)
		}
		synctest.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if answers, _ := s.log.take(); len(answers) != 2 {
			t.Errorf("%d broken answers in the log, want 2", len(answers))
		}
	})
}
