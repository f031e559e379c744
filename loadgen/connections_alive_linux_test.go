package loadgen

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"benchtop/loadgen/shape"
	"benchtop/loadgen/target"
)

// Before an idle connection is used the kernel is asked what the server did to it in the meantime.
func TestAlive(t *testing.T) {
	pair := httptest.NewUnstartedServer(nil)
	pair.StartTLS()
	defer pair.Close()
	for _, c := range []struct {
		name   string
		tls    bool
		server func(net.Conn) error
		alive  bool
	}{
		{"left alone", false, func(net.Conn) error { return nil }, true},
		{"closed", false, net.Conn.Close, false},
		{"closed for writing", false, func(c net.Conn) error { return c.(*net.TCPConn).CloseWrite() }, false},
		{"reset", false, func(c net.Conn) error {
			_ = c.(*net.TCPConn).SetLinger(0)
			return c.Close()
		}, false},
		{"data before a request", false, func(c net.Conn) error { _, err := io.WriteString(c, "HTTP"); return err }, false},
		{"left alone, TLS", true, func(net.Conn) error { return nil }, true}, // a session ticket waits
		{"closed, TLS", true, net.Conn.Close, false},                         // a goodbye waits before the end
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			type accepted struct {
				conn net.Conn
				err  error
			}
			server := make(chan accepted, 1)
			go func() {
				conn, err := l.Accept()
				if err == nil && c.tls {
					secure := tls.Server(conn, pair.TLS)
					conn, err = secure, secure.Handshake()
				}
				server <- accepted{conn, err}
			}()
			scheme := "http://"
			if c.tls {
				scheme = "https://"
			}
			g, err := target.New(target.Options{BaseURL: scheme + l.Addr().String(), Insecure: true})
			if err != nil {
				t.Fatal(err)
			}
			links := NewConnections(g, "")
			defer links.Close()
			if err := links.Open(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			s := <-server
			if s.err != nil {
				t.Fatal(s.err)
			}
			defer s.conn.Close()
			// A deadline of an earlier request says nothing.
			links.ahead[0].raw.expire(time.Now().Add(-time.Second), 0)
			if err := c.server(s.conn); err != nil {
				t.Fatal(err)
			}
			if c.alive {
				time.Sleep(20 * time.Millisecond)
			}
			// Loopback takes its time on a busy machine.
			for range 6000 {
				if alive(links.ahead[0]) == c.alive {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			k := links.take()
			if (k != nil) != c.alive {
				t.Errorf("the connection was taken: %v, want %v", k != nil, c.alive)
			}
			if n := links.Stats().Open; (n == 1) != c.alive {
				t.Errorf("%d are open", n)
			}
		})
	}
}

func BenchmarkAlive(b *testing.B) {
	g, err := target.New(target.Options{BaseURL: serveTCP(b, pieces(true, 0, ""))})
	if err != nil {
		b.Fatal(err)
	}
	links := NewConnections(g, "")
	defer links.Close()
	if err := links.Open(b.Context(), 1); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if !alive(links.ahead[0]) {
			b.Fatal("closed")
		}
	}
}

// llama.cpp promises to keep its connections, and closes each after a streamed answer. The end crosses the next request, which is lost if
// it went out on the same connection: so it does not, from the first answer on.
func TestServerThatClosesAfterEachAnswer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var serving sync.WaitGroup
	defer serving.Wait()
	defer listener.Close()
	serving.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer c.Close()
				if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
					return
				}
				body := text("a") + sseEvent(finish)
				fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nKeep-Alive: timeout=5, max=100\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body)
				time.Sleep(200 * time.Microsecond)
			})
		}
	})
	g, err := target.New(target.Options{BaseURL: "http://" + listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	const n = 200
	var book logbook
	o := Defaults()
	o.Target, o.Start, o.Schedule, o.Limit = g, time.Now(), shape.At(make([]time.Duration, n)), 4
	e, err := New(o, sinkOf{&book})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Run(t.Context(), &prompts{n: n}); err != nil {
		t.Fatal(err)
	}
	lost := 0
	for _, q := range book.all {
		if q.Failure != "" || q.Redials != 0 {
			lost++
		}
	}
	// A machine that stands still for longer than a connection rests may lose those that were on their way.
	if lost > o.Limit || e.links.habit != closesAtOnce {
		t.Errorf("%d of %d requests were lost; the habit is %d", lost, n, e.links.habit)
	}
}
