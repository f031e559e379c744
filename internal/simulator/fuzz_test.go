package simulator

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
)

// Any text is either refused with a message or a valid fault, whose text gives it back.
func FuzzParseFault(f *testing.F) {
	for _, text := range []string{
		"reset", "stall=2s,after=5,from=10", "status=429,every=3", "coalesce=4,share=0.25", "refuse=1h",
		"slow-body=1ns,to=3",
		"", "=", ",", "reset,", "reset,after", "stall=-1s", "status=99", "crlf,after=1", "reset,share=NaN",
		"reset,from=2,to=1",
		"stall=9999999h", "reset,every=99999999999999999999", "reset,after=1,after=2", "truncate,after=0",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fault, err := ParseFault(text)
		if err != nil {
			if fault != (Fault{}) || err.Error() == "" {
				t.Errorf("%q: %+v with error %q", text, fault, err)
			}
			return
		}
		assert.Equal(t, assert.Must(ParseFault(fault.String()))(t), fault, "%q", text)
		for number := range 5 {
			fault.hits(number+1, 1)
		}
	})
}

// For any body, every endpoint answers with JSON or a stream, with a known status, and comes to an end.
func FuzzRequest(f *testing.F) {
	for _, body := range []string{
		`{"prompt":"a","max_tokens":2}`, `{"prompt":[1,2],"stream":true,"logprobs":1}`, `{"prompt":[[1]],"n":1}`,
		`{"prompt":[null]}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"max_tokens":3,"stream":true}`,
		`{"messages":null,"logprobs":true,"chat_template_kwargs":{"enable_thinking":true}}`,
		`{"tokens":[1,300,31999]}`, `[]`, `null`, `{"prompt":[[[]]]}`, `{"max_tokens":null,"prompt":"\ud800"}`,
		`{"input":["a",[1]],"encoding_format":"base64","truncate_prompt_tokens":-1}`,
		`{"input":"data:a","modality":"image"}`,
		`{"messages":[[{"role":"user","content":"a"}],[{"role":"user"}]],"encoding_format":"bytes"}`,
		`{"input":[{"role":"user","content":"a"}],"task":"classify"}`,
		`{"input":[{"role":"user","content":[{"type":"input_text","text":"a"}]}],"max_output_tokens":2,"stream":true,` +
			`"include":["message.output_text.logprobs"]}`,
		`{"model":"sim-8b","max_tokens":3,"stream":true,"system":[{"type":"text","text":"a"}],` +
			`"messages":[{"role":"user","content":"a"}]}`,
		`{"query":"a","documents":["b",{"content":"c"}],"top_n":1}`, `{"text_1":"a","text_2":[null]}`,
	} {
		f.Add(body)
	}
	s := New(quick())
	f.Cleanup(func() { s.Close() })
	f.Fuzz(func(t *testing.T, body string) {
		for _, path := range []string{
			"/v1/completions", "/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/embeddings", "/embeddings",
			"/pooling", "/rerank", "/score",
			"/tokenize", "/detokenize",
		} {
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(body)))
			checkAnswer(t, path, body, w)
		}
	})
}

// quick is a profile whose steps take no time worth speaking of.
func quick() Profile {
	p := Defaults()
	p.MaxModelLen, p.StepBase, p.PrefillToken, p.DecodeSequence, p.ContextToken = 32, time.Microsecond, 0, 0, 0
	return p
}

// checkAnswer checks that an answer to any body is JSON, bytes, or a stream that has its end.
func checkAnswer(t *testing.T, path, body string, w *httptest.ResponseRecorder) {
	t.Helper()
	kind, ended := w.Header().Get("Content-Type"), false
	for _, end := range []string{"data: [DONE]\n\n", `"type":"response.completed"}` + "\n\n",
		`data: {"type":"message_stop"}` + "\n\n"} {
		ended = ended || strings.HasSuffix(w.Body.String(), end)
	}
	switch {
	case w.Code != 200 && w.Code != 400 && w.Code != 404:
		t.Errorf("%s: status %d for %q", path, w.Code, body)
	case strings.HasPrefix(kind, "text/event-stream"):
		if !ended {
			t.Errorf("%s: a stream without an end for %q", path, body)
		}
	case kind != "application/octet-stream" && !json.Valid(w.Body.Bytes()):
		t.Errorf("%s: no JSON for %q: %s", path, body, w.Body)
	}
}
