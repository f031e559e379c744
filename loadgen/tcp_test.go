package loadgen

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/loadgen/shape"
	"benchtop/loadgen/target"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// serveTCP answers every request on a real port with a script.
func serveTCP(t testing.TB, do script) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.Fine(t, err)
	return serveOn(t, l, do)
}

// serveOn answers the requests of a listener with a script.
func serveOn(t testing.TB, l net.Listener, do script) string {
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go do.serve(c)
		}
	}()
	return "http://" + l.Addr().String()
}

func loadTCP(t testing.TB, base string, n int, sink event.Sink, change func(*Options)) {
	t.Helper()
	o := Defaults()
	o.Target, o.Start = targetOf(t, target.Options{BaseURL: base, APIKey: "sesame"}), time.Now()
	o.Schedule, o.Limit = shape.At(make([]time.Duration, n)), 1
	if change != nil {
		change(&o)
	}
	e, err := New(o, sink)
	assert.Fine(t, err)
	assert.Fine(t, e.Run(t.Context(), flow(&prompts{n: n})))
}

// On real sockets, with the system's own errors.
func TestRealConnections(t *testing.T) {
	reset := func(c net.Conn) bool {
		_ = c.(*net.TCPConn).SetLinger(0)
		return false
	}
	for _, c := range []struct {
		name    string
		do      script
		failure metrics.Failure
		words   string
	}{
		{"reset in the stream", func(c net.Conn, _ *http.Request, _ []byte) bool {
			_, _ = io.WriteString(c, streamHead+chunk(text("a")))
			time.Sleep(20 * time.Millisecond)
			return reset(c)
		}, metrics.FailedReset, "reset by peer"},
		{"reset before an answer", func(c net.Conn, _ *http.Request, _ []byte) bool { return reset(c) },
			metrics.FailedReset, "reset by peer"},
		{"nobody listens", nil, metrics.FailedConnect, "connection refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := "http://127.0.0.1:1"
			if c.do != nil {
				base = serveTCP(t, c.do)
			}
			var book logbook
			loadTCP(t, base, 1, sinkOf{&book}, nil)
			ends(t, &book.all[0], c.failure, c.words)
			if at := book.all[0].Sent; (at == metrics.Never) != (c.do == nil) || (book.sent == 0) != (c.do == nil) {
				t.Errorf("sent at %s, %d are said to be", at, book.sent)
			}
		})
	}
}

// endless is a stream of n one-token events, one write each.
func endless(n int) script {
	piece := chunk(text(" word"))
	return func(c net.Conn, _ *http.Request, _ []byte) bool {
		w := bufio.NewWriter(c)
		_, _ = io.WriteString(w, streamHead)
		for range n {
			_, _ = io.WriteString(w, piece)
		}
		_, _ = io.WriteString(w, chunk(sseEvent(finish))+lastChunk)
		return w.Flush() == nil
	}
}

// BenchmarkRequest is a whole request with a short answer, on a connection that is open.
func BenchmarkRequest(b *testing.B) {
	base := serveTCP(b, pieces(true, 0, stream(text("a"), sseEvent(finish))))
	b.ReportAllocs()
	b.ResetTimer()
	loadTCP(b, base, b.N, event.Discard, nil)
}

func BenchmarkChunk(b *testing.B) {
	const chunks = 1000
	base := serveTCP(b, endless(chunks))
	b.ReportAllocs()
	loadTCP(b, base, b.N, event.Discard, func(o *Options) { o.Limit = 8 })
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/chunks, "ns/chunk")
}

// A TLS handshake that is broken off is a failure to connect, and so are a dial and a handshake that never end, once
// the time of the request is over.
func TestTLSHandshakes(t *testing.T) {
	t.Run("closes", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		assert.Fine(t, err)
		defer l.Close()
		go func() {
			c, err := l.Accept()
			if err == nil {
				_, _ = c.Read(make([]byte, 1))
				_ = c.Close()
			}
		}()
		var book logbook
		loadTCP(t, "https://"+l.Addr().String(), 1, sinkOf{&book}, nil)
		ends(t, &book.all[0], metrics.FailedConnect, "TLS handshake")
	})
	bubble(t, "never begins", func(t *testing.T) { dialled(t, target.Options{Dial: obedient}, "") })
	bubble(t, "never ends", func(t *testing.T) {
		var listening sync.WaitGroup
		dial := func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			listening.Go(func() { _, _ = io.Copy(io.Discard, server) })
			return client, nil
		}
		dialled(t, target.Options{BaseURL: "https://model.test", Dial: dial}, "TLS handshake")
		listening.Wait()
	})
}

