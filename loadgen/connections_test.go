package loadgen

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/loadgen/shape"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// dialled is a target whose connections a test makes itself.
func dialled(t *testing.T, dial target.DialFunc) *target.Target {
	t.Helper()
	g, err := target.New(target.Options{BaseURL: "http://model.test", Dial: dial})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A closed loop on connections opened ahead never dials: no request waits for a connection, none is opened twice.
func TestOpenAhead(t *testing.T) {
	const users, requests = 8, 64
	for name, start := range map[string]func(*httptest.Server){"plain": (*httptest.Server).Start, "TLS": (*httptest.Server).StartTLS} {
		t.Run(name, func(t *testing.T) {
			var accepted atomic.Int64
			web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, text("a")+sseEvent(finish))
			}))
			web.Config.ConnState = func(_ net.Conn, s http.ConnState) {
				if s == http.StateNew {
					accepted.Add(1)
				}
			}
			start(web)
			defer web.Close()
			g, err := target.New(target.Options{BaseURL: web.URL, Insecure: true})
			if err != nil {
				t.Fatal(err)
			}
			links := NewConnections(g, "")
			links.habit = keepsOpen
			for _, n := range []int{users / 2, users, users - 1, 0, -1} { // only the difference is opened
				if err := links.Open(t.Context(), n); err != nil {
					t.Fatal(err)
				}
			}
			if got, want := links.Stats(), (ConnectionStats{Open: users, Dialled: users}); got != want {
				t.Errorf("%+v before the run, want %+v", got, want)
			}
			var book logbook
			loadTCP(t, web.URL, requests, sinkOf{&book}, func(o *Options) {
				o.Target, o.Connections, o.Schedule, o.ClosedLoop, o.Limit = g, links, shape.Immediately(), true, users
			})
			if len(book.all) != requests {
				t.Errorf("%d requests, want %d", len(book.all), requests)
			}
			for _, q := range book.all {
				if q.Failure != "" || q.Connect != 0 || q.Redials != 0 || q.Sent < q.Admitted || q.FirstChunk < q.Sent || q.Done < q.FirstChunk {
					t.Errorf("request %d: %q %q, connect %s, %d redials, admitted %s, sent %s, first chunk %s, done %s",
						q.Index, q.Failure, q.Error, q.Connect, q.Redials, q.Admitted, q.Sent, q.FirstChunk, q.Done)
				}
			}
			if n := accepted.Load(); n != users {
				t.Errorf("the server accepted %d connections, want %d", n, users)
			}
			if got, want := links.Stats(), (ConnectionStats{Dialled: users}); got != want {
				t.Errorf("%+v after the run, want %+v", got, want)
			}
		})
	}
}

// However opening ends, the error says how many there are and why, what was opened is of use, and nothing is left behind.
func TestOpenFails(t *testing.T) {
	errFull := errors.New("the server is full")
	sec := time.Second
	for _, c := range []struct {
		name  string
		n     int
		room  int           // the server takes so many; 0 for none
		slow  time.Duration // what a dial takes
		once  bool          // only one dial fails, the server takes all others
		end   func(cancel context.CancelFunc, l *Connections)
		open  int
		dials int // at most
		took  time.Duration
		words string
	}{
		{name: "refused", n: 1000, dials: dialsAtOnce, words: "0 of 1000 connections are open: the server is full"},
		{name: "fewer than asked", n: 500, room: 100, open: 100, dials: 100 + dialsAtOnce, words: "100 of 500 connections are open: the server is full"},
		{name: "one failure", n: 500, once: true, open: 500, dials: 501},
		{name: "cancelled midway", n: 1000, room: 1000, slow: sec, end: func(cancel context.CancelFunc, _ *Connections) { time.AfterFunc(sec*5/2, cancel) },
			open: 2 * dialsAtOnce, dials: 3 * dialsAtOnce, took: sec * 5 / 2, words: "128 of 1000 connections are open: context canceled"},
		{name: "cancelled before", n: 5, room: 5, end: func(cancel context.CancelFunc, _ *Connections) { cancel() }, words: "0 of 5 connections are open: context canceled"},
		{name: "cut midway", n: 1000, room: 1000, slow: sec, end: func(_ context.CancelFunc, l *Connections) { time.AfterFunc(sec*5/2, l.Close) },
			dials: 3 * dialsAtOnce, took: sec * 5 / 2, words: "0 of 1000 connections are open: use of closed"},
		{name: "cut before", n: 5, room: 5, end: func(_ context.CancelFunc, l *Connections) { l.Close() }, words: "0 of 5 connections are open: use of closed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var dials atomic.Int64
				var mu sync.Mutex
				var servers []net.Conn
				links := NewConnections(dialled(t, func(ctx context.Context, _, _ string) (net.Conn, error) {
					n := dials.Add(1)
					select {
					case <-time.After(c.slow):
					case <-ctx.Done():
						return nil, ctx.Err()
					}
					if c.once && n == 7 || !c.once && n > int64(c.room) {
						return nil, errFull
					}
					client, server := net.Pipe()
					mu.Lock()
					defer mu.Unlock()
					servers = append(servers, server)
					return client, nil
				}), "")
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.end != nil {
					c.end(cancel, links)
				}
				began := time.Now()
				err := links.Open(ctx, c.n)
				if c.words == "" && err != nil || c.words != "" && (err == nil || !strings.Contains(err.Error(), c.words)) {
					t.Errorf("%v, want %q", err, c.words)
				}
				if took := time.Since(began); took != c.took && !c.once {
					t.Errorf("it took %s, want %s", took, c.took)
				}
				if n := int(dials.Load()); n > c.dials {
					t.Errorf("%d dials, want at most %d", n, c.dials)
				}
				if got := links.Stats().Open; got != c.open {
					t.Errorf("%d are open, want %d", got, c.open)
				}
				for i := range c.open {
					if links.take() == nil {
						t.Fatalf("%d connections can be taken, want %d", i, c.open)
					}
				}
				if links.take() != nil {
					t.Errorf("more than %d connections can be taken", c.open)
				}
				links.Close()
				for _, s := range servers {
					if _, err := s.Read(make([]byte, 1)); err != io.EOF {
						t.Errorf("a connection was left behind: %v", err)
					}
				}
			})
		})
	}
}

