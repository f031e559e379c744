package loadgen

import (
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"benchtop/internal/ci"
	"benchtop/loadgen/protocol"
	"benchtop/metrics"
)

// flood is more than any limit of an answer's parts.
const flood = 8 << 20

// flooding writes a beginning and then a piece over and over, up to flood bytes, and then nothing for an hour. taken
// counts the bytes that the client read.
func flooding(taken *atomic.Int64, begin, piece string) script {
	return func(c net.Conn, _ *http.Request, _ []byte) bool {
		if _, err := io.WriteString(c, begin); err != nil {
			return false
		}
		piece := strings.Repeat(piece, max(1, 4096/len(piece)))
		for taken.Load() < flood {
			n, err := io.WriteString(c, piece)
			taken.Add(int64(n))
			if err != nil {
				return false
			}
		}
		time.Sleep(time.Hour)
		return false
	}
}

// A server whose answer never ends, in any of its parts, costs a bounded number of bytes and bounded time, and leaves a
// failure of the right kind. most is the number of bytes that the client may read; 0 where nothing of what it reads is
// kept.
func TestAnswersWithoutEnd(t *testing.T) {
	ci.SkipUnderRace(t)
	const ok = "HTTP/1.1 200 OK\r\n"
	for _, c := range []struct {
		name, begin, piece string
		most               int64
		kind               metrics.Failure
		words              string
	}{
		{"a status line", "HTTP/1.1 200 ", "x", 128 << 10, metrics.FailedMalformed, "longer than 65536 bytes"},
		{"no status line", "", "x", 128 << 10, metrics.FailedMalformed, `not HTTP: "xxx`},
		{"a header line", ok + "X: ", "x", 128 << 10, metrics.FailedMalformed, "longer than 65536 bytes"},
		{"a header name", ok, "x", 128 << 10, metrics.FailedMalformed, "longer than 65536 bytes"},
		{"header lines", ok, "X: y\r\n", 128 << 10, metrics.FailedMalformed, "longer than 65536 bytes"},
		{"blank lines before it", "", "\r\n", 128 << 10, metrics.FailedMalformed, `not HTTP: "an empty line"`},
		{"interim answers", "", "HTTP/1.1 100 Continue\r\n\r\n", 128 << 10, metrics.FailedMalformed, "too many 1xx"},
		{"the size of a chunk", streamHead, "0", 128 << 10, metrics.FailedMalformed, "not HTTP"},
		{"an extension of a chunk", streamHead + "5;", "x", 0, metrics.FailedTimeout, "not complete after 20s"},
		{"empty lines of a stream", streamHead, chunk("\n"), 0, metrics.FailedTimeout, "not complete after 20s"},
		{"comments of a stream", streamHead, chunk(": ping\n\n"), 0, metrics.FailedTimeout, "not complete after 20s"},
		{"a line of a stream", streamHead, chunk("data: " + strings.Repeat("x", 1000)), 2 << 20,
			metrics.FailedMalformed, "more than 1048576 bytes"},
		{"an event's lines", streamHead, chunk("data: x\n"), 8 << 20, metrics.FailedMalformed,
			"more than 1048576 bytes"},
		{"a name of an event", streamHead, chunk("event: x\n"), 0, metrics.FailedTimeout, "not complete after 20s"},
		{"chunks", streamHead, chunk(text("a")), 8 << 20, metrics.FailedMalformed, "more than 65536 chunks"},
		{"an answer in one piece", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n", "<p>",
			2 << 20, metrics.FailedMalformed, "more than"},
		{"a refusal", "HTTP/1.1 500 Oops\r\nConnection: close\r\n\r\n", "x", 128 << 10, metrics.FailedStatus, "xxx"},
		{"a trailer", streamHead + chunk(text("a")) + chunk(sseEvent(finish)) + "0\r\n", "X: y\r\n", 0, "", ""},
	} {
		bubble(t, c.name, func(t *testing.T) {
			var taken atomic.Int64
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			q := load(t, newScripted(t, flooding(&taken, c.begin, c.piece)), 1, func(o *Options) {
				o.StallTimeout, o.RequestTimeout = 4*time.Second, 20*time.Second
			})[0]
			runtime.ReadMemStats(&after)
			if ends(t, &q, c.kind, c.words); len(q.Error) > 2048 {
				t.Errorf("an error of %d bytes", len(q.Error))
			}
			if n := taken.Load(); c.most > 0 && n > c.most {
				t.Errorf("%d bytes were read, want at most %d", n, c.most)
			}
			if q.Done > 21*time.Second {
				t.Errorf("it took %s", q.Done)
			}
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 {
				t.Errorf("%d MiB were allocated", grown>>20)
			}
		})
	}
}

