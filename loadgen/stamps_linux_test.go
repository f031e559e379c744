package loadgen

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/loadgen/conn"
	"benchtop/loadgen/conn/conntest"
	"benchtop/loadgen/target"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/live"
)

// ask calls about with the descriptor of a connection; false if it is closed.
func ask(conn any, about func(fd int)) bool {
	raw, err := conn.(syscall.Conn).SyscallConn()
	return err == nil && raw.Control(func(fd uintptr) { about(int(fd)) }) == nil
}

// seen are the pending events of a connection.
func seen(conn *os.File) (events int16) {
	ask(conn, func(fd int) {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN | unix.POLLRDHUP}}
		_, _ = unix.Poll(fds, 0)
		events = fds[0].Revents
	})
	return events
}

func init() {
	closedByServer = func(socket *os.File) bool { return seen(socket)&unix.POLLRDHUP != 0 }
}

// writeLog has the times at which a server began to write its pieces. On loopback the kernel stamps a packet during the
// write, so that nothing here depends on the load of the machine.
type writeLog struct {
	mu     sync.Mutex
	before []time.Time
	client *os.File // the socket of the client; nil until it has dialled
}

// dial opens the client's end, and keeps a descriptor of it, since the client may take the connection over.
func (l *writeLog) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.client, err = c.(*net.TCPConn).File()
	return c, err
}

// target is the server at base, dialled by dial.
func (l *writeLog) target(t *testing.T, base string) *target.Target {
	t.Helper()
	t.Cleanup(func() { _ = l.client.Close() })
	return targetOf(t, target.Options{BaseURL: base, Insecure: true, Dial: l.dial})
}

func (l *writeLog) write(conn net.Conn, piece string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before = append(l.before, time.Now())
	_, err := io.WriteString(conn, piece)
	return err == nil
}

// arrived waits until all that was written lies in the client's socket, or has been read from there.
func (l *writeLog) arrived(conn net.Conn) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	for unacknowledged := 1; unacknowledged > 0; {
		time.Sleep(time.Millisecond)
		if !ask(conn, func(fd int) { unacknowledged, _ = unix.IoctlGetInt(fd, unix.SIOCOUTQ) }) {
			return
		}
	}
}

// taken waits until the client has read everything so far. The next piece then has a read of its own.
func (l *writeLog) taken(conn net.Conn) {
	l.arrived(conn)
	l.mu.Lock()
	client := l.client
	l.mu.Unlock()
	if client == nil {
		return
	}
	for seen(client)&unix.POLLIN != 0 {
		time.Sleep(time.Millisecond)
	}
}

// check checks that a chunk has the time of its write, not of the one before or behind it. Clocks are read to the
// microsecond.
func (l *writeLog) check(t *testing.T, start time.Time, chunk, write int, at time.Duration) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	next := time.Now()
	if write+1 < len(l.before) {
		next = l.before[write+1].Add(-time.Millisecond / 2) // there was a pause of a millisecond at least
	}
	const rounding = 5 * time.Microsecond
	if from, to := l.before[write].Sub(start), next.Sub(start); at < from-rounding || at > to+rounding {
		t.Errorf("chunk %d at %s, but it was written at %s and the next at %s", chunk, at, from, to)
	}
}

// reader is a listener that keeps the delays and may hold up the reading of a request.
type reader struct {
	logbook
	delays []time.Duration
	hold   func(chunk int)
}

func (r *reader) Chunk(q *metrics.Request) {
	r.mu.Lock()
	r.delays = append(r.delays, q.ReadDelay)
	r.mu.Unlock()
	if r.hold != nil {
		r.hold(len(q.Chunks) - 1)
	}
}

// serveStreams answers requests over TCP, with TLS or without.
func serveStreams(t *testing.T, secure bool, do script) string {
	t.Helper()
	if !secure {
		return serveTCP(t, do)
	}
	web := httptest.NewUnstartedServer(nil)
	web.StartTLS()
	config := web.TLS
	web.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", config)
	assert.Fine(t, err)
	return "https" + strings.TrimPrefix(serveOn(t, l, do), "http")
}

// readStream sends one request and returns it. The run's start is in the options.
func readStream(t *testing.T, base string, r *reader, change func(*Options)) (metrics.Request, time.Time) {
	t.Helper()
	var start time.Time
	loadTCP(t, base, 1, sinkOf{r}, func(o *Options) {
		o.Target, start = targetOf(t, target.Options{BaseURL: base, Insecure: true}), o.Start
		if change != nil {
			change(o)
		}
	})
	if len(r.all) != 1 || r.all[0].Failure != "" || len(r.delays) != len(r.all[0].Chunks) {
		t.Fatalf("%d delays, %+v", len(r.delays), r.all)
	}
	return r.all[0], start
}

func schemes(t *testing.T, test func(t *testing.T, secure bool)) {
	for _, secure := range []bool{false, true} {
		name := "TCP"
		if secure {
			name = "TLS"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, secure)
		})
	}
}

