package simulator

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
)

// ids is a prompt of n token ids, as JSON.
func ids(n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat("1000,", n), ",") + "]"
}

func TestCompletionStream(t *testing.T) {
	bubble(t, round(), func(c *client) {
		headers, events := c.stream("/v1/completions", `{"model":"sim-8b","prompt":`+ids(100)+`,"repetition_penalty":1.0,
			"max_tokens":3,"logprobs":null,"stream":true,"stream_options":{"include_usage":true},"ignore_eos":true}`)
		if headers != 0 {
			t.Errorf("headers after %v, want them at once", headers)
		}
		if len(events) != 5 {
			t.Fatalf("%d events, want 3 tokens, usage and the end: %v", len(events), events)
		}
		text := ""
		for i, want := range []time.Duration{20000, 31100, 42201} {
			e := c.parse(events[i].data)
			assert.Equal(t, events[i].at, want*time.Microsecond, "token %d at", i)
			c.wants("token", e, [][2]string{
				{at(e, "choices", 0, "finish_reason"), []string{"null", "null", `"length"`}[i]},
				{at(e, "object"), `"text_completion"`}, {at(e, "model"), `"sim-8b"`}, {at(e, "usage"), "absent"},
			})
			text += textAt(e, "choices", 0, "text")
		}
		if n := len(encode(text)); n != 3 {
			t.Errorf("%q has %d tokens, want 3", text, n)
		}
		last := c.parse(events[3].data)
		c.wants("usage", last, [][2]string{{at(last, "choices"), "[]"},
			{at(last, "usage"), `{"completion_tokens":3,"prompt_tokens":100,"total_tokens":103}`}})
		if events[4].data != "[DONE]" || events[4].at != events[2].at {
			t.Errorf("last event is %v, want [DONE] at %v", events[4], events[2].at)
		}
	})
}

func TestCompletionStreamOptions(t *testing.T) {
	bubble(t, round(), func(c *client) {
		_, events := c.stream("/v1/completions", `{"prompt":"hello","max_tokens":2,"stream":true,"ignore_eos":true}`)
		assert.Equal(t, len(events), 3, "without usage events")
		_, events = c.stream("/v1/completions", `{"prompt":"hello","max_tokens":2,"stream":true,"ignore_eos":true,"logprobs":3,
			"return_token_ids":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`)
		assert.Need(t, len(events), 4, "with usage events")
		first, second := c.parse(events[0].data), c.parse(events[1].data)
		assert.Equal(t, at(second, "usage", "completion_tokens"), "2", "running usage at the second token")
		text := textAt(first, "choices", 0, "text")
		c.wants("first token", first, [][2]string{
			{textAt(first, "choices", 0, "logprobs", "tokens", 0), text},
			{at(first, "choices", 0, "token_ids"), at(c.answer("/tokenize", `{"prompt":"`+text+`"}`), "tokens")},
		})
		if top, _ := field(first, "choices", 0, "logprobs", "top_logprobs", 0); len(top.(map[string]any)) != 3 {
			t.Errorf("top logprobs %v, want 3", top)
		}
	})
}

func TestCompletionWhole(t *testing.T) {
	bubble(t, round(), func(c *client) {
		body := `{"model":"sim-8b","prompt":["hello world"],"logprobs":0,"ignore_eos":true}`
		e := c.answer("/v1/completions", body)
		c.wants("whole answer", e, [][2]string{
			{at(e, "object"), `"text_completion"`},
			{at(e, "usage", "completion_tokens"), "16"},
			{at(e, "usage", "prompt_tokens"), "4"},
			{at(e, "choices", 0, "finish_reason"), `"length"`},
			{at(e, "choices", 0, "stop_reason"), "null"},
			{at(e, "choices", 0, "logprobs", "text_offset", 0), "0"},
			{at(e, "choices", 0, "logprobs", "text_offset", 16), "absent"},
			{at(e, "choices", 1), "absent"},
		})
		if got, want := at(c.answer("/v1/completions", body), "choices", 0), at(e, "choices", 0); got != want {
			t.Errorf("the same prompt got another answer: %s, then %s", want, got)
		}
		other := c.answer("/v1/completions", `{"prompt":"hello world","seed":5,"ignore_eos":true}`)
		if at(other, "choices", 0, "text") == at(e, "choices", 0, "text") {
			t.Error("another seed got the same answer")
		}
	})
}