// Answers that contradict themselves or HTTP fail, or count where their meaning is plain; a connection whose end of the
// answer is in doubt is not used again.
func TestAnswersThatLie(t *testing.T) {
	a, stop := text("a"), sseEvent(finish)
	length := func(n string, body string) string {
		return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: " + n + "\r\n\r\n" + body
	}
	for _, c := range []struct {
		name, answer string
		closes       bool // the server closes the connection behind it
		kind         metrics.Failure
		words        string
		reused       bool
	}{
		{name: "HTTP/0.9", answer: "<html>hello</html>\r\n", closes: true, kind: metrics.FailedMalformed,
			words: "not HTTP"},
		{name: "JSON called a stream", answer: plainAnswer("200 OK", "text/event-stream", `{"yes": "no"}`),
			kind: metrics.FailedMalformed, words: `content type "text/event-stream" says, got "{\"yes\": \"no\"}"`,
			reused: true},
		{name: "gzip without its name", answer: plainAnswer("200 OK", "text/event-stream", "\x1f\x8b\x08\x00\n\n"),
			kind: metrics.FailedMalformed, words: `says, got "\x1f\x8b\b\x00`, reused: true},
		{name: "another protocol", answer: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n",
			closes: true, kind: metrics.FailedStatus, words: "Switching Protocols"},
		// the stream itself is complete
		{name: "shorter than its length", answer: length("9999", a+stop), closes: true},
		{name: "longer than its length", answer: length("4", "data"+a+stop), kind: metrics.FailedTruncated,
			words: "without finish_reason"},
		{name: "a length below 0", answer: length("-5", a+stop), closes: true, kind: metrics.FailedMalformed,
			words: "not HTTP"},
		{name: "a length that is no number", answer: length("many", a+stop), closes: true,
			kind: metrics.FailedMalformed, words: "not HTTP"},
		{name: "a length beyond measure", answer: length("99999999999999999999", a+stop), closes: true,
			kind: metrics.FailedMalformed, words: "not HTTP"},
		{name: "a length and chunks", answer: strings.Replace(stream(a, stop), "\r\n", "\r\nContent-Length: 3\r\n", 1),
			reused: true},
		{name: "a header without a colon", answer: strings.Replace(stream(a, stop), "\r\n", "\r\nhello\r\n", 1),
			kind: metrics.FailedMalformed, words: "not HTTP"},
		{name: "a header with a zero", answer: strings.Replace(stream(a, stop), "\r\n", "\r\nX: a\x00b\r\n", 1),
			kind: metrics.FailedMalformed, words: "not HTTP"},
	} {
		bubble(t, c.name, func(t *testing.T) {
			s := newScripted(t, pieces(!c.closes, 0, c.answer), pieces(true, 0, stream(a, stop)))
			all := load(t, s, 2, func(o *Options) {
				o.StallTimeout, o.RequestTimeout, o.Protocol = 4*time.Second, 20*time.Second, protocol.Default()
			})
			ends(t, &all[0], c.kind, c.words)
			if q := all[1]; q.Failure != "" || (s.dials == 1) != c.reused {
				t.Errorf("the request after it: %q %q; %d connections", q.Failure, q.Error, s.dials)
			}
		})
	}
}
