package simulator

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
)

func TestInfo(t *testing.T) {
	bubble(t, round(), func(c *client) {
		if _, body := c.do("GET", "/version", ""); textAt(c.parse(body), "version") == "" {
			t.Errorf("version: %s", body)
		}
		_, body := c.do("GET", "/v1/models", "")
		e := c.parse(body)
		c.wants("models", body, [][2]string{
			{at(e, "object"), `"list"`},
			{at(e, "data", 0, "id"), `"sim-8b"`},
			{at(e, "data", 0, "root"), `"sim-8b"`},
			{at(e, "data", 0, "object"), `"model"`},
			{at(e, "data", 0, "max_model_len"), "1024"},
			{at(e, "data", 1), "absent"},
		})
		if c.server.engine.started {
			t.Error("the engine runs though nobody asked for a token")
		}
	})
}

func TestTokenizeRoundTrip(t *testing.T) {
	bubble(t, round(), func(c *client) {
		e := c.answer("/tokenize",
			`{"model":"sim-8b","prompt":"hello wörld","add_special_tokens":false,"return_token_strs":true}`)
		back := c.answer("/detokenize", `{"model":"sim-8b","tokens":`+at(e, "tokens")+`}`)
		c.wants("tokens", e, [][2]string{{at(e, "max_model_len"), "1024"}, {at(e, "token_strs", 0), `"hel"`},
			{textAt(back, "prompt"), "hello wörld"}})
		_, body := c.do("POST", "/tokenize", `{"prompt":""}`)
		assert.Equal(t, body, `{"count":0,"max_model_len":1024,"tokens":[],"token_strs":null}`+"\n", "empty prompt")
	})
}

func TestMetrics(t *testing.T) {
	p := round()
	p.MaxSequences = 1
	p.Model = `a "b"\`
	bubble(t, p, func(c *client) {
		for range 2 {
			go c.send("/v1/completions", `{"prompt":`+ids(100)+`,"max_tokens":3,"ignore_eos":true}`)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(3 * time.Millisecond)
		const labels = `{engine="0",model_name="a \"b\"\\"`
		c.shows("while one runs and one waits",
			"# TYPE vllm:num_requests_running gauge",
			"vllm:num_requests_running"+labels+"} 1.0",
			"vllm:num_requests_waiting"+labels+"} 1.0",
			fmt.Sprintf("vllm:kv_cache_usage_perc%s} %s", labels, number(7./64)),
			"vllm:generation_tokens_total"+labels+"} 0.0",
		)
		time.Sleep(20 * time.Millisecond)
		c.shows("when the first has a token and goes on: its waits are told when it ends, as vLLM does",
			`vllm:time_to_first_token_seconds_count`+labels+`} 1.0`,
			`vllm:prompt_tokens_total`+labels+`} 100.0`,
			`vllm:request_queue_time_seconds_count`+labels+`} 0.0`,
			`vllm:request_prefill_time_seconds_count`+labels+`} 0.0`,
		)
		time.Sleep(time.Second)
		c.shows("when both are done",
			`vllm:request_queue_time_seconds_count`+labels+`} 2.0`,
			`vllm:request_prefill_time_seconds_sum`+labels+`} 0.04`,
			"vllm:num_requests_running"+labels+"} 0.0",
			"vllm:kv_cache_usage_perc"+labels+"} 0.0",
			"# TYPE vllm:prompt_tokens_total counter",
			"vllm:prompt_tokens_total"+labels+"} 200.0",
			"vllm:generation_tokens_total"+labels+"} 6.0",
			"vllm:num_preemptions_total"+labels+"} 0.0",
			`vllm:request_success_total`+labels+`,finished_reason="length"} 2.0`,
			`vllm:request_success_total`+labels+`,finished_reason="stop"} 0.0`,
			"# TYPE vllm:time_to_first_token_seconds histogram",
			`vllm:time_to_first_token_seconds_bucket`+labels+`,le="0.01"} 0.0`,
			`vllm:time_to_first_token_seconds_bucket`+labels+`,le="0.02"} 1.0`, // 20 ms exactly
			`vllm:time_to_first_token_seconds_bucket`+labels+`,le="+Inf"} 2.0`,
			`vllm:time_to_first_token_seconds_count`+labels+`} 2.0`,
			`vllm:time_to_first_token_seconds_sum`+labels+`} 0.081201`, // 20 and 42.201 + 20 - 1 ms
			`vllm:inter_token_latency_seconds_count`+labels+`} 4.0`,
			`vllm:request_queue_time_seconds_sum`+labels+`} 0.041201`,
			`vllm:e2e_request_latency_seconds_count`+labels+`} 2.0`,
		)
	})
}

func TestValidateReportsAll(t *testing.T) {
	assert.Fine(t, Defaults().Validate())
	err := Profile{StepBase: -1, PrefillToken: -1, DecodeSequence: -1, ContextToken: -1,
		MaxBatchedTokens: -1}.Validate()
	if err == nil {
		t.Fatal("the zero profile is valid")
	}
	for _, want := range []string{
		"model needs", "max model len", "block size", "max sequences", "batched tokens", "step base", "prefill token",
		"decode sequence", "context token", "output mean", "speed is 0",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	p := Defaults()
	p.Blocks = 2047
	assert.Fails(t, "too few blocks", p.Validate(), "cannot hold one sequence of 32768")
	p.Blocks, p.Speed = -1, 20000
	if err := p.Validate(); err == nil || !strings.Contains(err.Error(), "number of blocks is -1") ||
		!strings.Contains(err.Error(), "makes a step of 11.5ms shorter than 1µs; use at most 11500") {
		t.Errorf("negative blocks, too fast: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("New took a profile that is not valid")
		}
	}()
	New(p)
}

func TestNamed(t *testing.T) {
	if p, err := Named("l40s-8b"); err != nil || !reflect.DeepEqual(p, Defaults()) {
		t.Errorf("got %v, %v", p, err)
	}
	_, err := Named("x")
	for _, name := range Names() {
		if p, err := Named(name); err != nil || p.Name != name || p.Validate() != nil || !p.PrefixCache {
			t.Errorf("%s: %+v, %v, %v", name, p, err, p.Validate())
		}
		assert.Fails(t, "unknown profile", err, name)
	}
}

// A part that is not text costs a fixed number of tokens, and a newline joins it to its neighbours.
func TestMediaParts(t *testing.T) {
	bubble(t, round(), func(c *client) {
		count := func(content string) float64 {
			return c.answer("/tokenize", `{"messages":[{"role":"user","content":[`+content+`]}]}`)["count"].(float64)
		}
		plain := count(`{"type":"text","text":"a b"}`)
		for _, kind := range []string{"image_url", "video_url", "input_audio"} {
			got := count(`{"type":"text","text":"a b"},{"type":"` + kind + `","` + kind + `":{"url":"x"}}`)
			if got != plain+1+mediaTokens {
				t.Errorf("%s: %v tokens beside a text of %v, want %d more", kind, got, plain, 1+mediaTokens)
			}
		}
	})
}

// Equal images share the blocks of a prefix, others do not.
func TestMediaPrefix(t *testing.T) {
	bubble(t, cached(), func(c *client) {
		hits := func(url string) string {
			return at(c.answer("/v1/chat/completions",
				`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"`+url+
					`"}}]}],"max_tokens":1}`), "usage", "prompt_tokens_details", "cached_tokens")
		}
		if first, other, again := hits("data:a"), hits("data:b"), hits("data:a"); first != "0" || other != "0" ||
			again != "256" {
			t.Errorf("an image has %s tokens in the cache, another %s, the first again %s", first, other, again)
		}
	})
}