// Calls at the same time do not open more than either asked for.
func TestOpenTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScripted(t, answer(0))
		links := NewConnections(s.target(), "")
		var calls sync.WaitGroup
		for _, n := range []int{10, 200, 100} {
			calls.Go(func() {
				if err := links.Open(t.Context(), n); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
		if got, want := links.Stats(), (ConnectionStats{Open: 200, Dialled: 200}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		links.Close()
		s.close()
	})
}

// A connection that carried a request idles for less long than one that never did, and times count from the run, however
// long before it they were opened.
func TestIdleLimits(t *testing.T) {
	sec := time.Second
	for _, c := range []struct {
		name   string
		before time.Duration // between opening and the run
		at     []time.Duration
		dials  int
	}{
		{"unused for long", 20 * sec, []time.Duration{0, 9 * sec}, 2},
		{"unused for too long", 20 * sec, []time.Duration{11 * sec, 11 * sec}, 4},
		{"used", 0, []time.Duration{0, 0, 3 * sec, 3 * sec}, 2},
		{"used, then idle for too long", 0, []time.Duration{0, 0, 4 * sec, 4 * sec}, 4},
		{"one used, one not", 0, []time.Duration{0, 6 * sec, 12 * sec}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScripted(t, pieces(true, 100*time.Millisecond, streamHead+chunk(text("a")), chunk(sseEvent(finish))+lastChunk))
				g := s.target()
				links := NewConnections(g, "")
				if err := links.Open(t.Context(), 2); err != nil {
					t.Fatal(err)
				}
				time.Sleep(c.before)
				all := load(t, s, len(c.at), func(o *Options) {
					o.Target, o.Connections, o.Schedule, o.Limit = g, links, shape.At(c.at), 0
				})
				for i, q := range all {
					if q.Failure != "" || q.Redials != 0 || q.Sent != c.at[i] || q.FirstChunk != c.at[i] || q.LastChunk != c.at[i]+100*time.Millisecond {
						t.Errorf("request %d: %q %q, %d redials, sent %s, chunks %s to %s, want %s and 100ms more",
							i, q.Failure, q.Error, q.Redials, q.Sent, q.FirstChunk, q.LastChunk, c.at[i])
					}
				}
				if s.dials != c.dials {
					t.Errorf("%d dials, want %d", s.dials, c.dials)
				}
			})
		})
	}
}

// A connection opened ahead that fails at once is replaced once, like one that was used before, if it has been idle for so
// long that the server may have closed it for that. A young one failed of something else.
func TestOpenedAheadAndClosed(t *testing.T) {
	for _, c := range []struct {
		idle    time.Duration
		failure metrics.Failure
		redials int
	}{{0, metrics.FailedReset, 0}, {idleLimit - 1, metrics.FailedReset, 0}, {idleLimit, "", 1}} {
		synctest.Test(t, func(t *testing.T) {
			slam := func(net.Conn, *http.Request, []byte) bool { return false }
			s := newScripted(t, slam, answer(0))
			g := s.target()
			links := NewConnections(g, "")
			if err := links.Open(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			time.Sleep(c.idle)
			q := load(t, s, 1, func(o *Options) { o.Target, o.Connections = g, links })[0]
			if q.Failure != c.failure || q.Redials != c.redials || s.dials != 1+c.redials {
				t.Errorf("idle for %s: %q %q, %d redials, %d dials; want %q and %d redials", c.idle, q.Failure, q.Error, q.Redials, s.dials, c.failure, c.redials)
			}
		})
	}
}

// Try leaves the connections of the run alone.
func TestTryLeavesConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScripted(t, answer(0))
		o := Defaults()
		o.Target = s.target()
		o.Connections = NewConnections(o.Target, "")
		if err := o.Connections.Open(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		if q := Try(t.Context(), o, turns(1), 1)[0]; q.Failure != "" || s.dials != 3 {
			t.Errorf("%q %q, %d dials, want its own", q.Failure, q.Error, s.dials)
		}
		if err := o.Connections.Open(t.Context(), 2); err != nil || s.dials != 3 || o.Connections.Stats().Open != 2 {
			t.Errorf("%v, %d dials, %d open", err, s.dials, o.Connections.Stats().Open)
		}
		o.Connections.Close()
		s.close()
	})
}
