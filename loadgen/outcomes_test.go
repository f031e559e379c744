package loadgen

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/loadgen/protocol"
	"benchtop/metrics"
)

// resetConn is a connection that ends with a reset, as by a peer that aborts.
type resetConn struct{ net.Conn }

func (c resetConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err == io.EOF {
		err = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	}
	return n, err
}

// unwritableConn is a connection that takes no byte.
type unwritableConn struct{ net.Conn }

func (c unwritableConn) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// hanging writes a text and then nothing for an hour.
func hanging(s string) script {
	return func(c net.Conn, _ *http.Request, _ []byte) bool {
		_, _ = io.WriteString(c, s)
		time.Sleep(time.Hour)
		return false
	}
}

// plainAnswer is an answer with a length.
func plainAnswer(status, kind, body string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", status, kind, len(body), body)
}

// stream is an answer of one HTTP chunk for each piece, complete as HTTP.
func stream(pieces ...string) string {
	var b strings.Builder
	b.WriteString(streamHead)
	for _, p := range pieces {
		b.WriteString(chunk(p))
	}
	return b.String() + lastChunk
}

// singly cuts a text into its bytes.
func singly(s string) []string {
	var all []string
	for i := range len(s) {
		all = append(all, s[i:i+1])
	}
	return all
}

// outcome is the observed result of a request.
type outcome struct {
	failure metrics.Failure
	words   string // part of the error
	status  int
	chunks  int
	input   int // 1 is the client's own count
	output  int
	source  metrics.TokenSource
	text    string
	finish  string
	done    time.Duration
}

const (
	usage5 = `"usage":{"prompt_tokens":5,"completion_tokens":%d}`
	done   = "data: [DONE]\n\n"
)

