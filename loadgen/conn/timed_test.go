package conn

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"runtime"
	"syscall"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// tcpPair returns both ends of a TCP connection.
func tcpPair(t testing.TB) (client, server *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.Fine(t, err)
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	assert.Fine(t, err)
	s, err := l.Accept()
	assert.Fine(t, err)
	t.Cleanup(func() { _, _ = c.Close(), s.Close() })
	return c.(*net.TCPConn), s.(*net.TCPConn)
}

// stampedPair is a pair with a timed connection at the client's end.
func stampedPair(t testing.TB, stamps *stampState) (*timedConn, *net.TCPConn) {
	t.Helper()
	client, server := tcpPair(t)
	c := newTimedConn(client, stamps)
	c.setClock(Clock{time.Now()})
	assert.Need(t, c.kernel != nil, stamps != nil, "read by the kernel's reader: %v", c.kernel != nil)
	return c, server
}

// bothStamps are the kinds of stamps of this system: nil for those without the kernel.
func bothStamps(t testing.TB) map[string]*stampState {
	all := map[string]*stampState{metrics.UserStamps: nil}
	if s := newStamping(metrics.KernelStamps); s != nil {
		all[metrics.KernelStamps] = s
	}
	return all
}

// addresses differ between the errors of two connections.
var addresses = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// A timed connection reads like one of package net, with the same errors in all cases.
func TestTimedConnBehaves(t *testing.T) {
	past, soon := time.Unix(1, 0), 30*time.Millisecond
	read := func(c net.Conn) string {
		n, err := c.Read(make([]byte, 8))
		return told(n, err)
	}
	send := func(s *net.TCPConn, text string) { _, _ = io.WriteString(s, text) }
	reset := func(s *net.TCPConn) {
		_ = s.SetLinger(0)
		_ = s.Close()
	}
	// During a read that waits.
	meanwhile := func(do func()) func() {
		ended := make(chan struct{})
		time.AfterFunc(soon, func() { do(); close(ended) })
		return func() { <-ended }
	}
	for _, c := range []struct {
		name string
		do   func(c net.Conn, s *net.TCPConn) []string
	}{
		{"data", func(c net.Conn, s *net.TCPConn) []string { send(s, "abc"); return []string{read(c)} }},
		{"more than asked for", func(c net.Conn, s *net.TCPConn) []string {
			send(s, "abcdefghijk")
			return []string{read(c), read(c)}
		}},
		{"data after a wait", func(c net.Conn, s *net.TCPConn) []string {
			defer meanwhile(func() { send(s, "abc") })()
			return []string{read(c)}
		}},
		{"nothing asked for", func(c net.Conn, s *net.TCPConn) []string {
			n, err := c.Read(nil)
			return []string{told(n, err)}
		}},
		{"closed by the server", func(c net.Conn, s *net.TCPConn) []string {
			send(s, "abc")
			_ = s.Close()
			return []string{read(c), read(c), read(c)}
		}},
		{"closed by the server after a wait", func(c net.Conn, s *net.TCPConn) []string {
			defer meanwhile(func() { _ = s.Close() })()
			return []string{read(c)}
		}},
		{"half closed", func(c net.Conn, s *net.TCPConn) []string {
			_ = s.CloseWrite()
			return []string{read(c)}
		}},
		{"reset", func(c net.Conn, s *net.TCPConn) []string {
			defer meanwhile(func() { reset(s) })()
			return []string{read(c), read(c)}
		}},
		{"closed by us", func(c net.Conn, s *net.TCPConn) []string {
			_ = c.Close()
			n, err := c.Read(nil)
			return []string{read(c), told(n, err)}
		}},
		{"closed by us after a wait", func(c net.Conn, s *net.TCPConn) []string {
			defer meanwhile(func() { _ = c.Close() })()
			return []string{read(c), read(c)}
		}},
		{"deadline after a wait", func(c net.Conn, s *net.TCPConn) []string {
			_ = c.SetReadDeadline(time.Now().Add(soon))
			return []string{read(c), read(c)}
		}},
		{"deadline moved by another", func(c net.Conn, s *net.TCPConn) []string {
			_ = c.SetReadDeadline(time.Now().Add(time.Hour))
			defer meanwhile(func() { _ = c.SetReadDeadline(past) })()
			return []string{read(c)}
		}},
		{"deadline of writes only", func(c net.Conn, s *net.TCPConn) []string {
			_ = c.SetWriteDeadline(past)
			defer meanwhile(func() { send(s, "abc") })()
			return []string{read(c)}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			plain, server := tcpPair(t)
			want := c.do(plain, server)
			for kind, stamps := range bothStamps(t) {
				conn, server := stampedPair(t, stamps)
				if got := c.do(conn, server); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s stamps: %q, want %q", kind, got, want)
				}
			}
		})
	}
}

// Data that arrived during a standstill is read after its deadline, but only once in a row.
func TestReadAfterItsDeadline(t *testing.T) {
	past := time.Unix(1, 0)
	for kind, stamps := range bothStamps(t) {
		conn, server := stampedPair(t, stamps)
		read := func() (int, error) { return conn.Read(make([]byte, 8)) }
		send := func() {
			_, _ = io.WriteString(server, "abc")
			for !waiting(conn.Conn) {
				if runtime.GOOS == "windows" {
					return
				}
				time.Sleep(time.Millisecond)
			}
		}
		_ = conn.SetReadDeadline(past)
		if _, err := read(); !IsTimeout(err) {
			t.Errorf("%s stamps: nothing there: %v", kind, err)
		}
		send()
		_ = conn.SetReadDeadline(past)
		assert.Equal(t, assert.Must(read())(t), 3, "%s stamps", kind)
		send()
		_ = conn.SetReadDeadline(past)
		if _, err := read(); !IsTimeout(err) {
			t.Errorf("%s stamps: a second time: %v", kind, err)
		}
		_ = conn.SetReadDeadline(time.Time{})
		assert.Equal(t, assert.Must(read())(t), 3, "%s stamps", kind)
		send()
		_ = conn.SetReadDeadline(past)
		assert.Equal(t, assert.Must(read())(t), 3, "%s stamps", kind)
	}
}