// The same request has the same answer beside any other requests, and answers end by themselves around the profile's
// mean.
func TestNaturalLengths(t *testing.T) {
	p := round()
	p.OutputMean = 20
	bubble(t, p, func(c *client) {
		const n = 150
		var clients sync.WaitGroup
		var sum, stops atomic.Int64
		for i := range n {
			clients.Go(func() {
				e := c.answer("/v1/completions", `{"prompt":[`+strings.Repeat("1000,", i)+`2000],"max_tokens":200}`)
				length, _ := field(e, "usage", "completion_tokens")
				sum.Add(int64(length.(float64)))
				if at(e, "choices", 0, "finish_reason") == `"stop"` {
					stops.Add(1)
				}
			})
		}
		clients.Wait()
		if mean := float64(sum.Load()) / n; mean < 16 || mean > 24 {
			t.Errorf("mean length is %.1f tokens, want about 20", mean)
		}
		if stops.Load() < n*9/10 {
			t.Errorf("%d of %d answers ended by themselves, want nearly all", stops.Load(), n)
		}
		long := c.answer("/v1/completions", `{"prompt":[2000],"max_tokens":500,"min_tokens":400}`)
		if got := at(long, "usage", "completion_tokens"); got < "400" || len(got) != 3 {
			t.Errorf("with min_tokens 400: %s tokens", got)
		}
	})
}

