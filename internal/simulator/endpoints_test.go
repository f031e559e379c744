package simulator

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

// endpoints are those that take requests for tokens, with a request whose model is MODEL. Of a stream, last is its last
// event and marks is how many events follow the tokens.
var endpoints = []struct {
	path, body string
	prompt     int // tokens
	last       string
	usage      []any // the way to the usage of output tokens in the event that has it
	marks      int
}{
	{"/v1/completions",
		`{"model":"MODEL","prompt":[1,2],"max_tokens":3,"ignore_eos":true,"stream":true,` +
			`"stream_options":{"include_usage":true}}`,
		2, "[DONE]", []any{"usage", "completion_tokens"}, 2},
	{"/v1/chat/completions",
		`{"model":"MODEL","messages":[{"role":"user","content":"a"}],"max_tokens":3,"ignore_eos":true,"stream":true,` +
			`"stream_options":{"include_usage":true}}`,
		9, "[DONE]", []any{"usage", "completion_tokens"}, 2},
	{"/v1/responses", `{"model":"MODEL","input":"a","max_output_tokens":3,"ignore_eos":true,"stream":true}`,
		9, "response.completed", []any{"response", "usage", "output_tokens"}, 4},
	{"/v1/messages", `{"model":"MODEL","messages":[{"role":"user","content":"a"}],"max_tokens":3,"stream":true}`,
		9, "message_stop", []any{"usage", "output_tokens"}, 3},
	{"/v1/audio/transcriptions", "", 50, "[DONE]", []any{"usage", "completion_tokens"}, 2},
	{"/v1/audio/translations", "", 50, "[DONE]", []any{"usage", "completion_tokens"}, 2},
	{path: "/v1/embeddings", body: `{"model":"MODEL","input":[[1,2],[3]]}`, prompt: 3},
	{path: "/embeddings", body: `{"model":"MODEL","input":"data:image/png;base64,AA","modality":"image"}`,
		prompt: mediaTokens},
	{path: "/pooling", body: `{"model":"MODEL","input":[1,2],"truncate_prompt_tokens":-1}`, prompt: 2},
	{path: "/rerank", body: `{"model":"MODEL","query":"a","documents":["b","c"]}`, prompt: 4},
	{path: "/v1/rerank", body: `{"model":"MODEL","query":"a","documents":["b","c"]}`, prompt: 4},
	{path: "/v2/rerank", body: `{"model":"MODEL","query":"a","documents":["b","c"]}`, prompt: 4},
	{path: "/score", body: `{"model":"MODEL","text_1":"a","text_2":"b"}`, prompt: 2},
	{path: "/v1/score", body: `{"model":"MODEL","text_1":"a","text_2":"b"}`, prompt: 2},
}

// texts are pieces of an answer.
var texts = regexp.MustCompile(`"(text|content|delta)":"[^"]+"`)

// sendTo posts the request of an endpoint for that model; fault is "" for none.
func (c *client) sendTo(path, body, model, fault string) *http.Response {
	c.t.Helper()
	kind, text := "application/json", strings.Replace(body, "MODEL", model, 1)
	if body == "" {
		kind, text = form("file", string(wav(1e9)), "model", model, "stream", "true", "stream_include_usage", "true",
			"max_completion_tokens", "3")
	}
	r := c.request(context.Background(), "POST", path, text)
	r.Header.Set("Content-Type", kind)
	r.Header.Set(FaultHeader, fault)
	response := assert.Must(c.http.Do(r))(c.t)
	return response
}

