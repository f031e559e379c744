package loadgen

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/loadgen/protocol"
	"benchtop/metrics"
)

// The times of queue and prefill that servers report with an answer.
func TestServerClocks(t *testing.T) {
	const never = metrics.Never
	ms := time.Millisecond
	whole := func(body string) string { return plainAnswer("200 OK", "application/json", body) }
	events := func(all ...string) string {
		for i, e := range all {
			all[i] = sseEvent(e)
		}
		return stream(all...)
	}
	const some, last = `{"choices":[{"text":"a"}]}`, `{"choices":[{"text":"","finish_reason":"length"}]}`
	usage := func(rest string) string { return `{"choices":[],"usage":{"completion_tokens":2}` + rest + `}` }
	for _, c := range []struct {
		name, answer   string
		queue, prefill time.Duration
	}{
		{"none", events(some, last, usage("")), never, never},
		{"vLLM, a stream",
			events(some, last,
				usage(`,"metrics":{"time_to_first_token_ms":80.25,"generation_time_ms":900,"queue_time_ms":12.5,`+
					`"mean_itl_ms":9}`)), 12500 * time.Microsecond, 80250 * time.Microsecond},
		{"vLLM, whole",
			whole(`{"choices":[{"text":"a","finish_reason":"stop"}],"metrics":{"time_to_first_token_ms":80,` +
				`"queue_time_ms":0}}`), 0, 80 * ms},
		{"llama.cpp, with the finish",
			events(some, `{"choices":[{"text":"","finish_reason":"stop"}],"timings":{"prompt_n":3,"prompt_ms":41.5,`+
				`"predicted_ms":100}}`), never, 41500 * time.Microsecond},
		{"llama.cpp, with the usage", events(some, last, usage(`,"timings":{"prompt_ms":41}`)), never, 41 * ms},
		{"llama.cpp, with every event", events(`{"choices":[{"text":"a"}],"timings":{"prompt_ms":7}}`, last), never,
			7 * ms},
		{"TGI, whole", strings.Replace(whole(`{"choices":[{"text":"a","finish_reason":"stop"}]}`), "\r\n\r\n",
			"\r\nx-queue-time: 33\r\nx-inference-time: 500\r\n\r\n", 1), 33 * ms, never},
		{"TGI, a stream", strings.Replace(events(some, last), "\r\n\r\n", "\r\nX-Queue-Time: 1.5\r\n\r\n", 1),
			1500 * time.Microsecond, never},
		{"the last one counts",
			events(some, `{"choices":[{"text":"","finish_reason":"stop"}],"metrics":{"queue_time_ms":1,`+
				`"time_to_first_token_ms":2}}`, usage(`,"metrics":{"queue_time_ms":3}`)), 3 * ms, never},
		{"finer than we count", events(some, last, usage(`,"metrics":{"queue_time_ms":0.0123456}`)),
			12 * time.Microsecond, never},
		{"no numbers",
			events(some, last,
				usage(`,"metrics":{"queue_time_ms":"1","time_to_first_token_ms":null},"timings":{"prompt_ms":[]}`)),
			never, never},
		{"no objects", events(some, last, usage(`,"metrics":[1],"timings":3`)), never, never},
		{"negative", events(some, last, usage(`,"metrics":{"queue_time_ms":-1,"time_to_first_token_ms":-1e300}`)),
			never, never},
		{"huge", events(some, last, usage(`,"metrics":{"queue_time_ms":1e300,"time_to_first_token_ms":86400001}`)),
			never, never},
		{"a header that is no number",
			strings.Replace(events(some, last), "\r\n\r\n", "\r\nx-queue-time: NaN\r\n\r\n", 1), never, never},
		{"of an answer that failed", strings.Replace(events(some), "\r\n\r\n", "\r\nx-queue-time: 5\r\n\r\n", 1),
			5 * ms, never},
	} {
		bubble(t, c.name, func(t *testing.T) {
			s := newScripted(t, pieces(true, 0, c.answer), pieces(true, 0, events(some, last)))
			all := load(t, s, 2, func(o *Options) {
				if !strings.Contains(c.answer, "event-stream") {
					o.Extra = []protocol.Field{{Name: "stream", JSON: "false"}}
				}
			})
			if q := all[0]; q.ServerQueue != c.queue || q.ServerPrefill != c.prefill {
				t.Errorf("queue %v, prefill %v; want %v, %v (failure %q %s)", q.ServerQueue, q.ServerPrefill, c.queue,
					c.prefill, q.Failure, q.Error)
			}
			if q := all[1]; q.ServerQueue != never || q.ServerPrefill != never {
				t.Errorf("the next request inherited queue %v, prefill %v", q.ServerQueue, q.ServerPrefill)
			}
		})
	}
}

// pieceBook notes the text of each chunk.
type pieceBook struct {
	logbook
	pieces []string
}

func (b *pieceBook) Chunk(q *metrics.Request) { b.pieces = append(b.pieces, string(q.Piece)) }

// A sink gets a chunk with its text, of the reasoning where there is no other; the text is dropped afterwards.
func TestPiece(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := streamHead
		for _, delta := range []string{`{"role":"assistant","content":""}`, `{"reasoning_content":"hm"}`,
			`{"reasoning":"so"}`,
			`{"content":"\u00e9\n","reasoning_content":"x"}`, `{"tool_calls":[{"index":0}]}`, `{"content":null}`} {
			text += chunk(sseEvent(`{"choices":[{"delta":` + delta + `}]}`))
		}
		text += chunk(sseEvent(`{"choices":[{"delta":{},"finish_reason":"stop"}]}`)) + lastChunk
		var book pieceBook
		perform(t, newScripted(t, pieces(true, 0, text)), &prompts{n: 1}, &book,
			func(o *Options) { o.Protocol = protocol.Chat{} }, nil)
		assert.Same(t, "pieces", book.pieces, []string{"hm", "so", "é\n", ""})
		if q := book.all[0]; q.Piece != nil || q.Failure != "" {
			t.Errorf("piece %q left over, failure %q %s", q.Piece, q.Failure, q.Error)
		}
	})
}
