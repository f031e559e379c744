package answers

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/loadgen"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// stub answers each request by its body.
func stub(t *testing.T, answer func(w http.ResponseWriter, body map[string]any)) (load loadgen.Options) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		var body map[string]any
		if err := json.Unmarshal(text, &body); err != nil {
			t.Error(err)
		}
		answer(w, body)
	}))
	t.Cleanup(server.Close)
	load = loadgen.Defaults()
	var err error
	if load.Target, err = target.New(target.Options{BaseURL: server.URL}); err != nil {
		t.Fatal(err)
	}
	load.Model, load.RequestTimeout = "m", 5*time.Second
	return load
}

// say writes a whole answer of a text as a stream.
func say(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	event, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"text": text, "finish_reason": "stop"}}})
	io.WriteString(w, "data: "+string(event)+"\n\ndata: [DONE]\n\n")
}

// The prompts are the same for the same seed, all different, greedy whatever the user asked for, and one at a time.
func TestPrompts(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	var last map[string]any
	models := map[any]int{}
	load := stub(t, func(w http.ResponseWriter, body map[string]any) {
		if !mu.TryLock() {
			t.Error("two at once")
			return
		}
		defer mu.Unlock()
		seen, last = append(seen, body["prompt"].(string)), body
		models[body["model"]]++
		say(w, "a b c")
	})
	load.Extra = []protocol.Field{{Name: "temperature", JSON: "1.5"}, {Name: "n", JSON: "3"},
		{Name: "max_tokens", JSON: "4000"}, {Name: "top_p", JSON: "0.5"}, {Name: "priority", JSON: "1"}}
	load.Salt = loadgen.Salt{Mode: loadgen.SaltPrefix, Text: "salt", PerRequest: true}
	const n = 30
	alone := func(seed int64) (prompts []string, c *Check) {
		mu.Lock()
		seen = nil
		mu.Unlock()
		c = New(load, []string{"a", "b"}, n, seed)
		if note := c.Alone(context.Background(), func(int, int) {}); note != "" {
			t.Error(note)
		}
		mu.Lock() // the last one may still be at its end
		defer mu.Unlock()
		return seen, c
	}
	first, c := alone(7)
	again, _ := alone(7)
	other, _ := alone(8)
	if len(first) != 2*n || strings.Join(first, "|") != strings.Join(again, "|") || first[0] == other[0] {
		t.Errorf("%d prompts: %q, %q, %q", len(first), first[0], again[0], other[0])
	}
	different := map[string]bool{}
	for i, p := range first {
		different[p] = true
		assert.Equal(t, p, first[i%n], "%q the second time, %q the first", p, first[i%n])
	}
	assert.Equal(t, len(different), n, "different prompts")
	if last["temperature"] != 0.0 || last["n"] != nil || last["max_tokens"] != float64(outputTokens) ||
		last["seed"] != 0.0 || last["top_p"] != nil || last["priority"] != 1.0 || models["a"] != models["b"] {
		t.Errorf("%v, %v", last, models)
	}
	for _, a := range c.alone {
		if a.Changed || a.Alone == 2 && a.By != metrics.ByText {
			t.Errorf("%+v", a)
		}
	}
}

// A server that refuses fields gets fewer of them, and temperature 0 is the last to go; what fails for a moment costs
// that prompt alone. One that answers nothing is told of, and not asked for long.
func TestServersThatRefuse(t *testing.T) {
	has := func(field string) func(int64, map[string]any) bool {
		return func(_ int64, body map[string]any) bool { _, there := body[field]; return there }
	}
	first := func(n int64, _ map[string]any) bool { return n == 1 }
	const failed = "1 request with known prompts failed before the run, the first with http_status: "
	const unanswered = "no answer is checked: no known prompt was answered, the first failed with http_status: "
	always := func(int64, map[string]any) bool { return true }
	for _, c := range []struct {
		name    string
		refuses func(n int64, body map[string]any) bool
		status  int
		text    string
		note    string
		sent    int64 // requests of 2 prompts
		steady  int
		sampled bool
	}{
		{"none", has("none"), 400, "", "", 4, 2, false},
		{"a named field", has("return_token_ids"), 400, "return_token_ids", "", 5, 2, false},
		{"one named by an error of the server's", has("seed"), 500, "no seed", "", 5, 2, false},
		{"an unnamed field", has("seed"), 422, "bad", "", 7, 2, false},
		{"temperature", has("temperature"), 400, "temperature", "", 5, 2, true},
		{"busy for a moment", first, 429, "busy", failed + "busy", 3, 1, false},
		{"cold", first, 500, "cold", failed + "cold", 3, 1, false},
		{"broken", always, 500, "broken", unanswered + "broken", 2, 0, false},
		{"all", always, 400, "no model", unanswered + "no model", 5, 0, false},
	} {
		var sent atomic.Int64
		load := stub(t, func(w http.ResponseWriter, body map[string]any) {
			if c.refuses(sent.Add(1), body) {
				http.Error(w, c.text, c.status)
				return
			}
			say(w, "a")
		})
		check := New(load, nil, 2, 1)
		note := check.Alone(context.Background(), func(int, int) {})
		if note != c.note || sent.Load() != c.sent || len(check.steady) != c.steady || check.sampled != c.sampled {
			t.Errorf("%s: %q after %d requests, %v steady, sampled %v", c.name, note, sent.Load(), check.steady,
				check.sampled)
		}
	}
}