// Data that did not fit into a read has the time of that read; later data has its own.
func TestOneTimeForWhatWaited(t *testing.T) {
	conn, server := stampedPair(t, nil)
	p := make([]byte, 100)
	read := func() time.Duration {
		if n, err := conn.Read(p); n == 0 || err != nil {
			t.Fatalf("%d bytes, %v", n, err)
		}
		return conn.read
	}
	same, began := 0, time.Now()
	for same < 10 && time.Since(began) < time.Minute { // a busy machine may come between the two reads
		_, _ = server.Write(make([]byte, 200))
		first := read()
		if second := read(); second == first {
			same++
		}
		_, _ = server.Write(make([]byte, 100)) // exactly as much as there is room for
		first = read()
		time.Sleep(time.Millisecond)
		_, _ = server.Write([]byte("x"))
		if second := read(); second == first {
			t.Error("what came a millisecond later has the time of what came before")
		}
	}
	if same < 10 {
		t.Errorf("in a minute %d reads have the time of what they belong to", same)
	}
}

// told describes the result of a read.
func told(n int, err error) string {
	if err == nil {
		return fmt.Sprint(n)
	}
	var op *net.OpError
	var system *os.SyscallError
	var e net.Error
	return fmt.Sprintf("%d %v: %v, EOF %v, timeout %v, closed %v, reset %v, op %v, system %v, late %v", n,
		addresses.ReplaceAllString(err.Error(), "-"), fmt.Sprintf("%T", err),
		err == io.EOF, errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, net.ErrClosed),
		errors.Is(err, syscall.ECONNRESET),
		errors.As(err, &op), errors.As(err, &system), errors.As(err, &e) && e.Timeout())
}

// A read allocates nothing.
func TestStampedReadsAllocateNothing(t *testing.T) {
	for kind, stamps := range bothStamps(t) {
		conn, server := stampedPair(t, stamps)
		data, p := []byte("abc"), make([]byte, 100)
		one := func() {
			_, _ = server.Write(data)
			if n, err := conn.Read(p); n != 3 || err != nil {
				t.Fatalf("%s stamps: %d bytes, %v", kind, n, err)
			}
		}
		assert.Equal(t, testing.AllocsPerRun(1000, one), 0, "%s stamps allocations in a read", kind)
	}
}

// A connection that is not plain TCP has no stamps of the kernel.
func TestKernelStampsOnlyForTCP(t *testing.T) {
	stamps := newStamping(metrics.KernelStamps)
	tcp, _ := tcpPair(t)
	memory, other := net.Pipe()
	defer memory.Close()
	defer other.Close()
	for name, conn := range map[string]net.Conn{"wrapped": struct{ net.Conn }{tcp}, "in memory": memory} {
		if newTimedConn(conn, stamps).kernel != nil {
			t.Errorf("%s: it is read past itself", name)
		}
	}
}

func TestStampingIsOptional(t *testing.T) {
	if s := newStamping(metrics.UserStamps); s != nil {
		t.Error("stamps of the kernel, which nobody wanted")
	}
	var none *stampState
	assert.Equal(t, none.clockSteps(), 0, "steps of a clock that nobody looks at")
	for _, wanted := range []string{"", metrics.KernelStamps} {
		s := newStamping(wanted)
		if (s != nil) != KernelStamps() {
			t.Errorf("%q: stamps %v, and the system has them: %v", wanted, s != nil, KernelStamps())
		}
	}
}

// BenchmarkRead is a read of one small packet, its writing included; compare the kinds.
func BenchmarkRead(b *testing.B) {
	run := func(b *testing.B, conn net.Conn, server *net.TCPConn) {
		data, p := make([]byte, 250), make([]byte, 4096)
		b.ReportAllocs()
		for b.Loop() {
			_, _ = server.Write(data)
			if _, err := conn.Read(p); err != nil {
				b.Fatal(err)
			}
		}
	}
	readers(b, run)
}

// BenchmarkWaitingRead is the same where the reader waits for each packet.
func BenchmarkWaitingRead(b *testing.B) {
	run := func(b *testing.B, conn net.Conn, server *net.TCPConn) {
		echoed := make(chan struct{})
		go func() {
			defer close(echoed)
			_, _ = io.Copy(struct{ io.Writer }{server}, struct{ io.Reader }{server})
		}()
		data, p := make([]byte, 250), make([]byte, 4096)
		b.ReportAllocs()
		for b.Loop() {
			_, _ = conn.Write(data)
			if _, err := conn.Read(p); err != nil {
				b.Fatal(err)
			}
		}
		_ = conn.Close()
		<-echoed
	}
	readers(b, run)
}

// readers runs a benchmark on a connection of package net and on timed connections with each kind of stamps.
func readers(b *testing.B, run func(b *testing.B, conn net.Conn, server *net.TCPConn)) {
	b.Run("net", func(b *testing.B) {
		client, server := tcpPair(b)
		run(b, client, server)
	})
	for kind, stamps := range bothStamps(b) {
		b.Run(kind, func(b *testing.B) {
			conn, server := stampedPair(b, stamps)
			run(b, conn, server)
		})
	}
}
