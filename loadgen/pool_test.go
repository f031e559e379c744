package loadgen

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/loadgen/conn"
	"benchtop/loadgen/shape"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// A closed loop on connections opened ahead never dials: no request waits for a connection, none is opened twice.
func TestOpenAhead(t *testing.T) {
	const users, requests = 8, 64
	for name, start := range map[string]func(*httptest.Server){"plain": (*httptest.Server).Start,
		"TLS": (*httptest.Server).StartTLS} {
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
			g := targetOf(t, target.Options{BaseURL: web.URL, Insecure: true})
			pool := conn.NewPool(g, "")
			pool.KeptOpen()
			for _, n := range []int{users / 2, users, users - 1, 0, -1} { // only the difference is opened
				assert.Fine(t, pool.Open(t.Context(), n))
			}
			assert.Equal(t, pool.Stats(), conn.Stats{Open: users, Dialled: users}, "before the run")
			var book logbook
			loadTCP(t, web.URL, requests, sinkOf{&book}, func(o *Options) {
				o.Target, o.Connections, o.Schedule, o.ClosedLoop, o.Limit = g, conn.Pools{pool}, shape.Immediately(),
					true, users
			})
			assert.Equal(t, len(book.all), requests, "requests")
			for _, q := range book.all {
				if q.Failure != "" || q.Connect != 0 || q.Tallies[metrics.Redials] != 0 || q.Sent < q.Admitted ||
					q.FirstChunk < q.Sent || q.Done < q.FirstChunk {
					t.Errorf("request %d: %q %q, connect %s, %d redials, admitted %s, sent %s, first chunk %s, done %s",
						q.Index, q.Failure, q.Error, q.Connect, q.Tallies[metrics.Redials], q.Admitted, q.Sent,
						q.FirstChunk, q.Done)
				}
			}
			assert.Equal(t, accepted.Load(), users, "the server accepted connections")
			assert.Equal(t, pool.Stats(), conn.Stats{Dialled: users}, "after the run")
		})
	}
}

// A connection that carried a request idles for less long than one that never did, and times count from the run,
// however long before it they were opened.
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
		bubble(t, c.name, func(t *testing.T) {
			s := newScripted(t,
				pieces(true, 100*time.Millisecond, streamHead+chunk(text("a")), chunk(sseEvent(finish))+lastChunk))
			g := s.target()
			pool := conn.NewPool(g, "")
			assert.Fine(t, pool.Open(t.Context(), 2))
			time.Sleep(c.before)
			all := load(t, s, len(c.at), func(o *Options) {
				o.Target, o.Connections, o.Schedule, o.Limit = g, conn.Pools{pool}, shape.At(c.at), 0
			})
			for i, q := range all {
				if q.Failure != "" || q.Tallies[metrics.Redials] != 0 || q.Sent != c.at[i] || q.FirstChunk != c.at[i] ||
					q.LastChunk != c.at[i]+100*time.Millisecond {
					t.Errorf("request %d: %q %q, %d redials, sent %s, chunks %s to %s, want %s and 100ms more",
						i, q.Failure, q.Error, q.Tallies[metrics.Redials], q.Sent, q.FirstChunk, q.LastChunk, c.at[i])
				}
			}
			assert.Equal(t, s.dials, c.dials, "dials")
		})
	}
}

// A connection opened ahead that fails at once is replaced once, like a used one, if it has been idle for so long that
// the server may have closed it for that. A young one failed for another reason.
func TestOpenedAheadAndClosed(t *testing.T) {
	const idleLimit = 3500 * time.Millisecond
	for _, c := range []struct {
		idle    time.Duration
		failure metrics.Failure
		redials int
	}{{0, metrics.FailedReset, 0}, {idleLimit - 1, metrics.FailedReset, 0}, {idleLimit, "", 1}} {
		synctest.Test(t, func(t *testing.T) {
			slam := func(net.Conn, *http.Request, []byte) bool { return false }
			s := newScripted(t, slam, answer(0))
			g := s.target()
			pool := conn.NewPool(g, "")
			assert.Fine(t, pool.Open(t.Context(), 1))
			time.Sleep(c.idle)
			q := load(t, s, 1, func(o *Options) { o.Target, o.Connections = g, conn.Pools{pool} })[0]
			if q.Failure != c.failure || q.Tallies[metrics.Redials] != c.redials || s.dials != 1+c.redials {
				t.Errorf("idle for %s: %q %q, %d redials, %d dials; want %q and %d redials", c.idle, q.Failure, q.Error,
					q.Tallies[metrics.Redials], s.dials, c.failure, c.redials)
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
		o.Connections = conn.NewPools([]*target.Target{o.Target}, "")
		assert.Fine(t, o.Connections.Open(t.Context(), 2))
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