// An interrupt is no failure of the server's, and two empty answers are nothing to compare.
func TestNothingToCheck(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	load := stub(t, func(w http.ResponseWriter, _ map[string]any) { cancel() })
	if note := New(load, nil, 2, 1).Alone(ctx, func(int, int) {}); note != "" {
		t.Error(note)
	}
	check := New(stub(t, func(w http.ResponseWriter, _ map[string]any) { say(w, "") }), nil, 2, 1)
	check.Alone(context.Background(), func(int, int) {})
	assert.Equal(t, len(check.steady), 0, "steady prompts")
}

// A known prompt is given up after what is long for others, and within the limit of requests.
func TestPatience(t *testing.T) {
	for _, c := range []struct{ limit, longest, usual, want time.Duration }{
		{time.Hour, 0, 0, leastPatience}, {time.Hour, 10 * time.Second, 0, 100 * time.Second},
		{time.Hour, 0, time.Minute, 10 * time.Minute}, {5 * time.Second, 0, time.Minute, 5 * time.Second},
	} {
		check := Check{load: loadgen.Options{RequestTimeout: c.limit}, longest: c.longest}
		assert.Equal(t, check.patience(c.usual), c.want, "%+v", c)
	}
}

// The user's fields of length and drawing do not reach known prompts.
func TestKept(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"min_tokens", "100", ""}, {"best_of", "3", ""}, {"stop", `["a"]`, ""}, {"repetition_penalty", "null", "null"},
		{"max_completion_tokens", "null", "null"}, {"max_tokens", "4000", "16"}, {"user", `"u"`, `"u"`},
		{"options", `{"num_predict":99,"num_ctx":4096,"top_k":4}`, `{"num_ctx":4096,"num_predict":16}`},
	} {
		got := ""
		for _, f := range kept([]protocol.Field{{Name: c.name, JSON: c.value}}) {
			got = f.JSON
		}
		assert.Equal(t, got, c.want, "%s", c.name)
	}
}

// Answers are compared by ids, else by texts of tokens, else by characters.
func TestCompare(t *testing.T) {
	none := metrics.Unsaid()
	ids := func(all ...int) []metrics.OutputToken {
		return metrics.Each(all, func(id int) metrics.OutputToken {
			return metrics.OutputToken{ID: id, Logprob: -float64(id)}
		})
	}
	texts := func(all ...string) []metrics.OutputToken {
		return metrics.Each(all, func(text string) metrics.OutputToken {
			return metrics.OutputToken{ID: -1, Text: text, Logprob: -1}
		})
	}
	for _, c := range []struct {
		name        string
		was, is     metrics.Request
		by          metrics.AnswerBasis
		changed     bool
		common, of  int
		before, now float64
	}{
		{"same ids", tokens(ids(1, 2)), tokens(ids(1, 2)), metrics.ByTokenIDs, false, 2, 2, none, none},
		{"other ids", tokens(ids(1, 2, 3)), tokens(ids(1, 4, 3)), metrics.ByTokenIDs, true, 1, 3, -2, -4},
		{"shorter", tokens(ids(1, 2, 3)), tokens(ids(1)), metrics.ByTokenIDs, true, 1, 3, none, none},
		{"tokens", tokens(texts("a", "b")), tokens(texts("a", "c")), metrics.ByTokens, true, 1, 2, -1, -1},
		{"ids once", tokens(ids(1)), tokens(texts("a")), "", false, 0, 0, none, none},
		{"text", said("日本語"), said("日本人々"), metrics.ByText, true, 2, 4, none, none},
		{"same text", said("日本語"), said("日本語"), metrics.ByText, false, 3, 3, none, none},
		{"no text", said("a"), said(""), metrics.ByText, true, 0, 1, none, none},
	} {
		check := Check{first: []metrics.Request{c.was}}
		a := check.compare(0, &c.is)
		if a.By != c.by || a.Changed != c.changed || a.Common != c.common || a.Of != c.of ||
			!same(a.Before, c.before) || !same(a.Now, c.now) {
			t.Errorf("%s: %+v", c.name, a)
		}
	}
}

func same(a, b float64) bool { return a == b || !metrics.Said(a) && !metrics.Said(b) }

func tokens(all []metrics.OutputToken) metrics.Request { return metrics.Request{Tokens: all} }

func said(text string) metrics.Request { return metrics.Request{Text: text} }
