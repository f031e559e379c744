package metronome

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
)

func TestRefusals(t *testing.T) {
	_, base := start(t)
	body := func(text string) string { return post("/v1/completions", "", text) }
	head := func(fields string) string { return "POST /v1/completions HTTP/1.1\r\n" + fields + "\r\n" }
	for _, c := range []struct {
		name, request string
		status        int
		words         string
	}{
		{"no HTTP", "hello\r\n\r\n", 400, "malformed HTTP request"},
		{"no end of a line", "hello", 400, "malformed HTTP request"},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\n\r\n", 400, "malformed HTTP request"},
		{"no path", "GET  HTTP/1.1\r\n\r\n", 400, "empty url"},
		{"old", "GET /health HTTP/1.0\r\n\r\n", 505, "HTTP/1.1"},
		{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "HTTP/1.1"},
		{"long line", "GET /" + strings.Repeat("x", 100_000) + " HTTP/1.1\r\n\r\n", 431, "longer than 65536"},
		{"many lines", "GET /health HTTP/1.1\r\n" + strings.Repeat("A: b\r\n", 20_000) + "\r\n", 431,
			"longer than 65536"},
		{"cut off", "GET /health HTTP/1.1\r\nA: b\r\n", 400, "ended within the head"},
		{"no colon", head("what\r\n"), 400, "malformed MIME header"},
		{"length in words", head("Content-Length: ten\r\n"), 400, "Content-Length"},
		{"two lengths", head("Content-Length: 1\r\nContent-Length: 2\r\n"), 400, "Content-Length"},
		{"length beyond all", head("Content-Length: 99999999999999999999\r\n"), 400, "Content-Length"},
		{"much", head("Content-Length: 99999999999999\r\n"), 413, "more than"},
		{"long id", head("X-Request-Id: " + strings.Repeat("x", 1025) + "\r\n"), 400, "X-Request-Id"},
		{"body cut off", head("Content-Length: 10\r\n") + "{", 400, "within the body"},
		{"long body cut off", head("Content-Length: 10000\r\n") + "{", 400, "within the body"},
		{"a chunk of no length", head("Transfer-Encoding: chunked\r\n") + "zz\r\n", 400, "chunk"},
		{"no body", head(""), 400, "JSON"},
		{"array", body("[]"), 400, "JSON"},
		{"cut-off JSON", body(`{"max_tokens":1`), 400, "JSON"},
		{"cut-off text", body(`{"prompt":"\"`), 400, "JSON"},
		{"cut-off array", body(`{"prompt":[1,[2]`), 400, "JSON"},
		{"deep", body(`{"prompt":` + strings.Repeat("[", 1<<20)), 400, "inside each other"},
		{"no value", body(`{"max_tokens":}`), 400, "value"},
		{"no colon in JSON", body(`{"max_tokens"}`), 400, "missing ':'"},
		{"no name", body(`{,}`), 400, "object key"},
		{"two objects", body(`{}{}`), 400, "unexpected tail"},
		{"none", body(`{"max_tokens":0}`), 400, "max_tokens"},
		{"negative", body(`{"max_tokens":-1}`), 400, "max_tokens"},
		{"fraction", body(`{"max_tokens":1.5}`), 400, "max_tokens"},
		{"text", body(`{"max_completion_tokens":"1"}`), 400, "max_completion_tokens"},
		{"pace in words", post("/ttft=soon/v1/completions", "", "{}"), 400, "ttft=soon"},
		{"pace below zero", post("/itl=-1ms/v1/completions", "", "{}"), 400, "itl=-1ms"},
		{"pace without unit", post("/a/itl=10/v1/chat/completions", "", "{}"), 400, "itl=10"},
		{"pace of hours", post("/ttft=2h/v1/completions", "", "{}"), 400, "ttft=2h"},
		{"pace of percents", post("/ttft=%zz/v1/completions", "", "{}"), 400, "ttft=%zz"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := dial(t, base)
			k.send(c.request)
			if half, ok := k.conn.(interface{ CloseWrite() error }); ok {
				_ = half.CloseWrite()
			}
			r := k.answer()
			words := assert.Must(io.ReadAll(r.Body))(t)
			if r.StatusCode != c.status || !strings.Contains(string(words), c.words) || !r.Close {
				t.Errorf("status %d %s, closed %v; want %d with %q", r.StatusCode, words, r.Close, c.status, c.words)
			}
			if rest, err := io.ReadAll(k.r); err != nil || len(rest) > 0 {
				t.Errorf("%q and %v behind it", rest, err)
			}
		})
	}
}

func TestOtherEndpoints(t *testing.T) {
	_, base := start(t)
	c := dial(t, base)
	for _, e := range []struct {
		request string
		status  int
		words   string
	}{
		{"GET /health HTTP/1.1\r\n\r\n", 200, "{}"},
		{"GET /ttft=1ms/v1/models?x=y HTTP/1.1\n\n", 200, `"id":"metronome"`},
		{"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 404, "unknown endpoint"},
		{"GET /v1/completions HTTP/1.1\r\n\r\n", 405, "use POST"},
		{post("/tokenize", "", strings.Repeat("x", 10_000)), 404, "unknown endpoint"},
		{"POST /tokenize HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 404, "unknown endpoint"},
		{"\r\nGET /log HTTP/1.1\r\n\r\n", 200, logMagic},
		{"GET /health HTTP/1.1\r\nConnection: Close\r\n\r\n", 200, "{}"},
	} {
		c.send(e.request)
		r := c.answer()
		words, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != e.status || !strings.Contains(string(words), e.words) {
			t.Errorf("%.40q: status %d %q (%v), want %d with %q", e.request, r.StatusCode, words, err, e.status,
				e.words)
		}
	}
	if rest, err := io.ReadAll(c.r); err != nil || len(rest) > 0 {
		t.Errorf("%q and %v behind a request that wanted the connection closed", rest, err)
	}
}

// Pipelined requests are answered in turn, and anything else ends the connection.
func TestPipelined(t *testing.T) {
	_, base := start(t)
	c := dial(t, base)
	c.send(ask(path(time.Millisecond, time.Millisecond, "/v1/completions"), "a", 3) + ask("/v1/chat/completions", "b",
		5) + "\x00garbage\r\n\r\n")
	checkEvents(t, false, 3, c.events())
	checkEvents(t, true, 5, c.events())
	if r := c.answer(); r.StatusCode != http.StatusBadRequest || !r.Close {
		t.Errorf("garbage is answered with status %d", r.StatusCode)
	}
}

// A connection that is open keeps nothing of a long prompt.
func TestLongPromptsAreForgotten(t *testing.T) {
	_, base := start(t)
	heap := func() uint64 {
		runtime.GC()
		runtime.GC() // what pools keep, a second one takes
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	prompt, before := `{"max_tokens":1,"prompt":[`+strings.Repeat("12345,", 50_000)+`0]}`, heap()
	for range 10 {
		c := dial(t, base)
		c.send(post("/v1/completions", "", prompt))
		c.events()
	}
	if grown := int64(heap()) - int64(before); grown > 5<<20 {
		t.Errorf("10 connections keep %d bytes", grown)
	}
}