// Each chunk has the time of its arrival, with TLS and without, also where the line end behind it is late.
func TestKernelStamps(t *testing.T) {
	conntest.NeedStamps(t, conn.KernelStamps())
	a, b := text("a"), text("b")
	bare := func(s string) string { return strings.TrimSuffix(chunk(s), "\r\n") }
	for _, c := range []struct {
		name   string
		pieces []string
		want   []int // the piece that brought the end of each chunk's data
	}{
		{"one by one", []string{streamHead, chunk(a), chunk(b), chunk(a), chunk(b),
			chunk(sseEvent(finish)) + lastChunk}, []int{1, 2, 3, 4, 5}},
		{"with the header", []string{streamHead + chunk(a), chunk(sseEvent(finish)) + lastChunk}, []int{0, 1}},
		{"two in a piece", []string{streamHead, chunk(a) + chunk(b), chunk(sseEvent(finish)) + lastChunk},
			[]int{1, 1, 2}},
		{"line end by itself", []string{streamHead, bare(a), "\r\n", chunk(sseEvent(finish)) + lastChunk}, []int{1, 3}},
		{"line end with the next chunk", []string{streamHead, bare(a), "\r\n" + bare(b),
			"\r\n" + chunk(sseEvent(finish)) + lastChunk}, []int{1, 2, 3}},
		{"line end in two pieces", []string{streamHead, bare(a), "\r", "\n", chunk(sseEvent(finish)) + lastChunk},
			[]int{1, 4}},
		{"event in two HTTP chunks",
			[]string{streamHead, chunk(a[:9]), chunk(a[9:]), chunk(sseEvent(finish)) + lastChunk}, []int{2, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			schemes(t, func(t *testing.T, secure bool) {
				var log writeLog
				base := serveStreams(t, secure, func(conn net.Conn, _ *http.Request, _ []byte) bool {
					for _, p := range c.pieces {
						if !log.write(conn, p) {
							return false
						}
						log.taken(conn)
					}
					return true
				})
				var r reader
				q, start := readStream(t, base, &r, func(o *Options) { o.Target = log.target(t, base) })
				assert.Need(t, len(q.Chunks), len(c.want), "chunks")
				for i, write := range c.want {
					if r.delays[i] < 0 {
						t.Errorf("chunk %d has no stamp of the kernel", i)
					}
					log.check(t, start, i, write, q.Chunks[i].At)
				}
			})
		})
	}
}

// A reader is suspended while the server goes on: the chunks of this time share the stamp of the last one, which
// metrics count; later chunks have their own again.
func TestSuspendedReader(t *testing.T) {
	conntest.NeedStamps(t, conn.KernelStamps())
	const (
		before, meanwhile, later = 4, 12, 4 // chunks
		hold                     = 300 * time.Millisecond
	)
	schemes(t, func(t *testing.T, secure bool) {
		var log writeLog
		sent, resumed := make(chan struct{}), make(chan struct{})
		base := serveStreams(t, secure, func(conn net.Conn, _ *http.Request, _ []byte) bool {
			log.write(conn, streamHead)
			for i := range before + meanwhile + later {
				switch {
				case i == before+meanwhile:
					log.arrived(conn)
					close(sent)
					<-resumed
					log.taken(conn)
				case i > before && i < before+meanwhile:
					time.Sleep(10 * time.Millisecond) // the reader is suspended
				default:
					log.taken(conn)
				}
				log.write(conn, chunk(text(fmt.Sprint(i))))
			}
			log.taken(conn)
			return log.write(conn, chunk(sseEvent(finish))+lastChunk)
		})
		r := reader{hold: func(i int) {
			switch i {
			case before - 1:
				<-sent
				time.Sleep(hold)
			case before + meanwhile - 1:
				close(resumed)
			}
		}}
		view := live.NewView(time.Now(), &metrics.Plan{Timestamps: metrics.KernelStamps})
		var start time.Time
		loadTCP(t, base, 1, event.NewStream(time.Time{}, sinkOf{&r}, view), func(o *Options) {
			o.Target, start = log.target(t, base), o.Start
		})
		q := r.all[0]
		if q.Failure != "" || len(q.Chunks) != before+meanwhile+later+1 {
			t.Fatalf("%d chunks, %q %q", len(q.Chunks), q.Failure, q.Error)
		}
		shared := 0
		for i := range before + meanwhile + later {
			write := i + 1
			if i >= before && i < before+meanwhile {
				write = before + meanwhile // the last that the read brought
				if r.delays[i] < hold-10*time.Millisecond {
					t.Errorf("chunk %d: it waited for %s, and nobody read for %s", i, r.delays[i], hold)
				}
			}
			if i > 0 && q.Chunks[i].At == q.Chunks[i-1].At {
				shared++
			}
			if secure && i >= before && i < before+meanwhile {
				continue // it may take several reads of the socket
			}
			log.check(t, start, i, write, q.Chunks[i].At)
		}
		stamps := view.Stamps()
		if shared < meanwhile-3 || stamps.Shared != shared || stamps.Unstamped != 0 || stamps.DelayMax < hold/2 {
			t.Errorf("%d chunks share a stamp; as counted: %+v", shared, stamps)
		}
	})
}