// Each endpoint knows the model and the adapters, names them in its answers, refuses others, and is in the log.
func TestEndpoints(t *testing.T) {
	var log lines
	p := round()
	p.Adapters = []Adapter{{"sql", "/adapters/sql"}}
	bubble(t, p, func(c *client) {
		c.server.LogTo(&log)
		for _, e := range endpoints {
			answers := map[string]string{}
			for _, model := range []string{"sim-8b", "sql", "other"} {
				response := c.sendTo(e.path, e.body, model, "")
				body, err := io.ReadAll(response.Body)
				response.Body.Close()
				assert.Fine(t, err)
				answers[model] = string(body)
				switch {
				case model == "other":
					if want := "The model `other` does not exist."; response.StatusCode != 404 ||
						!strings.Contains(string(body), want) {
						t.Errorf("%s: %d %s, want %s", e.path, response.StatusCode, body, want)
					}
				case response.StatusCode != 200 || !strings.Contains(string(body), `"model":"`+model+`"`):
					t.Errorf("%s: %d %.300s, want the model %s", e.path, response.StatusCode, body, model)
				}
			}
			if e.last != "" &&
				slices.Equal(texts.FindAllString(answers["sql"], -1), texts.FindAllString(answers["sim-8b"], -1)) {
				t.Errorf("%s: the adapter answers as the model does: %s", e.path, answers["sql"])
			}
		}
		_, models := c.do("GET", "/v1/models", "")
		v := c.parse(models)
		c.wants("models", models, [][2]string{
			{at(v, "data", 0, "parent"), "null"}, {at(v, "data", 1, "id"), `"sql"`},
			{at(v, "data", 1, "parent"), `"sim-8b"`},
			{at(v, "data", 1, "root"), `"/adapters/sql"`}, {at(v, "data", 1, "max_model_len"), "null"},
			{at(v, "data", 2), "absent"},
		})
	})
	assert.Need(t, len(log.calls), 3*len(endpoints), "lines")
	for i, e := range endpoints {
		var line struct {
			Path   string
			Prompt int      `json:"prompt_tokens"`
			Output int      `json:"output_tokens"`
			First  *float64 `json:"first_token_s"`
		}
		assert.Fine(t, json.Unmarshal([]byte(log.calls[3*i]), &line))
		if line.Path != e.path || line.Prompt != e.prompt || (line.First != nil) != (e.last != "") ||
			(line.Output > 0) != (e.last != "") {
			t.Errorf("%s: the line is %s", e.path, log.calls[3*i])
		}
	}
}

// Faults have the same meaning in each dialect.
func TestFaultsInEachDialect(t *testing.T) {
	bubble(t, round(), func(c *client) {
		for _, e := range endpoints {
			if e.last == "" {
				continue
			}
			stream := func(fault string) []event {
				_, events := c.events(c.sendTo(e.path, e.body, "sim-8b", fault))
				return events
			}
			end := func(events []event) string {
				if len(events) == 0 {
					return "nothing"
				}
				if last := events[len(events)-1]; last.name != "" {
					return last.name
				} else {
					return last.data
				}
			}
			used := func(events []event) string {
				for _, e2 := range events {
					var v any
					if json.Unmarshal([]byte(e2.data), &v) == nil && e2.name != "message_start" &&
						at(v, e.usage...) != "absent" && at(v, e.usage...) != "null" {
						return at(v, e.usage...)
					}
				}
				return "absent"
			}
			plain := stream("")
			if end(plain) != e.last || used(plain) != "3" {
				t.Errorf("%s: ends with %s, %s tokens of output: %v", e.path, end(plain), used(plain), plain)
			}
			if got := stream("no-usage"); used(got) != "absent" || end(got) != e.last {
				t.Errorf("%s without usage: %v", e.path, got)
			}
			if got := stream("no-done"); end(got) == e.last || len(got) != len(plain)-1 {
				t.Errorf("%s without an end: %v", e.path, got)
			}
			if got := stream("empty"); end(got) != e.last || slices.ContainsFunc(got, func(e event) bool {
				return strings.Contains(e.data, "delta\":\"") || strings.Contains(e.data, `"content":" `)
			}) {
				t.Errorf("%s, empty: %v", e.path, got)
			}
			if got := stream("truncate"); end(got) == e.last || len(got) >= len(plain)-e.marks {
				t.Errorf("%s, cut: %v", e.path, got)
			}
			if got := stream("error-in-stream"); !slices.ContainsFunc(got,
				func(e event) bool { return strings.Contains(e.data, "the engine failed") }) || used(got) != "absent" {
				t.Errorf("%s, with an error: %v", e.path, got)
			}
			response := c.sendTo(e.path, e.body, "sim-8b", "status=503")
			body, err := io.ReadAll(response.Body)
			response.Body.Close()
			if err != nil || response.StatusCode != 503 ||
				strings.Contains(string(body), `"type":"error"`) != (e.path == "/v1/messages") {
				t.Errorf("%s: %d %s", e.path, response.StatusCode, body)
			}
		}
	})
}
