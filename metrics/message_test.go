package metrics_test

import (
	"strings"
	"testing"

	"benchtop/internal/assert"
	. "benchtop/metrics"
)

// The servers of docs/servers.md report errors in these ways.
func TestErrorMessage(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"OpenAI": {`{"error":{"message":"Rate limit ` +
			`reached","type":"requests","param":null,"code":"rate_limit_exceeded"}}`, "Rate limit reached"},
		"vLLM": {`{"object":"error","message":"The model ` + "`x`" + ` does not ` +
			`exist.","type":"NotFoundError","param":null,"code":404}`, "The model `x` does not exist."},
		"vLLM, newer": {`{"error":{"message":"too long","type":"BadRequestError","param":"input","code":400}}`,
			"too long"},
		"FastAPI": {`{"detail":"Not Found"}`, "Not Found"},
		"FastAPI, validation": {
			`{"detail":[{"loc":["body","max_tokens"],"msg":"must be positive","type":"value_error"},{"loc":["body",` +
				`"messages",0,"role"],"msg":"field required"}]}`,
			"body.max_tokens: must be positive; body.messages.role: field required"},
		"FastAPI, an object": {`{"detail":{"error":{"message":"no"}}}`, "no"},
		"TGI": {`{"error":"Input validation error: inputs must have less than 1024 ` +
			`tokens","error_type":"validation"}`, "Input validation error: inputs must have less than 1024 tokens"},
		"llama.cpp": {`{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`,
			"Loading model"},
		"a list of errors":     {`[{"error":{"message":"one"}},{"error":{"message":"two"}}]`, "one; two"},
		"an event of a stream": {`data: {"error": {"message": "out of memory"}}`, "out of memory"},
		"cut off": {`{"error":{"type":"x","message":"a \"long\" message that goes`,
			`a "long" message that goes`},
		"cut off in an escape": {`{"message":"a long message\u00`, `{"message":"a long message\u00`},
		"no message":           {`{"code":503}`, `{"code":503}`},
		"an empty message":     {`{"error":{"message":" "}}`, `{"error":{"message":" "}}`},
		"a page": {"<html><title>502 Bad Gateway</title></html>",
			"<html><title>502 Bad Gateway</title></html>"},
		"text":    {"no such model", "no such model"},
		"nothing": {"", ""},
		"deep": {strings.Repeat(`{"error":`, 9) + `"x"` + strings.Repeat("}", 9),
			strings.Repeat(`{"error":`, 9) + `"x"` + strings.Repeat("}", 9)},
	} {
		assert.Equal(t, ErrorMessage(c.body), c.want, "%s", name)
	}
}

func TestErrorShape(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"request chatcmpl-3f2a: 4096 tokens at most", "request chatcmpl-9b: 17 tokens at most", true},
		{"read tcp 127.0.0.1:55012->127.0.0.1:8000: timeout", "read tcp 127.0.0.1:4->127.0.0.1:8000: timeout", true},
		{"out of memory", "out of slots", false}, {"a 1", "a", false}, {"", "7", false}, {"é 1 ü", "é 2 ü", true},
	} {
		if a, b := ErrorShape(c.a), ErrorShape(c.b); (a == b) != c.same {
			t.Errorf("%q is %q, %q is %q", c.a, a, c.b, b)
		}
	}
}

func TestMessage(t *testing.T) {
	for _, c := range []struct {
		kind       Failure
		text, want string
	}{
		{FailedConnect, "dial tcp [::1]:8000: connect: connection refused", "connection refused"},
		{FailedConnect, "dial tcp: lookup gpu: no such host", "unknown host"},
		{FailedConnect, "tls: bad certificate", "tls: bad certificate"},
		{FailedReset, "write: broken pipe", "connection reset"},
		{FailedStatus, `{"error":"upstream: connection refused"}`, "upstream: connection refused"},
	} {
		assert.Equal(t, (&Request{Failure: c.kind, Error: c.text}).Message(), c.want, "%s, %s", c.kind, c.text)
	}
}

func FuzzErrorMessage(f *testing.F) {
	f.Add(`{"error":{"message":"x"}}`)
	f.Add(`{"detail":[{"loc":["body"],"msg":"x"}]}`)
	f.Add(`{"message":"cut \u12`)
	f.Fuzz(func(t *testing.T, body string) {
		if got := ErrorMessage(body); len(got) > 4*len(body)+len("; ") { // a damaged byte becomes three
			t.Errorf("%d bytes of %d", len(got), len(body))
		}
		if got := ErrorShape(body); len(got) > len(body) {
			t.Errorf("%q is longer than %q", got, body)
		}
	})
}
