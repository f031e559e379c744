package metronome

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
)

// start serves on a port of its own until the test ends, and returns the base URL.
func start(t testing.TB) (*Server, string) { return startWith(t, " token") }

func startWith(t testing.TB, text string) (*Server, string) {
	t.Helper()
	l := assert.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	s := newServer(text)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return s, "http://" + l.Addr().String()
}

// client sends requests over one connection and reads the answers.
type client struct {
	t    testing.TB
	conn net.Conn
	r    *bufio.Reader
}

func dial(t testing.TB, base string) *client {
	t.Helper()
	c := assert.Must(net.Dial("tcp", strings.TrimPrefix(base, "http://")))(t)
	return onConn(t, c)
}

func onConn(t testing.TB, c net.Conn) *client {
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(5 * time.Minute)) // rather than hang
	return &client{t, c, bufio.NewReader(c)}
}

func (c *client) send(text string) {
	c.t.Helper()
	assert.Must(io.WriteString(c.conn, text))(c.t)
}

func (c *client) answer() *http.Response {
	c.t.Helper()
	r := assert.Must(http.ReadResponse(c.r, nil))(c.t)
	return r
}

// ask is a request for so many chunks.
func ask(path, id string, chunks int) string {
	return post(path, id, fmt.Sprintf(`{"model":"m","prompt":"hello","stream":true,"max_tokens":%d}`, chunks))
}

func post(path, id, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nX-Request-Id: %s\r\nContent-Length: %d\r\n\r\n%s", path, id,
		len(body), body)
}

// event is one HTTP chunk of a stream and the time of its arrival.
type event struct {
	data string
	at   time.Time
}

// events reads a chunked answer to its end.
func (c *client) events() []event {
	c.t.Helper()
	head := ""
	for !strings.HasSuffix(head, "\r\n\r\n") {
		line := assert.Must(c.r.ReadString('\n'))(c.t)
		head += line
	}
	if !strings.HasPrefix(head, "HTTP/1.1 200 OK\r\n") ||
		!strings.Contains(head, "Content-Type: text/event-stream\r\n") ||
		!strings.Contains(head, "Transfer-Encoding: chunked\r\n") {
		c.t.Fatalf("header %q", head)
	}
	var all []event
	for {
		line := assert.Must(c.r.ReadString('\n'))(c.t)
		n := 0
		if _, err := fmt.Sscanf(line, "%x\r\n", &n); err != nil {
			c.t.Fatalf("length of an HTTP chunk: %q", line)
		}
		data := make([]byte, n+2)
		assert.Must(io.ReadFull(c.r, data))(c.t)
		assert.Need(c.t, string(data[n:]), "\r\n", "an HTTP chunk ends in %q", data[n:])
		if n == 0 {
			return all
		}
		all = append(all, event{string(data[:n]), time.Now()})
	}
}

func fetch(t testing.TB, base string) []Entry {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	entries := assert.Must(FetchLog(ctx, base))(t)
	return entries
}

// path is the path of an endpoint at a pace.
func path(ttft, itl time.Duration, endpoint string) string { return Pace("", ttft, itl) + endpoint }

func TestClock(t *testing.T) {
	c := newClock()
	before := c.now()
	if d := time.Duration(time.Now().UnixNano() - before); d < -time.Second || d > time.Minute {
		t.Errorf("it is off by %s", d)
	}
	for range 1000 {
		now := c.now()
		if now < before {
			t.Fatalf("it went back by %d ns", before-now)
		}
		before = now
	}
}

// Close ends everything and leaves nothing behind.
func TestClose(t *testing.T) {
	before := runtime.NumGoroutine()
	s, base := start(t)
	var clients []*client
	for i := range 20 {
		c := dial(t, base)
		clients = append(clients, c)
		switch i % 4 {
		case 0: // idle
			continue
		case 1: // at a pace
			c.send(ask(path(0, time.Millisecond, "/v1/completions"), "", mostChunks))
		case 2: // waiting for its first chunk
			c.send(ask(path(time.Hour, 0, "/v1/completions"), "", 1))
		case 3: // blocked
			c.send(ask("/v1/completions", "", mostChunks))
		}
		assert.Must(c.r.ReadString('\n'))(t)
	}
	assert.Fine(t, s.Close())
	assert.Fails(t, "the second Close", s.Close(), "")
	for _, c := range clients {
		_, _ = io.Copy(io.Discard, c.r) // ends, by EOF or reset
	}
	if answers, _ := s.log.take(); len(answers) != 15 {
		t.Errorf("%d broken answers in the log, want 15", len(answers))
	}
	for tries := 0; runtime.NumGoroutine() > before; tries++ {
		if tries == 60_000 {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before,
				stacks[:runtime.Stack(stacks, true)])
		}
		time.Sleep(time.Millisecond) // Serve itself returns soon
	}
	p := newPipes()
	assert.Fails(t, "Serve after Close", s.Serve(p), "")
}

func TestWallOf(t *testing.T) {
	before := time.Now().Round(0)
	start := time.Now()
	wall := WallOf(start)
	after := time.Now().Round(0)
	if wall.Before(before.Add(-5*time.Microsecond)) || wall.After(after) {
		t.Errorf("%s is not between %s and %s", wall, before, after)
	}
}
