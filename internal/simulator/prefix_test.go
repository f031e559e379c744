package simulator

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
)

// cached is the profile of round with the prefix cache on.
func cached() Profile {
	p := round()
	p.PrefixCache = true
	return p
}

// run is n token ids from one on, as the inside of a JSON list.
func run(from, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d,", 1000+from+i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

// completionResult is the result of a streamed completion of one token.
type completionResult struct {
	ttft   time.Duration
	cached string // of the usage, "null" without a cache
}

// completion asks for one token after that prompt. more is put into the body.
func (c *client) completion(prompt, more string) completionResult {
	c.t.Helper()
	start := time.Since(c.start)
	_, events := c.stream("/v1/completions", `{"prompt":[`+prompt+`],"max_tokens":1,"ignore_eos":true,"stream":true,
		"stream_options":{"include_usage":true}`+more+`}`)
	if len(events) != 3 {
		c.t.Fatalf("%d events, want a token, usage and the end: %v", len(events), events)
	}
	details, _ := field(c.parse(events[1].data), "usage", "prompt_tokens_details")
	if details == nil {
		return completionResult{events[0].at - start, "null"}
	}
	return completionResult{events[0].at - start, at(details, "cached_tokens")}
}

// prefill is the time of a prompt of which so many tokens were in the cache: a step, the rest, and the reading of the
// cached part.
func prefill(tokens, hits int) time.Duration {
	return 10*time.Millisecond + time.Duration(tokens-hits)*100*time.Microsecond + time.Duration(hits)*time.Microsecond
}

func TestPrefixCache(t *testing.T) {
	const salted, other = `,"cache_salt":"a"`, `,"cache_salt":"b"`
	type ask struct {
		prompt, more string
		tokens, hits int
	}
	tests := []struct {
		name   string
		change func(*Profile)
		asks   []ask
	}{
		{name: "the same again: full blocks are found", asks: []ask{
			{run(0, 100), "", 100, 0}, {run(0, 100), "", 100, 96}, {run(0, 100), "", 100, 96}}},
		{name: "at least one token is computed", asks: []ask{
			{run(0, 96), "", 96, 0}, {run(0, 96), "", 96, 80}, {run(0, 97), "", 97, 96}}},
		{name: "a beginning in common", asks: []ask{
			{run(0, 100), "", 100, 0}, {run(0, 50) + "," + run(500, 50), "", 100, 48}, {run(0, 200), "", 200, 96}}},
		{name: "the same tokens behind another beginning are others", asks: []ask{
			{run(0, 64), "", 64, 0}, {run(900, 16) + "," + run(16, 48), "", 64, 0}}},
		{name: "less than a block is never found",
			asks: []ask{{run(0, 15), "", 15, 0}, {run(0, 16), "", 16, 0}, {run(0, 16), "", 16, 0}}},
		{name: "salt isolates", asks: []ask{
			{run(0, 100), "", 100, 0}, {run(0, 100), salted, 100, 0}, {run(0, 100), other, 100, 0},
			{run(0, 100), salted, 100, 96}, {run(0, 100), "", 100, 96}}},
		{name: "an adapter isolates", change: func(p *Profile) { p.Adapters = []Adapter{{"a", "a"}, {"b", "b"}} },
			asks: []ask{
				{run(0, 100), "", 100, 0}, {run(0, 100), `,"model":"a"`, 100, 0}, {run(0, 100), `,"model":"b"`, 100, 0},
				{run(0, 100), `,"model":"a"`, 100, 96}, {run(0, 100), `,"model":"a"` + salted, 100, 0},
				{run(0, 100), `,"model":"sim-8b"`, 100, 96}}},
		{name: "off", change: func(p *Profile) { p.PrefixCache = false },
			asks: []ask{{run(0, 100), "", 100, 0}, {run(0, 100), "", 100, 0}}},
		// 64 blocks: the first two prompts leave 25 each, the third takes the 14 that were never used and then the end
		// of the first, which is the oldest. Its 14 other blocks can still be found; they and the third prompt leave
		// none of the second.
		{name: "the oldest is evicted, its end first", change: func(p *Profile) { p.MaxBatchedTokens = 1024 },
			asks: []ask{
				{run(0, 400), "", 400, 0}, {run(1000, 400), "", 400, 0}, {run(2000, 400), "", 400, 0},
				{run(0, 400), "", 400, 224}, {run(2000, 400), "", 400, 384}}},
		{name: "what was used again is young again", change: func(p *Profile) { p.MaxBatchedTokens = 1024 },
			asks: []ask{
				{run(0, 400), "", 400, 0}, {run(1000, 400), "", 400, 0}, {run(0, 400), "", 400, 384},
				{run(2000, 400), "", 400, 0}, {run(0, 400), "", 400, 384}, {run(1000, 400), "", 400, 208}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := cached()
			if tt.change != nil {
				tt.change(&p)
			}
			bubble(t, p, func(c *client) {
				queries, hits := 0, 0
				for i, a := range tt.asks {
					want := completionResult{prefill(a.tokens, a.hits), "null"}
					if p.PrefixCache {
						want.cached = fmt.Sprint(a.hits)
					}
					assert.Equal(t, c.completion(a.prompt, a.more), want, "ask %d", i)
					queries, hits = queries+a.tokens, hits+a.hits
				}
				if !p.PrefixCache {
					queries = 0
				}
				c.shows("at the end",
					fmt.Sprintf(`vllm:prefix_cache_queries_total{engine="0",model_name="sim-8b"} %d.0`, queries),
					fmt.Sprintf(`vllm:prefix_cache_hits_total{engine="0",model_name="sim-8b"} %d.0`, hits),
					`vllm:kv_cache_usage_perc{engine="0",model_name="sim-8b"} 0.0`)
			})
		})
	}
}

// Two that arrive together share the step, as in vLLM: the second computes only what the first does not.
func TestPrefixSharedWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(cached())
		start := time.Now()
		for i := range 2 {
			seq := newSequence(100, 2, "length", uint64(i))
			seq.names = newBlockNames(16, "", randomPrompt(100, 7), randomAnswer(uint64(i)))
			assert.Fine(t, e.submit(seq))
			if i == 1 {
				<-seq.out
				if got, want := time.Since(start),
					10*time.Millisecond+104*100*time.Microsecond+96*time.Microsecond; got != want {
					t.Errorf("first token after %v, want %v", got, want)
				}
				// Six blocks together, and one for the end of each.
				if got := e.snapshot().cacheUsage; got != 8./64 {
					t.Errorf("cache usage is %v, want 8 of 64 blocks", got)
				}
			}
		}
		time.Sleep(time.Second)
		assert.Equal(t, e.snapshot().cacheUsage, 0, "of the cache left")
		e.stop()
	})
}