// The silence of a stream counts from the read of its last chunk, since a stamp of the kernel may be old.
func TestStallAfterSuspendedReader(t *testing.T) {
	conntest.NeedStamps(t, conn.KernelStamps())
	t.Parallel()
	// Three tenths of the time-out are left for a busy machine. Where that is too little, a longer one gives it more;
	// but by the stamp, the stream would be silent for one and a half of any.
	for stall := time.Second; ; stall *= 5 {
		q, delays := suspendedFor(t, stall)
		switch {
		case q.Failure != "" && stall < 20*time.Second:
			continue
		case q.Failure != "":
			t.Errorf("%q %q", q.Failure, q.Error)
		case len(delays) != 3 || delays[1] < stall/2:
			t.Errorf("the chunks waited for %s", delays)
		}
		return
	}
}

// suspendedFor reads a stream whose second chunk waits for eight tenths of a time-out, and whose last one comes seven
// tenths later.
func suspendedFor(t *testing.T, stall time.Duration) (metrics.Request, []time.Duration) {
	t.Helper()
	var log writeLog
	sent, resumed := make(chan struct{}), make(chan struct{})
	base := serveTCP(t, func(conn net.Conn, _ *http.Request, _ []byte) bool {
		log.write(conn, streamHead+chunk(text("a")))
		log.taken(conn)
		log.write(conn, chunk(text("b")))
		close(sent)
		<-resumed
		time.Sleep(stall * 7 / 10)
		return log.write(conn, chunk(sseEvent(finish))+lastChunk)
	})
	r := reader{hold: func(i int) {
		switch i {
		case 0:
			<-sent
			time.Sleep(stall * 8 / 10)
		case 1:
			close(resumed)
		}
	}}
	loadTCP(t, base, 1, sinkOf{&r}, func(o *Options) { o.Target, o.StallTimeout = log.target(t, base), stall })
	return r.all[0], r.delays
}

// Without a stamp of the kernel, a chunk has the time of its read.
func TestUserStamps(t *testing.T) {
	const pause = 20 * time.Millisecond
	check := func(t *testing.T, serve func(script) string, change func(*Options)) {
		t.Helper()
		seen := make(chan int, 3)
		r := reader{hold: func(i int) { seen <- i }}
		base := serve(func(conn net.Conn, _ *http.Request, _ []byte) bool {
			_, _ = io.WriteString(conn, streamHead)
			for _, piece := range []string{chunk(text("a")), chunk(text("b"))} {
				time.Sleep(pause)
				_, _ = io.WriteString(conn, piece)
				<-seen
			}
			_, err := io.WriteString(conn, chunk(sseEvent(finish))+lastChunk)
			return err == nil
		})
		q, _ := readStream(t, base, &r, change)
		for i, d := range r.delays {
			assert.Equal(t, d, metrics.Never, "chunk %d waited for, which nobody can know", i)
		}
		if q.TTFT() < pause || q.Chunks[1].At-q.Chunks[0].At < pause {
			t.Errorf("TTFT %s, chunks %+v", q.TTFT(), q.Chunks)
		}
	}
	t.Run("on request", func(t *testing.T) {
		check(t, func(do script) string { return serveTCP(t, do) },
			func(o *Options) { o.Timestamps = metrics.UserStamps })
	})
	t.Run("unix socket", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "s")
		l, err := net.Listen("unix", path)
		assert.Fine(t, err)
		serve := func(do script) string { serveOn(t, l, do); return "http://model.test" }
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}
		check(t, serve, func(o *Options) { o.Target = targetOf(t, target.Options{Dial: dial}) })
	})
}

// In steady state a chunk costs no allocation, each in a read of its own.
func TestStampedChunksAllocateNothing(t *testing.T) {
	ci.SkipUnderRace(t)
	piece := []byte(chunk(text(" word")))
	stream := func(chunks int) script {
		return func(c net.Conn, _ *http.Request, _ []byte) bool {
			_, _ = io.WriteString(c, streamHead)
			for range chunks {
				_, _ = c.Write(piece)
			}
			_, err := io.WriteString(c, chunk(sseEvent(finish))+lastChunk)
			return err == nil
		}
	}
	for _, kind := range []string{metrics.UserStamps, ""} {
		allocations := func(chunks int) float64 {
			base := serveTCP(t, stream(chunks))
			return testing.AllocsPerRun(5, func() {
				loadTCP(t, base, 1, event.Discard, func(o *Options) { o.Timestamps = kind })
			})
		}
		// The generated text and the list of chunks double some ten times each on the way.
		if short, long := allocations(4), allocations(4004); long-short > 60 {
			t.Errorf("%q stamps: %v allocations for 4 chunks, %v for 4004", kind, short, long)
		}
	}
}