func TestRefusals(t *testing.T) {
	const post, completions, chat = "POST", "/v1/completions", "/v1/chat/completions"
	tests := []struct {
		name, method, path, body string
		status                   int
		kind, param, message     string // of the error; message is a part of it
	}{
		{"unknown model", post, completions, `{"model":"x","prompt":"a"}`, 404, "NotFoundError", "model",
			"The model `x` does not exist."},
		{"unknown model in a chat", post, chat, `{"model":"x","messages":[]}`, 404, "NotFoundError", "model",
			"The model `x` does not exist."},
		{"unknown model for a tokenizer", post, "/tokenize", `{"model":"x","prompt":"a"}`, 404, "NotFoundError",
			"model", "does not exist"},
		{"no JSON", post, completions, `{"model"`, 400, "Bad Request", "", "unexpected end"},
		{"more than JSON", post, completions, `{} {}`, 400, "Bad Request", "", "after top-level value"},
		{"wrong type", post, completions, `{"prompt":"a","max_tokens":"many"}`, 400, "Bad Request", "", "max_tokens"},
		{"no prompt", post, completions, `{}`, 400, "BadRequestError", "prompt", "missing"},
		{"empty prompt", post, completions, `{"prompt":""}`, 400, "BadRequestError", "prompt", "cannot be empty"},
		{"empty list", post, completions, `{"prompt":[]}`, 400, "BadRequestError", "prompt", "cannot be empty"},
		{"number as prompt", post, completions, `{"prompt":5}`, 400, "Bad Request", "", "text, a list"},
		{"mixed prompt", post, completions, `{"prompt":[1,"a"]}`, 400, "Bad Request", "", "text, a list"},
		{"a prompt of another kind in a list", post, completions, `{"prompt":["a",[1],{}]}`, 400, "Bad Request", "",
			"text, a list"},
		{"an empty prompt in a list", post, completions, `{"prompt":["a",""]}`, 400, "BadRequestError", "prompt",
			"cannot be empty"},
		{"unknown token", post, completions, `{"prompt":[1,1015040]}`, 400, "BadRequestError", "prompt",
			"Token id 1015040 is out of vocabulary"},
		{"n", post, completions, `{"prompt":"a","n":0}`, 400, "BadRequestError", "n", "at least 1, got 0"},
		{"too many answers", post, completions, `{"prompt":["a","b"],"n":9000}`, 400, "BadRequestError", "n",
			"at most 16384 answers"},
		{"n in a chat", post, chat, `{"messages":[{"role":"user","content":"a"}],"n":2}`, 400, "BadRequestError", "n",
			"n=1"},
		{"echo", post, completions, `{"prompt":"a","echo":true}`, 400, "BadRequestError", "echo", "echo"},
		{"suffix", post, completions, `{"prompt":"a","suffix":"b"}`, 400, "BadRequestError", "suffix", "suffix"},
		{"beam search in a stream", post, completions, `{"prompt":"a","use_beam_search":true,"stream":true}`, 400,
			"BadRequestError", "stream", "beam"},
		{"logprobs", post, completions, `{"prompt":"a","logprobs":21}`, 400, "BadRequestError", "logprobs",
			"greater than max allowed: 20"},
		{"negative logprobs", post, completions, `{"prompt":"a","logprobs":-1}`, 400, "BadRequestError", "logprobs",
			"positive"},
		{"no tokens", post, completions, `{"prompt":"a","max_tokens":0}`, 400, "BadRequestError", "max_tokens",
			"at least 1, got 0"},
		{"min above max", post, completions, `{"prompt":"a","max_tokens":2,"min_tokens":3}`, 400, "BadRequestError",
			"min_tokens", "max_tokens=2, got 3"},
		{"too long", post, completions, `{"prompt":"ab","max_tokens":1024}`, 400, "BadRequestError", "max_tokens",
			"(1024 > 1024 - 1)"},
		{"prompt too long", post, completions, `{"prompt":` + ids(1024) + `}`, 400, "BadRequestError", "input_tokens",
			"maximum context length is 1024 tokens"},
		{"stream options without a stream", post, completions, `{"prompt":"a","stream_options":{}}`, 400,
			"BadRequestError", "stream_options", "stream=True"},
		{"no messages", post, chat, `{"messages":[]}`, 400, "BadRequestError", "messages", "empty"},
		{"no role", post, chat, `{"messages":[{"content":"a"}]}`, 400, "BadRequestError", "messages", "no role"},
		{"a part of another kind", post, chat,
			`{"messages":[{"role":"user","content":[{"type":"smell","smell":"x"}]}]}`, 400, "Bad Request", "",
			`got "smell"`},
		{"content of another kind", post, chat, `{"messages":[{"role":"user","content":7}]}`, 400, "Bad Request", "",
			"list of parts"},
		{"top logprobs without logprobs", post, chat, `{"messages":[{"role":"user","content":"a"}],"top_logprobs":2}`,
			400, "BadRequestError", "top_logprobs", "must be set"},
		{"too many top logprobs", post, chat,
			`{"messages":[{"role":"user","content":"a"}],"logprobs":true,"top_logprobs":21}`, 400, "BadRequestError",
			"top_logprobs", "20"},
		{"empty salt", post, completions, `{"prompt":[1],"cache_salt":""}`, 400, "BadRequestError", "cache_salt",
			"non-empty"},
		{"nothing to tokenize", post, "/tokenize", `{}`, 400, "BadRequestError", "messages", "empty"},
		{"nothing to detokenize", post, "/detokenize", `{}`, 400, "BadRequestError", "tokens", "missing"},
		{"unknown token to detokenize", post, "/detokenize", `{"tokens":[-1]}`, 400, "BadRequestError", "tokens",
			"Token id -1"},
	}
	bubble(t, round(), func(c *client) {
		for _, tt := range tests {
			status, body := c.do(tt.method, tt.path, tt.body)
			e, _ := field(c.parse(body), "error")
			if status != tt.status || at(e, "code") != fmt.Sprint(tt.status) || textAt(e, "type") != tt.kind ||
				textAt(e, "param") != tt.param ||
				!strings.Contains(textAt(e, "message"), tt.message) {
				t.Errorf("%s: status %d and %s, want %d, %s, %q, %q", tt.name, status, body, tt.status, tt.kind,
					tt.param, tt.message)
			}
		}
		if s := c.server.engine.snapshot(); s.generationTokens != 0 {
			t.Errorf("%d tokens were generated for refused requests", s.generationTokens)
		}
	})
}

// Some answers have no content of their own; a request that no endpoint takes is refused before vLLM's own errors, by
// its framework.
func TestPlainAnswers(t *testing.T) {
	bubble(t, round(), func(c *client) {
		for _, tt := range []struct {
			method, path string
			status       int
			body         string
		}{
			{"GET", "/health", 200, ""},
			{"HEAD", "/health", 200, ""},
			{"POST", "/start_profile", 200, ""},
			{"POST", "/stop_profile", 200, ""},
			{"GET", "/v2/nothing", 404, `{"detail":"Not Found"}` + "\n"},
			{"GET", "/v1/completions", 405, `{"detail":"Method Not Allowed"}` + "\n"},
			{"GET", "/start_profile", 405, `{"detail":"Method Not Allowed"}` + "\n"},
			{"POST", "/health", 405, `{"detail":"Method Not Allowed"}` + "\n"},
		} {
			if status, body := c.do(tt.method, tt.path, ``); status != tt.status || body != tt.body {
				t.Errorf("%s %s: %d %q, want %d %q", tt.method, tt.path, status, body, tt.status, tt.body)
			}
		}
	})
}