// Each kind of answer, and each way not to answer, has exactly the right outcome, at exactly the right time, and does
// not affect the next request.
func TestOutcomes(t *testing.T) {
	const (
		byUsage, byChunks, byIDs  = metrics.TokensFromUsage, metrics.TokensFromChunks, metrics.TokensFromIDs
		status, malformed, inside = metrics.FailedStatus, metrics.FailedMalformed, metrics.FailedInStream
		truncated, reset, tooLong = metrics.FailedTruncated, metrics.FailedReset, metrics.FailedTimeout
		stall, empty, cannotreach = metrics.FailedStall, metrics.FailedEmpty, metrics.FailedConnect
		sec, ms                   = time.Second, time.Millisecond
		jsonHead                  = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: " +
			"chunked\r\n\r\n"
		unicode = "é€😀"
	)
	stop := sseEvent(finish)
	a, b, end := text("a"), text("b"), text(" z")
	whole := stream(a, b, stop, sseEvent(count), done)
	good := func(chunks int, output int, text string) outcome {
		return outcome{status: 200, chunks: chunks, input: 1, output: output, source: byChunks, text: text,
			finish: "length"}
	}
	for _, c := range []struct {
		name   string
		script script
		chat   bool
		refuse error
		wrap   func(net.Conn) net.Conn
		want   outcome
		// reusable: the connection serves the next request, too.
		reusable bool
	}{
		// Regular answers, and variations of them.
		{name: "whole", script: pieces(true, 0, whole), reusable: true,
			want: outcome{status: 200, chunks: 3, input: 5, output: 7, source: byUsage, text: "ab", finish: "length"}},
		{name: "chat", chat: true, reusable: true,
			script: pieces(true, 0, stream(sseEvent(`{"choices":[{"delta":{"role":"assistant","content":""}}]}`),
				sseEvent(`{"choices":[{"delta":{"reasoning_content":"hm"}}]}`),
				sseEvent(`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`))),
			want: outcome{status: 200, chunks: 2, input: 1, output: 2, source: byChunks, text: "a", finish: "stop"}},
		{name: "missing usage", script: pieces(true, 0, stream(a, b, stop, done)), want: good(3, 2, "ab"),
			reusable: true},
		{name: "missing done", script: pieces(true, 0, stream(a, stop)), want: good(2, 1, "a"), reusable: true},
		{name: "done without finish", script: pieces(true, 0, stream(a, done)), reusable: true,
			want: outcome{status: 200, chunks: 1, input: 1, output: 1, source: byChunks, text: "a"}},
		{name: "finish alone", script: pieces(true, 0, stream(stop)), want: good(1, 1, ""), reusable: true},
		{name: "log probabilities count tokens", reusable: true,
			script: pieces(true, 0,
				stream(sseEvent(
					`{"choices":[{"text":"abc","logprobs":{"tokens":["a","b","c"]},"finish_reason":"stop"}]}`))),
			want: outcome{status: 200, chunks: 1, input: 1, output: 3, source: byIDs, text: "abc", finish: "stop"}},
		{name: "usage before finish", script: pieces(true, 0, stream(a, sseEvent(count), stop, done)), reusable: true,
			want: outcome{status: 200, chunks: 2, input: 5, output: 7, source: byUsage, text: "a", finish: "length"}},
		{name: "the last usage wins, count by count", reusable: true,
			script: pieces(true, 0, stream(sseEvent(count),
				sseEvent(`{"choices":[{"text":"b","finish_reason":"stop"}],"usage":{"completion_tokens":3}}`))),
			want: outcome{status: 200, chunks: 1, input: 5, output: 3, source: byUsage, text: "b", finish: "stop"}},
		{name: "usage of nothing",
			script: pieces(true, 0, stream(a, stop,
				sseEvent(`{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0}}`))), reusable: true,
			want: outcome{status: 200, chunks: 2, input: 1, output: 1, source: byChunks, text: "a", finish: "length"}},
		{name: "what comes after done does not count",
			script: pieces(true, 0, stream(a, stop, done, text("x"), sseEvent("not JSON"))), want: good(2, 1, "a"),
			reusable: true},
		{name: "body until the connection closes", want: good(2, 1, "a"),
			script: pieces(false, 0,
				"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"+a+stop)},
		{name: "HTTP/1.0", want: good(2, 1, "a"),
			script: pieces(false, 0, "HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"+a+stop)},
		{name: "interim answer", script: pieces(true, 0, "HTTP/1.1 100 Continue\r\n\r\n"+stream(a, stop)),
			want: good(2, 1, "a"), reusable: true},
		{name: "event stream by another name", want: good(2, 1, "a"), reusable: true,
			script: pieces(true, 0, plainAnswer("200 OK", "text/plain", a+stop))},

		// The same events in other bytes.
		{name: "coalesced into one read", script: pieces(true, 0, stream(a+b+stop+done)), want: good(3, 2, "ab"),
			reusable: true},
		{name: "every byte an HTTP chunk", script: pieces(true, 0, stream(singly(text(unicode)+stop)...)),
			want: good(2, 1, unicode), reusable: true},
		{name: "every byte a segment", script: pieces(true, 0, singly(stream(text(unicode), stop))...),
			want: good(2, 1, unicode), reusable: true},
		{name: "escaped",
			script: pieces(true, 0,
				stream(sseEvent(`{"choices":[{"text":"\u00e9\u20ac\ud83d\ude00\n\"","finish_reason":"length"}]}`))),
			want: good(1, 1, unicode+"\n\""), reusable: true},
		{name: "chunk extensions and a trailer", want: good(2, 1, "a"), reusable: true,
			script: pieces(true, 0,
				streamHead+strings.Replace(chunk(a), "\r\n", ";x=y\r\n", 1)+chunk(stop)+"0\r\nX-Sum: 1\r\n\r\n")},
		{name: "garbage behind the answer", script: pieces(true, 0, whole+"garbage"),
			want: outcome{status: 200, chunks: 3, input: 5, output: 7, source: byUsage, text: "ab", finish: "length"}},

		// Answers of one piece, as a request with "stream": false gets them.
		{name: "a stream was asked for",
			script: pieces(true, 0, plainAnswer("200 OK", "application/json",
				`{"choices":[{"text":"a","finish_reason":"stop"}]}`)), reusable: true,
			want: outcome{failure: malformed, words: "expected an event stream, got content type", status: 200,
				input: 1}},
		{name: "not streamed", reusable: true,
			script: pieces(true, 0, plainAnswer("200 OK", "application/json",
				`{"choices":[{"text":"a b","finish_reason":"stop"}],`+fmt.Sprintf(usage5, 3)+`}`)),
			want: outcome{status: 200, chunks: 1, input: 5, output: 3, source: byUsage, text: "a b", finish: "stop"}},
		{name: "not streamed, in pieces over time", reusable: true,
			script: pieces(true, sec, jsonHead, chunk("{\n"), chunk(`"choices":[{"text":"a b","finish_reason":null}],`),
				chunk(fmt.Sprintf(usage5, 3)+"\n}"), lastChunk),
			want: outcome{status: 200, chunks: 1, input: 5, output: 3, source: byUsage, text: "a b", done: 4 * sec}},
		{name: "not streamed, chat", chat: true, reusable: true,
			script: pieces(true, 0, plainAnswer("200 OK", "application/json",
				`{"choices":[{"message":{"role":"assistant","content":"a b"},"finish_reason":"stop"}]}`)),
			want: outcome{status: 200, chunks: 1, input: 1, output: 1, source: byChunks, text: "a b",
				finish: "stop"}},
		{name: "not streamed, longer than a read", reusable: true,
			script: pieces(true, 0,
				plainAnswer("200 OK", "application/json", `{"choices":[{"text":"`+strings.Repeat("a b ", 3000)+`"}]}`)),
			want: outcome{status: 200, chunks: 1, input: 1, output: 1, source: byChunks,
				text: strings.Repeat("a b ", 3000)}},
		{name: "not streamed, cut off",
			script: pieces(false, 0,
				strings.TrimSuffix(plainAnswer("200 OK", "application/json", `{"choices":[{"text":"a"}]}`), "]}")),
			want: outcome{failure: truncated, words: "closed in the middle", status: 200, input: 1}},
		{name: "not streamed, half a JSON",
			script:   pieces(true, 0, plainAnswer("200 OK", "application/json", `{"choices":[{"text":"a"}`)),
			reusable: true,
			want: outcome{failure: malformed, words: `content type "application/json": "{\"choices`, status: 200,
				input: 1}},
		{name: "not streamed, no choices", script: pieces(true, 0, plainAnswer("200 OK", "application/json", "{}")),
			reusable: true,
			want:     outcome{failure: malformed, words: `"application/json"`, status: 200, input: 1}},
		{name: "not streamed, an error",
			script:   pieces(true, 0, plainAnswer("200 OK", "application/json", `{"error":{"message":"no"}} `)),
			reusable: true,
			want:     outcome{failure: inside, words: "no", status: 200, input: 1}},
		{name: "HTML with status 200",
			script:   pieces(true, 0, plainAnswer("200 OK", "text/html", "<html>\n<body>Welcome</body></html>")),
			reusable: true,
			want:     outcome{failure: malformed, words: `"text/html": "<html>\n<body>Welcome`, status: 200, input: 1}},
		{name: "empty body with status 200", script: pieces(true, 0, plainAnswer("200 OK", "text/event-stream", "")),
			reusable: true,
			want:     outcome{failure: truncated, words: "without finish_reason or [DONE]", status: 200, input: 1}},
		{name: "compressed without being asked",
			script: pieces(true, 0,
				strings.Replace(stream("\x1f\x8b\x08\x00\n\n"), "\r\n", "\r\nContent-Encoding: gzip\r\n", 1)),
			want: outcome{failure: malformed, words: "compressed (gzip)", status: 200, input: 1}},
		{name: "compressed in no way",
			script: pieces(true, 0, strings.Replace(stream(a, stop), "\r\n", "\r\nContent-Encoding: Identity\r\n", 1)),
			want:   good(2, 1, "a"), reusable: true},

		// Refusals.
		{name: "500", script: pieces(true, 0, plainAnswer("500 Oops", "application/json", `{"detail":"boom"}`)),
			reusable: true,
			want:     outcome{failure: status, words: `{"detail":"boom"}`, status: 500, input: 1}},
		{name: "502 in HTML",
			script:   pieces(true, 0, plainAnswer("502 Bad Gateway", "text/html", "\n<html>Bad gateway</html>\n")),
			reusable: true,
			want:     outcome{failure: status, words: "<html>Bad gateway</html>", status: 502, input: 1}},
		{name: "429 without a body", script: pieces(true, 0, plainAnswer("429 Too Many Requests", "text/plain", "")),
			reusable: true,
			want:     outcome{failure: status, words: "Too Many Requests", status: 429, input: 1}},
		{name: "500 compressed", script: pieces(true, 0,
			"HTTP/1.1 500 Oops\r\nContent-Encoding: br\r\nContent-Length: 3\r\n\r\n\x00\x01\x02"), reusable: true,
			want: outcome{failure: status, words: "Oops", status: 500, input: 1}},
		{name: "204", script: pieces(true, 0, "HTTP/1.1 204 No Content\r\n\r\n"), reusable: true,
			want: outcome{failure: status, words: "No Content", status: 204, input: 1}},
		{name: "redirect", script: pieces(true, 0,
			"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://other/\r\nContent-Length: 0\r\n\r\n"), reusable: true,
			want: outcome{failure: status, words: "redirects to http://other/; redirects are not followed", status: 307,
				input: 1}},
		{name: "redirect to nowhere", script: pieces(true, 0, "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"),
			reusable: true,
			want:     outcome{failure: status, words: "Found", status: 302, input: 1}},
		{name: "long error body is clipped",
			script: pieces(true, 0, plainAnswer("500 Oops", "text/plain", strings.Repeat("x", 5000))), reusable: true,
			want: outcome{failure: status, words: strings.Repeat("x", 2048), status: 500, input: 1}},
		{name: "endless error body",
			script: pieces(false, 0, "HTTP/1.1 500 Oops\r\nConnection: close\r\n\r\n"+strings.Repeat("x", 100_000)),
			want:   outcome{failure: status, words: strings.Repeat("x", 2048), status: 500, input: 1}},
		{name: "error body that hangs", script: hanging("HTTP/1.1 500 Oops\r\nContent-Length: 100\r\n\r\nhalf"),
			want: outcome{failure: status, words: "half", status: 500, input: 1, done: 4 * sec}},

		// Errors inside a stream that began well.
		{name: "error after the finish", script: pieces(true, 0, stream(a, stop, sseEvent(`{"error":"late"}`))),
			want: outcome{failure: inside, words: "late", status: 200, chunks: 2, input: 1, text: "a",
				finish: "length"}},
		{name: "no output", script: pieces(true, 0, stream(done)), reusable: true,
			want: outcome{failure: empty, words: "no output", status: 200, input: 1}},
		{name: "usage without output", script: pieces(true, 0, stream(sseEvent(count), done)), reusable: true,
			want: outcome{failure: empty, words: "no output", status: 200, input: 1}},
		{name: "empty finish reason is none",
			script: pieces(true, 0, stream(sseEvent(`{"choices":[{"text":"a","finish_reason":""}]}`))), reusable: true,
			want: outcome{failure: truncated, words: "without finish_reason", status: 200, chunks: 1, input: 1,
				text: "a"}},

		// Answers of another protocol.
		{name: "malformed JSON", script: pieces(true, 0, stream(a, sseEvent(`{"choices":[{"text":"b"`))),
			want: outcome{failure: malformed, words: `not valid JSON: "{\"choices`, status: 200, chunks: 1, input: 1,
				text: "a"}},
		{name: "JSON with something behind it",
			script: pieces(true, 0, stream(sseEvent(`{"choices":[{"text":"b"}]} x`))),
			want:   outcome{failure: malformed, words: "not valid JSON", status: 200, input: 1}},
		{name: "JSON of another kind", script: pieces(true, 0, stream(sseEvent(`[1]`))),
			want: outcome{failure: malformed, words: "expected a JSON object", status: 200, input: 1}},
		{name: "completion on the chat protocol", chat: true, script: pieces(true, 0, stream(a)),
			want: outcome{failure: malformed, words: "without delta", status: 200, input: 1}},
		{name: "endless event", script: pieces(true, 0, streamHead, chunk("data: "+strings.Repeat("x", eventLeast))),
			want: outcome{failure: malformed, words: "more than 1048576 bytes", status: 200, input: 1}},
		{name: "chunk length that is none", script: pieces(false, 0, streamHead+chunk(a)+"zz\r\n\r\n"),
			want: outcome{failure: malformed, words: "not HTTP", status: 200, chunks: 1, input: 1, text: "a"}},
		{name: "chunk longer than its length", script: pieces(false, 0, streamHead+chunk(a)+"4\r\ndata: x\r\n"),
			want: outcome{failure: malformed, words: "not HTTP", status: 200, chunks: 1, input: 1, text: "a"}},
		{name: "not HTTP", script: pieces(false, 0, "SSH-2.0-OpenSSH_9.6\r\n\r\n"),
			want: outcome{failure: malformed, words: "not HTTP", input: 1}},
		{name: "another protocol, open", script: pieces(false, 0, "SSH-2.0-OpenSSH_9.6\r\n"),
			want: outcome{failure: malformed, words: `not HTTP: "SSH-2.0`, input: 1}},
		{name: "settings of HTTP/2", script: pieces(true, 0,
			"\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64"),
			want: outcome{failure: malformed, words: "HTTP/1.1 but HTTP/2", input: 1}},
		{name: "farewell of HTTP/2", script: pieces(true, 0,
			"\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"),
			want: outcome{failure: malformed, words: "HTTP/1.1 but HTTP/2", input: 1}},
		{name: "other bytes", script: pieces(true, 0, "\x00\x00\x08\x05\x00\x00\x00\x00\x01"),
			want: outcome{failure: malformed, words: "not HTTP: ", input: 1}},
		{name: "status that is no number", script: pieces(false, 0, "HTTP/1.1 abc OK\r\n\r\n"),
			want: outcome{failure: malformed, words: "not HTTP", input: 1}},
		{name: "long header",
			script: pieces(true, 0, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 20000)+"\r\n"+strings.TrimPrefix(whole,
				"HTTP/1.1 200 OK\r\n")),
			want: outcome{status: 200, chunks: 3, input: 5, output: 7, source: metrics.TokensFromUsage, text: "ab",
				finish: "length"}, reusable: true},
		{name: "header too long",
			script: pieces(true, 0, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 70000)+"\r\n\r\n"),
			want:   outcome{failure: malformed, words: "longer than 65536 bytes", input: 1}},

		// Connections that break.
		{name: "refused",
			refuse: &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
			script: pieces(true, 0, whole), want: outcome{failure: cannotreach, words: "connection refused", input: 1}},
		{name: "no more files",
			refuse: &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", syscall.EMFILE)},
			script: pieces(true, 0, whole),
			want:   outcome{failure: metrics.FailedNoSocket, words: "ulimit -n", input: 1}},
		{name: "no more ports",
			refuse: &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.EADDRNOTAVAIL)},
			script: pieces(true, 0, whole),
			want:   outcome{failure: metrics.FailedNoSocket, words: "ip_local_port_range", input: 1}},
		{name: "write fails", wrap: func(c net.Conn) net.Conn { return unwritableConn{c} },
			script: pieces(true, 0, whole), want: outcome{failure: reset, words: "broken pipe", input: 1}},
		{name: "closed before an answer", script: pieces(false, 0, ""),
			want: outcome{failure: reset, words: "before an answer", input: 1}},
		{name: "reset before the header", script: pieces(false, 0, ""),
			wrap: func(c net.Conn) net.Conn { return resetConn{c} },
			want: outcome{failure: reset, words: "connection reset by peer", input: 1}},
		{name: "reset in the header", script: pieces(false, 0, "HTTP/1.1 200 OK\r\nContent-"),
			wrap: func(c net.Conn) net.Conn { return resetConn{c} },
			want: outcome{failure: reset, words: "in the header of the answer", input: 1}},
		{name: "closed in the header", script: pieces(false, 0, "HTTP/1.1 200 OK\r\nContent-"),
			want: outcome{failure: truncated, words: "closed in the middle", input: 1}},
		{name: "reset in the stream", script: pieces(false, 0, streamHead+chunk(a)+chunk(b)),
			wrap: func(c net.Conn) net.Conn { return resetConn{c} },
			want: outcome{failure: reset, words: "connection reset by peer", status: 200, chunks: 2, input: 1,
				text: "ab"}},
		{name: "reset after the finish", script: pieces(false, 0, streamHead+chunk(a)+chunk(stop)),
			wrap: func(c net.Conn) net.Conn { return resetConn{c} }, want: good(2, 1, "a")},
		{name: "truncated at a chunk boundary", script: pieces(false, 0, streamHead+chunk(a)+chunk(b)),
			want: outcome{failure: truncated, words: "closed in the middle", status: 200, chunks: 2,
				input: 1, text: "ab"}},
		{name: "truncated inside a chunk", script: pieces(false, 0, streamHead+chunk(a)+"40\r\ndata: {"),
			want: outcome{failure: truncated, words: "closed in the middle", status: 200, chunks: 1, input: 1,
				text: "a"}},
		{name: "truncated before its length",
			script: pieces(false, 0,
				"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\n"+a),
			want: outcome{failure: truncated, words: "closed in the middle", status: 200, chunks: 1, input: 1,
				text: "a"}},
		{name: "ended in order without finish", script: pieces(true, 0, stream(a, end)), reusable: true,
			want: outcome{failure: truncated, words: "without finish_reason or [DONE]", status: 200, chunks: 2,
				input: 1, text: "a z"}},
		{name: "finish without its blank line", script: pieces(true, 0, stream(a, strings.TrimSuffix(stop, "\n"))),
			want: good(2, 1, "a"), reusable: true},
		{name: "finish without its line end", script: pieces(true, 0, stream(a, strings.TrimSuffix(stop, "\n\n"))),
			want: good(2, 1, "a"), reusable: true},
		{name: "finish without its line end, with a usage of Infinity", reusable: true, want: good(2, 1, "a"),
			script: pieces(true, 0, stream(a,
				`data: {"choices":[{"text":"","finish_reason":"length"}],"usage":{"completion_tokens":Infinity}}`))},
		{name: "deep end that is cut off", script: pieces(true, 0, stream(a, "data: "+strings.Repeat("[", 50_000))),
			reusable: true,
			want: outcome{failure: truncated, words: "without finish_reason or [DONE]", status: 200, chunks: 1,
				input: 1, text: "a"}},
		{name: "finish that is cut off", script: pieces(true, 0, stream(a, stop[:len(stop)-4])), reusable: true,
			want: outcome{failure: truncated, words: "without finish_reason or [DONE]", status: 200, chunks: 1,
				input: 1, text: "a"}},

		// Time. The stall time-out is 4 s, the request's 20 s.
		{name: "slow header", script: pieces(true, 19*sec, "HTTP/1.1 200 OK\r\n",
			stream(a, stop)[len("HTTP/1.1 200 OK\r\n"):]), reusable: true,
			want: outcome{status: 200, chunks: 2, input: 1, output: 1, source: byChunks, text: "a", finish: "length",
				done: 19 * sec}},
		{name: "header never comes", script: hanging(""),
			want: outcome{failure: tooLong, words: "not complete after 20s", input: 1, done: 20 * sec}},
		{name: "header never ends", script: hanging("HTTP/1.1 200 OK\r\n"),
			want: outcome{failure: tooLong, words: "not complete after 20s", input: 1, done: 20 * sec}},
		{name: "slow first chunk is no stall", script: pieces(true, 19*sec, streamHead, chunk(stop)+lastChunk),
			reusable: true,
			want: outcome{status: 200, chunks: 1, input: 1, output: 1, source: byChunks, finish: "length",
				done: 19 * sec}},
		{name: "first chunk never comes", script: hanging(streamHead),
			want: outcome{failure: tooLong, words: "not complete after 20s", status: 200, input: 1, done: 20 * sec}},
		{name: "slow but alive", script: pieces(true, 3900*ms, streamHead, chunk(a), chunk(b), chunk(stop)+lastChunk),
			reusable: true,
			want: outcome{status: 200, chunks: 3, input: 1, output: 2, source: byChunks, text: "ab", finish: "length",
				done: 3 * 3900 * ms}},
		{name: "stall", script: hanging(streamHead + chunk(a)),
			want: outcome{failure: stall, words: "no chunk came for 4s after chunk 1", status: 200, chunks: 1, input: 1,
				text: "a", done: 5 * sec}},
		{name: "pings do not hide a stall",
			script: pieces(true, sec,
				append([]string{streamHead + chunk(a)}, slices.Repeat([]string{chunk(": ping\n\n")}, 8)...)...),
			want: outcome{failure: stall, words: "no chunk came for 4s", status: 200, chunks: 1, input: 1, text: "a",
				done: 5 * sec}},
		{name: "too long as a whole",
			script: pieces(true, 3*sec, append([]string{streamHead}, slices.Repeat([]string{chunk(a)}, 7)...)...),
			want: outcome{failure: tooLong, words: "not complete after 20s", status: 200, chunks: 6, input: 1,
				text: "aaaaaa", done: 20 * sec}},
		{name: "server keeps the line after the end", script: hanging(streamHead + chunk(stop+done)),
			want: outcome{status: 200, chunks: 1, input: 1, output: 1, source: byChunks, finish: "length",
				done: 1250 * ms}},
		{name: "server keeps the line after the finish", script: hanging(streamHead + chunk(stop)),
			want: outcome{status: 200, chunks: 1, input: 1, output: 1, source: byChunks, finish: "length",
				done: 5 * sec}},
	} {
		bubble(t, c.name, func(t *testing.T) {
			s := newScripted(t, c.script, pieces(true, 0, whole))
			s.refuse, s.wrap = c.refuse, c.wrap
			if c.refuse != nil {
				s.scripts = s.scripts[1:]
			}
			all := load(t, s, 2, func(o *Options) {
				o.StallTimeout, o.RequestTimeout, o.KeepText = 4*time.Second, 20*time.Second, true
				if c.chat {
					o.Protocol = protocol.Chat{}
				}
				if strings.HasPrefix(c.name, "not streamed") {
					o.Extra = []protocol.Field{{Name: "stream", JSON: "false"}}
				}
			})
			q, w := &all[0], c.want
			if q.Failure != w.failure || !strings.Contains(q.Error, w.words) || (q.Error == "") != (w.failure == "") ||
				len(q.Error) > 2048 {
				t.Errorf("failure %q (%q), want %q (%q)", q.Failure, q.Error, w.failure, w.words)
			}
			got := outcome{q.Failure, w.words, q.Status, len(q.Chunks), q.InputTokens, q.OutputTokens, q.OutputSource,
				q.Text, q.Finish, q.Done}
			if got != w {
				t.Errorf("got  %+v\nwant %+v", got, w)
			}
			assert.Equal(t, q.Tallies[metrics.Redials], 0, "redials on a fresh connection")
			if got := s.dials == 1; got != c.reusable {
				t.Errorf("%d connections for two requests, want reuse %v", s.dials, c.reusable)
			}
			if !c.chat && (all[1].Failure != "" || all[1].Text != "ab") {
				t.Errorf("the request after it: %q %q, text %q", all[1].Failure, all[1].Error, all[1].Text)
			}
		})
	}
}
