package loadgen

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

const (
	streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	lastChunk  = "0\r\n\r\n"
)

// chunk is an HTTP chunk.
func chunk(data string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(data), data) }

func sseEvent(json string) string { return "data: " + json + "\n\n" }

func text(s string) string {
	return sseEvent(fmt.Sprintf(`{"choices":[{"text":%q,"finish_reason":null}]}`, s))
}

const (
	finish = `{"choices":[{"text":"","finish_reason":"length"}]}`
	count  = `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}`
)

// The time of a chunk is that of the last byte of its data, not of the line end behind it, however they are split.
func TestChunkTimes(t *testing.T) {
	a, b := text("a"), text("b")
	for _, c := range []struct {
		name   string
		pieces []string
		want   []time.Duration // in units of the pause
	}{
		{"at once", []string{streamHead, chunk(a), chunk(b), chunk(sseEvent(finish)) + lastChunk},
			[]time.Duration{1, 2, 3}},
		{"two in a piece", []string{streamHead, chunk(a) + chunk(b), chunk(sseEvent(finish)) + lastChunk},
			[]time.Duration{1, 1, 2}},
		{"line end by itself", []string{streamHead, strings.TrimSuffix(chunk(a), "\r\n"), "\r\n",
			chunk(sseEvent(finish)) + lastChunk}, []time.Duration{1, 3}},
		{"line end with the next chunk", []string{streamHead, strings.TrimSuffix(chunk(a), "\r\n"),
			"\r\n" + chunk(sseEvent(finish)) + lastChunk}, []time.Duration{1, 2}},
		{"line end in two pieces", []string{streamHead, strings.TrimSuffix(chunk(a), "\r\n"), "\r", "\n",
			chunk(sseEvent(finish)) + lastChunk}, []time.Duration{1, 4}},
		{"chunk header by itself", []string{streamHead, fmt.Sprintf("%x\r\n", len(a)), a + "\r\n",
			chunk(sseEvent(finish)) + lastChunk}, []time.Duration{2, 3}},
		{"event in two HTTP chunks", []string{streamHead, chunk(a[:9]), chunk(a[9:]),
			chunk(sseEvent(finish)) + lastChunk}, []time.Duration{2, 3}},
	} {
		bubble(t, c.name, func(t *testing.T) {
			const pause = 200 * time.Millisecond
			s := newScripted(t, pieces(true, pause, c.pieces...))
			q := load(t, s, 1, nil)[0]
			if q.Failure != "" || len(q.Chunks) != len(c.want) {
				t.Fatalf("%d chunks, failure %q %q", len(q.Chunks), q.Failure, q.Error)
			}
			for i, w := range c.want {
				assert.Equal(t, q.Chunks[i].At, w*pause, "chunk %d at", i)
			}
		})
	}
}

// Only a reset by a server's close of an idle connection leads to a redial: the connection was idle for a second, and
// failed within 20 ms or two dials of the write, whichever is more, before an answer began. The redial's time stays in
// the latencies.
func TestStaleConnection(t *testing.T) {
	const ms, sec = time.Millisecond, time.Second
	whole := pieces(true, 0, streamHead+chunk(sseEvent(finish))+lastChunk)
	after := func(d time.Duration) script {
		return func(net.Conn, *http.Request, []byte) bool { time.Sleep(d); return false }
	}
	closing := func(c net.Conn, q *http.Request, b []byte) bool { whole(c, q, b); return false }
	for _, c := range []struct {
		name    string
		dial    time.Duration // duration of a dial
		idle    time.Duration // from the first request's end to the second
		scripts []script      // of the requests as the server counts them
		redials int
		failure metrics.Failure
		ttft    time.Duration
		dials   int
	}{
		{"closed while idle", 0, sec, []script{closing, whole}, 1, "", 0, 2},
		{"closed at once", 0, sec, []script{whole, after(0), whole}, 1, "", 0, 2},
		{"closed soon", 0, sec, []script{whole, after(20 * ms), whole}, 1, "", 20 * ms, 2},
		{"closed too late", 0, sec, []script{whole, after(20*ms + 1), whole}, 0, metrics.FailedReset, metrics.Never, 1},
		{"closed soon, far away", 100 * ms, sec, []script{whole, after(200 * ms), whole}, 1, "", 300 * ms, 2},
		{"closed too late, far away", 100 * ms, sec, []script{whole, after(200*ms + 1), whole}, 0, metrics.FailedReset,
			metrics.Never, 1},
		{"closed after work", 0, sec, []script{whole, after(3 * sec), whole}, 0, metrics.FailedReset, metrics.Never, 1},
		{"hardly idle", 0, sec - 1, []script{whole, after(0), whole}, 0, metrics.FailedReset, metrics.Never, 1},
		{"not idle", 0, 0, []script{whole, after(0), whole}, 0, metrics.FailedReset, metrics.Never, 1},
		{"only once", 0, sec, []script{whole, after(0), after(0), whole}, 1, metrics.FailedReset, metrics.Never, 2},
		{"after the first byte of an answer", 0, sec, []script{whole, pieces(false, 0, "HTTP/1.1 2"), whole}, 0,
			metrics.FailedTruncated, metrics.Never, 1},
		{"too old to be tried", 0, 4 * sec, []script{closing, whole}, 0, "", 0, 2},
	} {
		bubble(t, c.name, func(t *testing.T) {
			s := newScripted(t, c.scripts...)
			s.slow = c.dial
			q := load(t, s, 2, func(o *Options) { o.Schedule = shape.At([]time.Duration{0, c.dial + c.idle}) })[1]
			if q.Failure != c.failure || q.Tallies[metrics.Redials] != c.redials || q.TTFT() != c.ttft ||
				s.dials != c.dials {
				t.Errorf("failure %q %q, %d redials, TTFT %s, %d dials; want %q, %d, %s, %d", q.Failure, q.Error,
					q.Tallies[metrics.Redials], q.TTFT(), s.dials,
					c.failure, c.redials, c.ttft, c.dials)
			}
		})
	}
}