func TestClientThatLeaves(t *testing.T) {
	bubble(t, round(), func(c *client) {
		ctx, cancel := context.WithCancel(context.Background())
		response := c.open(ctx, "POST", "/v1/completions",
			`{"prompt":`+ids(100)+`,"max_tokens":900,"ignore_eos":true,"stream":true}`)
		time.Sleep(25 * time.Millisecond)
		if s := c.server.engine.snapshot(); s.running != 1 || s.cacheUsage == 0 {
			t.Errorf("while it is there: %d running, %v of the cache", s.running, s.cacheUsage)
		}
		cancel()
		response.Body.Close()
		time.Sleep(10 * time.Millisecond) // the step in hand ends at 31.1 ms
		if s := c.server.engine.snapshot(); s.running != 0 || s.cacheUsage != 0 || s.ends["abort"] != 1 ||
			s.generationTokens != 2 {
			t.Errorf("when it has left: %d running, %v of the cache, %d aborts, %d tokens",
				s.running, s.cacheUsage, s.ends["abort"], s.generationTokens)
		}
	})
}

// A client that does not read must not hold up the others, nor the engine.
func TestClientThatDoesNotRead(t *testing.T) {
	p := round()
	p.MaxModelLen, p.Blocks = 4096, 512
	bubble(t, p, func(c *client) {
		ctx, cancel := context.WithCancel(context.Background())
		// More bytes than the connection holds.
		slow := c.open(ctx, "POST", "/v1/completions",
			`{"prompt":[1000],"max_tokens":3000,"ignore_eos":true,"stream":true,"logprobs":20}`)
		time.Sleep(time.Minute)
		if s := c.server.engine.snapshot(); s.ends["length"] != 1 {
			t.Errorf("the engine has not finished the answer nobody reads: %+v", s.ends)
		}
		before := time.Since(c.start)
		_, events := c.stream("/v1/completions",
			`{"prompt":`+ids(100)+`,"max_tokens":1,"ignore_eos":true,"stream":true}`)
		assert.Equal(t, events[0].at-before, 20*time.Millisecond, "another client's first token took")
		body, err := io.ReadAll(slow.Body)
		if n := strings.Count(string(body), "data: "); err != nil || n != 3001 {
			t.Errorf("read late: %d events and %v, want 3001", n, err)
		}
		slow.Body.Close()
		cancel()
	})
}

func TestCloseUnderStreams(t *testing.T) {
	bubble(t, round(), func(c *client) {
		time.AfterFunc(25*time.Millisecond, func() { c.server.Close() })
		var whole sync.WaitGroup
		whole.Go(func() {
			status, body := c.do("POST", "/v1/completions", `{"prompt":[1000],"max_tokens":900,"ignore_eos":true}`)
			if status != 503 || at(c.parse(body), "error", "message") != `"the engine has stopped"` {
				t.Errorf("whole answer under Close: %d %s", status, body)
			}
		})
		_, events := c.stream("/v1/chat/completions", `{"messages":[{"role":"user","content":"hi"}],"ignore_eos":true,"stream":true,
			"stream_options":{"include_usage":true}}`)
		whole.Wait()
		n := len(events)
		if n < 3 || at(c.parse(events[n-2].data), "error", "code") != "500" || events[n-1].data != "[DONE]" {
			t.Errorf("stream under Close ends with %v", events)
		}
		if status, _ := c.do("POST", "/v1/completions", `{"prompt":[1000]}`); status != 503 {
			t.Errorf("after Close: status %d, want 503", status)
		}
		if status, _ := c.do("GET", "/health", ""); status != 503 {
			t.Errorf("health after Close: status %d, want 503", status)
		}
	})
}

func TestRequestID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(round())
		defer s.Close()
		r, _ := http.NewRequest("POST", "/", nil)
		if a, b := s.requestID(r, 1), s.requestID(r, 1); a == b {
			t.Errorf("two requests have the id %s", a)
		}
		r.Header.Set("X-Request-Id", "mine")
		if got := s.requestID(r, 1); got != "mine" {
			t.Errorf("id is %s, want the client's", got)
		}
	})
}
