package loadgen

import (
	"fmt"
	"io"
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

// Each kind of answer ends in exactly the outcome it should, at exactly the time it should.
func TestOutcomes(t *testing.T) {
	ms := time.Millisecond
	whole := streamHead + chunk(text("a")) + chunk(text("b")) + chunk(event(finish)) + chunk(event(count)) + chunk("data: [DONE]\n\n") + lastChunk
	for _, c := range []struct {
		name     string
		script   script
		chat     bool
		failure  metrics.Failure
		words    string // part of the error
		chunks   int
		output   int
		source   metrics.TokenSource
		done     time.Duration
		reusable bool
	}{
		{name: "whole", script: pieces(true, 0, whole), chunks: 3, output: 7, source: metrics.TokensFromUsage, reusable: true},
		{name: "no usage", script: pieces(true, 0, streamHead+chunk(text("a"))+chunk(text("b"))+chunk(event(finish))+lastChunk),
			chunks: 3, output: 2, source: metrics.TokensFromChunks, reusable: true},
		{name: "finish without done", script: pieces(true, 0, streamHead+chunk(event(finish))+lastChunk), chunks: 1, output: 1, source: metrics.TokensFromChunks, reusable: true},
		{name: "done without finish", script: pieces(true, 0, streamHead+chunk(text("a")+"data: [DONE]\n\n")+lastChunk), chunks: 1, output: 1, source: metrics.TokensFromChunks, reusable: true},
		{name: "log probabilities count tokens", script: pieces(true, 0, streamHead+chunk(event(`{"choices":[{"text":"abc","logprobs":{"tokens":["a","b","c"]},"finish_reason":"stop"}]}`))+lastChunk),
			chunks: 1, output: 3, source: metrics.TokensFromIDs, reusable: true},
		{name: "chat", chat: true, script: pieces(true, 0, streamHead+chunk(event(`{"choices":[{"delta":{"role":"assistant","content":""}}]}`)+
			event(`{"choices":[{"delta":{"reasoning_content":"hm"}}]}`)+event(`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`))+lastChunk),
			chunks: 3, output: 2, source: metrics.TokensFromChunks, reusable: true},
		{name: "503", script: pieces(true, 0, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 9\r\n\r\noverload!"),
			failure: metrics.FailedStatus, words: "overload!", reusable: true},
		{name: "429 without a body", script: pieces(true, 0, "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n"),
			failure: metrics.FailedStatus, words: "Too Many Requests", reusable: true},
		{name: "long error body is clipped", script: pieces(true, 0, "HTTP/1.1 500 Oops\r\nContent-Length: 5000\r\n\r\n"+strings.Repeat("x", 5000)),
			failure: metrics.FailedStatus, words: strings.Repeat("x", 2048), reusable: true},
		{name: "truncated at a chunk boundary", script: pieces(false, 0, streamHead+chunk(text("a"))+chunk(text("b"))),
			failure: metrics.FailedTruncated, words: "without finish_reason or [DONE]", chunks: 2},
		{name: "truncated inside a chunk", script: pieces(false, 0, streamHead+chunk(text("a"))+"40\r\ndata: {"),
			failure: metrics.FailedTruncated, words: "closed in the middle", chunks: 1},
		{name: "ended in order without finish", script: pieces(true, 0, streamHead+chunk(text("a"))+lastChunk),
			failure: metrics.FailedTruncated, chunks: 1, reusable: true},
		{name: "no output", script: pieces(true, 0, streamHead+chunk("data: [DONE]\n\n")+lastChunk),
			failure: metrics.FailedEmpty, reusable: true},
		{name: "error in the stream", script: pieces(true, 0, streamHead+chunk(text("a"))+chunk(event(`{"error":{"message":"out of memory","code":500}}`))+lastChunk),
			failure: metrics.FailedInStream, words: "out of memory", chunks: 1},
		{name: "named error event", script: pieces(true, 0, streamHead+chunk("event: error\ndata: {\"detail\":\"boom\"}\n\n")+lastChunk),
			failure: metrics.FailedInStream, words: "boom"},
		{name: "error that is null", script: pieces(true, 0, streamHead+chunk(event(`{"error":null,"choices":[{"text":"a","finish_reason":"stop"}]}`))+lastChunk),
			chunks: 1, output: 1, source: metrics.TokensFromChunks, reusable: true},
		{name: "malformed JSON", script: pieces(true, 0, streamHead+chunk(event(`{"choices":[{"text":"a"`))+lastChunk),
			failure: metrics.FailedMalformed, words: "not valid JSON"},
		{name: "JSON instead of a stream", script: pieces(true, 0, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"),
			failure: metrics.FailedMalformed, words: `"application/json"`, reusable: true},
		{name: "closed in the header", script: pieces(false, 0, "HTTP/1.1 200 OK\r\nContent-"), failure: metrics.FailedTruncated},
		{name: "header too long", script: pieces(true, 0, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 5000)+"\r\n\r\n"), failure: metrics.FailedMalformed, words: "longer than 4096 bytes"},
		{name: "not HTTP", script: pieces(false, 0, "SSH-2.0-OpenSSH_9.6\r\n\r\n"), failure: metrics.FailedMalformed, words: "not HTTP"},
		{name: "bad chunk header", script: pieces(false, 0, streamHead+"zz\r\n\r\n"), failure: metrics.FailedMalformed, words: "not HTTP"},
		{name: "closed before an answer", script: pieces(false, 0, ""), failure: metrics.FailedReset, words: "before an answer"},
		{name: "comments, CR LF and named events", script: pieces(true, 0, streamHead+
			chunk(": ping\r\n\r\nevent: message\r\nid: 1\r\ndata: {\"choices\":\r\ndata: [{\"text\":\"a\"}]}\r\n\r\n")+chunk(": ping\n\n")+chunk(event(finish))+lastChunk),
			chunks: 2, output: 1, source: metrics.TokensFromChunks, reusable: true},
		{name: "body until the connection closes", script: pieces(false, 0, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"+text("a")+event(finish)),
			chunks: 2, output: 1, source: metrics.TokensFromChunks},
		{name: "empty finish reason is none", script: pieces(true, 0, streamHead+chunk(event(`{"choices":[{"text":"a","finish_reason":""}]}`))+lastChunk),
			failure: metrics.FailedTruncated, chunks: 1, reusable: true},
		{name: "running usage in every chunk", script: pieces(true, 0, streamHead+chunk(event(`{"choices":[{"text":"a"}],"usage":{"prompt_tokens":5,"completion_tokens":1}}`)+
			event(`{"choices":[{"text":"b","finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":3}}`))+lastChunk),
			chunks: 2, output: 3, source: metrics.TokensFromUsage, reusable: true},
		{name: "usage by itself wins", script: pieces(true, 0, streamHead+chunk(event(count)+event(`{"choices":[{"text":"b","finish_reason":"stop"}],"usage":{"completion_tokens":3}}`))+lastChunk),
			chunks: 1, output: 7, source: metrics.TokensFromUsage, reusable: true},
		{name: "error event that is no JSON", script: pieces(true, 0, streamHead+chunk("event: error\ndata: engine died\n\n")+lastChunk),
			failure: metrics.FailedInStream, words: "engine died"},
		{name: "error object instead of a stream", script: pieces(true, 0, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 27\r\n\r\n{\"error\":{\"message\":\"no\"}} "),
			failure: metrics.FailedInStream, words: "no", reusable: true},
		{name: "pings do not hide a stall", script: func(c net.Conn, _ *http.Request, _ []byte) bool {
			ping := chunk(": ping\n\n")
			return pieces(true, time.Second, streamHead+chunk(text("a")), ping, ping, ping, ping, ping, ping, ping, ping)(c, nil, nil)
		}, failure: metrics.FailedStall, words: "nothing came for 4s", chunks: 1, done: 5 * time.Second},
		{name: "error body that hangs", script: func(c net.Conn, _ *http.Request, _ []byte) bool {
			_, _ = io.WriteString(c, "HTTP/1.1 500 Oops\r\nContent-Length: 100\r\n\r\nhalf")
			time.Sleep(time.Hour)
			return false
		}, failure: metrics.FailedStatus, words: "half", done: 4 * time.Second},
		{name: "stall", script: func(c net.Conn, _ *http.Request, _ []byte) bool {
			pieces(true, 0, streamHead+chunk(text("a")))(c, nil, nil)
			time.Sleep(time.Hour)
			return false
		}, failure: metrics.FailedStall, words: "nothing came for 4s", chunks: 1, done: 5 * time.Second},
		{name: "slow but alive", script: pieces(true, 3900*ms, streamHead, chunk(text("a")), chunk(text("b")), chunk(event(finish))+lastChunk),
			chunks: 3, output: 2, source: metrics.TokensFromChunks, done: 3 * 3900 * ms, reusable: true},
		{name: "slow first chunk is no stall", script: pieces(true, 19*time.Second, streamHead, chunk(event(finish))+lastChunk),
			chunks: 1, output: 1, source: metrics.TokensFromChunks, done: 19 * time.Second, reusable: true},
		{name: "header never comes", script: func(net.Conn, *http.Request, []byte) bool { time.Sleep(time.Hour); return false },
			failure: metrics.FailedTimeout, words: "not complete after 20s", done: 20 * time.Second},
		{name: "first chunk never comes", script: func(c net.Conn, _ *http.Request, _ []byte) bool {
			pieces(true, 0, streamHead)(c, nil, nil)
			time.Sleep(time.Hour)
			return false
		}, failure: metrics.FailedTimeout, words: "not complete after 20s", done: 20 * time.Second},
		{name: "too long as a whole", script: func(c net.Conn, _ *http.Request, _ []byte) bool {
			return pieces(true, 3*time.Second, streamHead, chunk(text("a")), chunk(text("b")), chunk(text("c")), chunk(text("d")), chunk(text("e")), chunk(text("f")), chunk(text("g")))(c, nil, nil)
		}, failure: metrics.FailedTimeout, words: "not complete after 20s", chunks: 6, done: 20 * time.Second},
		{name: "server keeps the line after the end", script: func(c net.Conn, _ *http.Request, _ []byte) bool {
			pieces(true, 0, streamHead+chunk(event(finish)+"data: [DONE]\n\n"))(c, nil, nil)
			time.Sleep(time.Hour)
			return false
		}, chunks: 1, output: 1, source: metrics.TokensFromChunks, done: 1250 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScripted(t, c.script, pieces(true, 0, whole))
				all := load(t, s, 2, func(o *Options) {
					o.StallTimeout, o.RequestTimeout = 4*time.Second, 20*time.Second
					if c.chat {
						o.Backend = OpenAIChat
					}
				})
				q := all[0]
				if q.Failure != c.failure || !strings.Contains(q.Error, c.words) || len(q.Error) > 2048 {
					t.Errorf("failure %q (%q), want %q (%q)", q.Failure, q.Error, c.failure, c.words)
				}
				if len(q.Chunks) != c.chunks || q.OutputTokens != c.output || q.OutputSource != c.source {
					t.Errorf("%d chunks, %d tokens by %q; want %d, %d by %q", len(q.Chunks), q.OutputTokens, q.OutputSource, c.chunks, c.output, c.source)
				}
				if q.Done != c.done {
					t.Errorf("done at %s, want %s", q.Done, c.done)
				}
				if got := s.dials == 1; got != c.reusable {
					t.Errorf("%d connections for two requests, want reuse %v", s.dials, c.reusable)
				}
				if !c.chat && all[1].Failure != "" {
					t.Errorf("the request after it failed: %s %s", all[1].Failure, all[1].Error)
				}
			})
		})
	}
}

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