func TestPrefixReset(t *testing.T) {
	bubble(t, cached(), func(c *client) {
		reset := func(want string) { c.mustDo("POST", "/reset_prefix_cache", want) }
		c.completion(run(0, 100), "")
		reset(`{"success":true}`)
		if got := c.completion(run(0, 100), ""); got.cached != "0" {
			t.Errorf("after a reset %s tokens came from the cache", got.cached)
		}
		go c.send("/v1/completions", `{"prompt":[1],"max_tokens":10,"ignore_eos":true}`)
		time.Sleep(15 * time.Millisecond)
		reset(`{"success":false}`) // a sequence holds blocks
		time.Sleep(time.Second)
		if got := c.completion(run(0, 100), ""); got.cached != "96" {
			t.Errorf("after a reset that did not succeed %s tokens came from the cache, want 96", got.cached)
		}
	})
}

// The server's own times for a request, in a stream and in a whole answer.
func TestRequestMetrics(t *testing.T) {
	p := round()
	p.MaxSequences, p.RequestMetrics = 1, true
	// Twenty ms of prefill; then steps of 11.1 and 11.101 ms. The second request waits for the first.
	const want = `{"generation_time_ms":22.201,"mean_itl_ms":11.1005,"queue_time_ms":%s,"time_to_first_token_ms":20,` +
		`"tokens_per_second":71.09}`
	body := `{"prompt":` + ids(100) + `,"max_tokens":3,"ignore_eos":true`
	short := func(v any) string {
		m, _ := v.(map[string]any)
		if rate, ok := m["tokens_per_second"].(float64); ok {
			m["tokens_per_second"] = float64(int(rate*100+0.5)) / 100
		}
		return at(v)
	}
	bubble(t, p, func(c *client) {
		go c.send("/v1/completions", body+`}`)
		time.Sleep(time.Millisecond)
		_, events := c.stream("/v1/completions", body+`,"stream":true,"stream_options":{"include_usage":true}}`)
		if got, want := short(c.parse(events[3].data)["metrics"]), fmt.Sprintf(want, "41.201"); got != want {
			t.Errorf("at the end of a stream: %s, want %s", got, want)
		}
		for i, e := range events[:3] {
			if strings.Contains(e.data, "metrics") {
				t.Errorf("event %d speaks of metrics: %s", i, e.data)
			}
		}
		whole := c.answer("/v1/completions", body+`}`)
		assert.Equal(t, short(whole["metrics"]), fmt.Sprintf(want, "0"), "in a whole answer")
		for _, stream := range []string{"true", "false"} {
			_, chat := c.do("POST", "/v1/chat/completions",
				`{"messages":[{"role":"user","content":"a"}],"max_tokens":1,"stream":`+
					stream+strings.Repeat(`,"stream_options":{"include_usage":true}`,
					strings.Count(stream, "true"))+`}`)
			if !strings.Contains(chat, `"metrics":{"time_to_first_token_ms":`) ||
				!strings.Contains(chat, `"mean_itl_ms":null`) {
				t.Errorf("a chat, stream %s: %s", stream, chat)
			}
		}
		c.shows("at the end", `vllm:request_prefill_time_seconds_count{engine="0",model_name="sim-8b"} 5.0`)
	})
	p.RequestMetrics = false
	bubble(t, p, func(c *client) {
		if _, whole := c.do("POST", "/v1/completions", body+`}`); strings.Contains(whole, "metrics") {
			t.Errorf("metrics though nobody asked: %s", whole)
		}
	})
}
