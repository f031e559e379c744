package conn

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/loadgen/target"
)

// An idle connection that the server has closed in the meantime is not used.
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
		{"data before a request", false, func(c net.Conn) error { _, err := io.WriteString(c, "HTTP"); return err },
			false},
		{"left alone, TLS", true, func(net.Conn) error { return nil }, true}, // a session ticket waits
		{"closed, TLS", true, net.Conn.Close, false},                         // a goodbye waits before the end
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			assert.Fine(t, err)
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
			assert.Fine(t, err)
			pool := NewPool(g, "")
			defer pool.Close()
			assert.Fine(t, pool.Open(t.Context(), 1))
			s := <-server
			if s.err != nil {
				t.Fatal(s.err)
			}
			defer s.conn.Close()
			// The deadline of an earlier request does not matter.
			pool.ahead[0].raw.expire(time.Now().Add(-time.Second), 0)
			assert.Fine(t, c.server(s.conn))
			if c.alive {
				time.Sleep(20 * time.Millisecond)
			}
			// Loopback takes its time on a busy machine.
			for range 6000 {
				if alive(pool.ahead[0]) == c.alive {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			taken := pool.Take()
			if (taken != nil) != c.alive {
				t.Errorf("the connection was taken: %v, want %v", taken != nil, c.alive)
			}
			if n := pool.Stats().Open; (n == 1) != c.alive {
				t.Errorf("%d are open", n)
			}
		})
	}
}

func BenchmarkAlive(b *testing.B) {
	client, _ := tcpPair(b)
	g, err := target.New(target.Options{BaseURL: "http://model.test",
		Dial: func(context.Context, string, string) (net.Conn, error) { return client, nil }})
	assert.Fine(b, err)
	pool := NewPool(g, "")
	defer pool.Close()
	assert.Fine(b, pool.Open(b.Context(), 1))
	b.ReportAllocs()
	for b.Loop() {
		if !alive(pool.ahead[0]) {
			b.Fatal("closed")
		}
	}
}
