package loadgen

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/loadgen/protocol"
	"benchtop/metrics"
)

// An answer in one piece is a request whose only chunk came with its last byte; its vectors are not tokens.
func TestEmbeddings(t *testing.T) {
	const good = `{"data":[{"embedding":[0.5,1]}],"usage":{"prompt_tokens":9,"total_tokens":9}}`
	whole := plainAnswer("200 OK", "application/json", good)
	for _, c := range []struct {
		name, answer string
		split        int // where the answer is cut in two, a second apart
		failure      metrics.Failure
		words        string
	}{
		{"whole", whole, 0, "", ""},
		{"in two pieces", whole, len(whole) - 3, "", ""},
		{"chunked", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(
			good[:20]) + chunk(good[20:]) + lastChunk, 0, "", ""},
		{"said to be a stream", plainAnswer("200 OK", "text/event-stream", good), 0, "", ""},
		{"nothing", plainAnswer("200 OK", "application/json", ""), 0, metrics.FailedMalformed,
			"expected an answer in JSON with data"},
		{"no vectors", plainAnswer("200 OK", "application/json", `{"data":[]}`), 0, metrics.FailedMalformed,
			"expected an answer in JSON with data"},
		{"a stream", stream(text("a"), done), 0, metrics.FailedMalformed,
			`expected an answer in JSON with data, got content type "text/event-stream"`},
		{"cut", strings.Replace(whole, "Content-Length: ", "Content-Length: 1", 1), 0, metrics.FailedTruncated, ""},
	} {
		bubble(t, c.name, func(t *testing.T) {
			sent := []string{c.answer}
			want := time.Duration(0)
			if c.split > 0 {
				sent, want = []string{c.answer[:c.split], c.answer[c.split:]}, time.Second
			}
			s := newScripted(t, func(conn net.Conn, r *http.Request, body []byte) bool {
				if !strings.HasSuffix(r.URL.Path, "/v1/embeddings") || !strings.Contains(string(body), `"input": `) {
					t.Errorf("%s got %s", r.URL.Path, body)
				}
				return pieces(c.name != "cut", time.Second, sent...)(conn, r, body)
			})
			q := load(t, s, 1, func(o *Options) {
				o.Protocol, o.CountText = protocol.Pooling{Backend: "openai-embeddings"},
					func(string) (int, error) { return 5, nil }
			})[0]
			ends(t, &q, c.failure, c.words)
			if c.failure == "" && (q.E2EL() != want || len(q.Chunks) != 1 || q.InputTokens != 9 ||
				q.InputSource != metrics.TokensFromUsage || q.OutputTokens != 0 || q.OutputSource != "") {
				t.Errorf("got %+v after %s, want 9 tokens after %s", q, q.E2EL(), want)
			}
		})
	}
}

// An answer in one piece has a limit of its own, and all of them have one together.
func TestMostOfAnAnswerInOnePiece(t *testing.T) {
	ci.SkipUnderRace(t)
	long := func(n int) string {
		return plainAnswer("200 OK", "application/json", `{"data":["`+strings.Repeat("x", n)+`"]}`)
	}
	for _, c := range []struct {
		name   string
		bytes  int
		taken  int64
		failed metrics.Failure
		words  string
	}{
		{"long", 8 << 20, 0, "", ""},
		{"too long", wholeMost, 0, metrics.FailedMalformed, "the answer has more than 64 MiB"},
		{"too long beside others", 8 << 20, bufferedMost - 1<<20, metrics.FailedMalformed, "more than 256 MiB"},
	} {
		bubble(t, c.name, func(t *testing.T) {
			var e *Engine
			s := newScripted(t, pieces(false, 0, long(c.bytes)))
			q := loadFrom(t, s, &prompts{n: 1},
				func(o *Options) { o.Protocol = protocol.Pooling{Backend: "openai-embeddings"} },
				func(made *Engine) { e = made; e.buffered.Store(c.taken) })[0]
			ends(t, &q, c.failed, c.words)
			assert.Equal(t, e.buffered.Load(), c.taken, "bytes taken")
		})
	}
}