// dialled sends a request over a connection that does not come about while it may.
func dialled(t *testing.T, of target.Options, words string) {
	t.Helper()
	o := Defaults()
	o.Target, o.RequestTimeout = targetOf(t, of), 3*time.Second
	q := Try(t.Context(), o, turns(1), 1)[0]
	if ends(t, &q, metrics.FailedConnect, words); q.Done != o.RequestTimeout || q.Connect != o.RequestTimeout {
		t.Errorf("it failed after %s, dialled for %s", q.Done, q.Connect)
	}
}

// gate is a source that holds its last conversation back until something has happened.
type gate struct {
	prompts
	wait func()
}

func (g *gate) Next() (datasets.Conversation, error) {
	if g.next == g.n-1 {
		g.wait()
	}
	return g.prompts.Next()
}

// closedByServer reports whether the client's kernel knows that the server closed a connection; true where it cannot be
// asked.
var closedByServer = func(*os.File) bool { return true }

// TLS lies above the timed connection; streams, reuse and stale connections work as without it.
func TestTLS(t *testing.T) {
	requests := 0
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, piece := range []string{text("a"), text("b"), sseEvent(finish), "data: [DONE]\n\n"} {
			_, _ = io.WriteString(w, piece)
			w.(http.Flusher).Flush()
		}
		requests++
	}))
	// The server closes the connection when it has answered the second request.
	var idle atomic.Int32
	closed := make(chan struct{})
	web.Config.ConnState = func(c net.Conn, now http.ConnState) {
		if now != http.StateIdle {
			return
		}
		if idle.Add(1) == 2 {
			_ = c.Close()
			close(closed)
		}
	}
	web.StartTLS()
	defer web.Close()
	dialled := make(chan *os.File, 9) // the sockets, since the client may take connections over
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil {
			socket, _ := c.(*net.TCPConn).File()
			dialled <- socket
		}
		return c, err
	}
	var book logbook
	o := Defaults()
	o.Target, o.Start = targetOf(t, target.Options{BaseURL: web.URL, Insecure: true, Dial: dial}), time.Now()
	o.Schedule, o.Limit = shape.At(make([]time.Duration, 3)), 1
	e, err := New(o, sinkOf{&book})
	assert.Fine(t, err)
	e.pools[0].KeptOpen()
	// The second finds the connection open, the third finds it closed by the server.
	err = e.Run(t.Context(), flow(&gate{prompts{n: 3}, func() {
		<-closed
		// Loopback takes its time on a busy machine.
		for first, tries := <-dialled, 0; !closedByServer(first) && tries < 60_000; tries++ {
			time.Sleep(time.Millisecond)
		}
	}}))
	assert.Fine(t, err)
	for i, q := range book.all {
		if q.Failure != "" || len(q.Chunks) != 3 || q.Sent == metrics.Never || q.TTFT() <= 0 {
			t.Errorf("request %d: %q %q, %d chunks, TTFT %s", i, q.Failure, q.Error, len(q.Chunks), q.TTFT())
		}
	}
	if len(book.all) != 3 || book.all[0].Connect == 0 || book.all[1].Connect != 0 {
		t.Errorf("connect times %s, %s: the handshake belongs to the first request alone", book.all[0].Connect,
			book.all[1].Connect)
	}
	// Where the system knows of the close, the connection is not tried.
	q := book.all[2]
	if n := q.Tallies[metrics.Redials]; q.Connect == 0 || n > 1 || runtime.GOOS == "linux" && n != 0 {
		t.Errorf("%d redials, connected in %s, after the server had closed the connection", n, q.Connect)
	}
}
