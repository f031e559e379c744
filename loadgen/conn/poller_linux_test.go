package conn

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/loadgen/conn/conntest"
	"benchtop/loadgen/target"
)

// stamping is the state of connections with the kernel's stamps.
func stamping(t testing.TB) *stampState {
	conntest.NeedStamps(t, KernelStamps())
	s := newStamping("")
	t.Cleanup(s.close)
	return s
}

// A rest needs many reads, most of them in the middle of long answers, hardly any soon after the one before.
func TestRest(t *testing.T) {
	for _, c := range []struct {
		name         string
		reads        int // in restWindow
		quick, young int
		want         bool
	}{
		{"many", 1000, 0, 0, true},
		{"few", 30, 0, 0, false},
		{"ends of answers", 1000, 100, 0, true},
		{"bursts", 1000, 200, 0, false},
		{"some new requests", 1000, 0, 400, true},
		{"short answers", 1000, 0, 600, false},
	} {
		p := &poller{since: time.Now().Add(-restWindow)}
		for i := range c.reads {
			gap, age := time.Second, time.Second
			if i < c.quick {
				gap = 0
			}
			if i < c.young {
				age = 0
			}
			p.arrived(gap, age)
		}
		assert.Equal(t, p.decide(c.reads), c.want, "%s: rests", c.name)
		if !p.since.After(time.Now().Add(-restWindow)) || p.seen != 0 || p.quick.Load() != 0 || p.young.Load() != 0 {
			t.Errorf("%s: the counts go on: %v", c.name, p.seen)
		}
	}
}

// Under many streams the poller rests, and what it then reads has the times at which it came; the last data of a stream
// and its end, which come together, are both read.
func TestRestingPoller(t *testing.T) {
	stamps := stamping(t)
	const streams, chunks = 100, 60
	var all sync.WaitGroup
	for range streams {
		conn, server := stampedPair(t, stamps)
		all.Go(func() {
			for i := range chunks {
				time.Sleep(10 * time.Millisecond)
				fmt.Fprintf(server, "%4d", i)
			}
			_ = server.Close()
		})
		all.Go(func() {
			p, got := make([]byte, 64), 0
			for {
				n, err := conn.Read(p)
				got += n
				if err == io.EOF {
					break
				}
				assert.Fine(t, err)
				if conn.delay < 0 {
					t.Error("data without a stamp")
				}
			}
			assert.Equal(t, got, 4*chunks, "bytes")
		})
	}
	all.Wait()
}

// A write waits for room, until its deadline or the end of the connection.
func TestWriteWaits(t *testing.T) {
	stamps := stamping(t)
	large := bytes.Repeat([]byte("benchtop"), 8<<20)
	conn, server := stampedPair(t, stamps)
	var got []byte
	read := make(chan error, 1)
	go func() {
		time.Sleep(20 * time.Millisecond)
		var err error
		got, err = io.ReadAll(io.LimitReader(server, int64(len(large))))
		read <- err
	}()
	n, err := conn.Write(large)
	assert.Fine(t, err)
	assert.Fine(t, <-read)
	if n != len(large) || !bytes.Equal(got, large) {
		t.Errorf("%d of %d bytes, received %d", n, len(large), len(got))
	}

	_ = conn.SetWriteDeadline(time.Now().Add(30 * time.Millisecond))
	if n, err := conn.Write(large); !IsTimeout(err) || n == 0 || n == len(large) {
		t.Errorf("nobody reads: %d bytes, %v", n, err)
	}
	_ = conn.SetWriteDeadline(time.Time{})
	time.AfterFunc(30*time.Millisecond, func() { _ = conn.Close() })
	closed := &net.OpError{Op: "write", Net: "tcp", Source: conn.LocalAddr(), Addr: conn.RemoteAddr(),
		Err: net.ErrClosed}
	if n, err := conn.Write(large); told(0, err) != told(0, closed) {
		t.Errorf("closed meanwhile: %d bytes, %v", n, err)
	}
}

// A descriptor that is used again belongs to the new socket alone.
func TestDescriptorUsedAgain(t *testing.T) {
	stamps := stamping(t)
	for range 50 {
		old, oldServer := stampedPair(t, stamps)
		fd := old.kernel.fd
		_, _ = oldServer.Write([]byte("unread"))
		_ = old.Close()
		conn, server := stampedPair(t, stamps)
		_ = old.Close()
		_, _ = server.Write([]byte("abc"))
		assert.Equal(t, assert.Must(conn.Read(make([]byte, 8)))(t), 3, "descriptor %d after %d", conn.kernel.fd, fd)
		_ = conn.Close()
	}
}

// A pool that is closed ends its poller.
func TestPollerEnds(t *testing.T) {
	conntest.NeedStamps(t, KernelStamps())
	g, err := target.New(target.Options{BaseURL: "http://model.test"})
	assert.Fine(t, err)
	pool := NewPool(g, "")
	conn, _ := stampedPair(t, pool.stamps)
	pool.Close()
	_ = conn.Close()
	p := pool.stamps.poller
	for ended := false; !ended; time.Sleep(time.Millisecond) { // or the test takes too long
		p.mu.Lock()
		ended = p.fd < 0
		p.mu.Unlock()
	}
	client, _ := tcpPair(t)
	if c := newTimedConn(client, pool.stamps); c.kernel != nil {
		t.Error("a socket without a poller")
	}
}

// No packet is left in its socket: each is sent when the one before was read.
func TestNoWakeIsLost(t *testing.T) {
	stamps := stamping(t)
	var all sync.WaitGroup
	for i := range 20 {
		conn, server := stampedPair(t, stamps)
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		all.Go(func() {
			p := make([]byte, 1+i%2) // a full read, or one that takes all there is
			for range 200 {
				_, _ = server.Write([]byte("x"))
				if n, err := conn.Read(p); n != 1 || err != nil {
					t.Errorf("%d bytes, %v", n, err)
					return
				}
			}
		})
	}
	all.Wait()
}

// Data that comes during a standstill, together with the end of the time, is read all the same.
func TestDataAndDeadlineAtOnce(t *testing.T) {
	stamps := stamping(t)
	conn, server := stampedPair(t, stamps)
	p := make([]byte, 8)
	_, _ = server.Write([]byte("first"))
	assert.Equal(t, assert.Must(conn.Read(p))(t), 5, "bytes read")
	const soon = 200 * time.Millisecond
	_ = conn.SetReadDeadline(time.Now().Add(soon))
	read := make(chan error)
	go func() {
		n, err := conn.Read(p)
		if err == nil && string(p[:n]) != "late" {
			err = fmt.Errorf("%q", p[:n])
		}
		read <- err
	}()
	time.Sleep(soon / 4) // it waits
	conn.kernel.mu.Lock()
	_, _ = server.Write([]byte("late"))
	time.Sleep(2 * soon)
	<-conn.kernel.readable // the end of the time is told together with the data
	conn.kernel.mu.Unlock()
	assert.Fine(t, <-read)
}
