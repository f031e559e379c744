package loadgen

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/metrics"
)

const (
	streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	lastChunk  = "0\r\n\r\n"
)

// chunk is an HTTP chunk.
func chunk(data string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(data), data) }

func event(json string) string { return "data: " + json + "\n\n" }

func text(s string) string {
	return event(fmt.Sprintf(`{"choices":[{"text":%q,"finish_reason":null}]}`, s))
}

const (
	finish = `{"choices":[{"text":"","finish_reason":"length"}]}`
	count  = `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}`
)

// The clocks of a chunk: the last byte of its data counts, not the line end behind it, whichever way that comes.
func TestChunkTimes(t *testing.T) {
	a, b := text("a"), text("b")
	for _, c := range []struct {
		name   string
		pieces []string
		want   []time.Duration // in units of the pause
	}{
		{"at once", []string{streamHead, chunk(a), chunk(b), chunk(event(finish)) + lastChunk}, []time.Duration{1, 2, 3}},
		{"two in a piece", []string{streamHead, chunk(a) + chunk(b), chunk(event(finish)) + lastChunk}, []time.Duration{1, 1, 2}},
		{"line end by itself", []string{streamHead, strings.TrimSuffix(chunk(a), "\r\n"), "\r\n", chunk(event(finish)) + lastChunk}, []time.Duration{1, 3}},
		{"line end with the next chunk", []string{streamHead, strings.TrimSuffix(chunk(a), "\r\n"), "\r\n" + chunk(event(finish)) + lastChunk}, []time.Duration{1, 2}},
		{"line end in two pieces", []string{streamHead, strings.TrimSuffix(chunk(a), "\r\n"), "\r", "\n", chunk(event(finish)) + lastChunk}, []time.Duration{1, 4}},
		{"chunk header by itself", []string{streamHead, fmt.Sprintf("%x\r\n", len(a)), a + "\r\n", chunk(event(finish)) + lastChunk}, []time.Duration{2, 3}},
		{"event in two HTTP chunks", []string{streamHead, chunk(a[:9]), chunk(a[9:]), chunk(event(finish)) + lastChunk}, []time.Duration{2, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const pause = 200 * time.Millisecond
				s := newScripted(t, pieces(true, pause, c.pieces...))
				q := load(t, s, 1, nil)[0]
				if q.Failure != "" || len(q.Chunks) != len(c.want) {
					t.Fatalf("%d chunks, failure %q %q", len(q.Chunks), q.Failure, q.Error)
				}
				for i, w := range c.want {
					if q.Chunks[i].At != w*pause {
						t.Errorf("chunk %d at %s, want %s", i, q.Chunks[i].At, w*pause)
					}
				}
			})
		})
	}
}

// A connection that the server closed while it was idle is replaced once, without the request failing and without
// hiding the time it took.
func TestStaleConnection(t *testing.T) {
	whole := pieces(true, 0, streamHead+chunk(event(finish))+lastChunk)
	closing := func(c net.Conn, q *http.Request, b []byte) bool { whole(c, q, b); return false }
	t.Run("closed while idle", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newScripted(t, closing, whole)
			all := load(t, s, 2, func(o *Options) { o.Schedule = At([]time.Duration{0, time.Second}) })
			if q := all[1]; q.Failure != "" || q.Redials != 1 || s.dials != 2 {
				t.Errorf("failure %q %q, %d redials, %d dials; want a success after one redial", q.Failure, q.Error, q.Redials, s.dials)
			}
		})
	})
	t.Run("closed when the request arrives", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			slam := func(net.Conn, *http.Request, []byte) bool { time.Sleep(300 * time.Millisecond); return false }
			s := newScripted(t, whole, slam, whole)
			all := load(t, s, 2, func(o *Options) { o.Schedule = At([]time.Duration{0, time.Second}) })
			if q := all[1]; q.Failure != "" || q.Redials != 1 || q.TTFT() != 300*time.Millisecond {
				t.Errorf("failure %q %q, %d redials, TTFT %s; want a success after one redial, its 300ms included", q.Failure, q.Error, q.Redials, q.TTFT())
			}
		})
	})
	t.Run("only once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			slam := func(net.Conn, *http.Request, []byte) bool { return false }
			s := newScripted(t, whole, slam, slam, whole)
			all := load(t, s, 2, func(o *Options) { o.Schedule = At([]time.Duration{0, time.Second}) })
			if q := all[1]; q.Failure != metrics.FailedReset || q.Redials != 1 {
				t.Errorf("failure %q, %d redials; want a reset after one redial", q.Failure, q.Redials)
			}
		})
	})
	t.Run("never after the first byte of an answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newScripted(t, whole, pieces(false, 0, "HTTP/1.1 2"), whole)
			all := load(t, s, 2, func(o *Options) { o.Schedule = At([]time.Duration{0, time.Second}) })
			if q := all[1]; q.Failure == "" || q.Redials != 0 {
				t.Errorf("failure %q, %d redials; want a failure without a redial", q.Failure, q.Redials)
			}
		})
	})
	t.Run("too old to be tried", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newScripted(t, closing, whole)
			all := load(t, s, 2, func(o *Options) { o.Schedule = At([]time.Duration{0, 4 * time.Second}) })
			if q := all[1]; q.Failure != "" || q.Redials != 0 || s.dials != 2 {
				t.Errorf("failure %q, %d redials, %d dials; want a new connection without a redial", q.Failure, q.Redials, s.dials)
			}
		})
	})
}
