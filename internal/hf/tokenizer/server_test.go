package tokenizer

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"benchtop/internal/assert"
)

var complains = assert.Complains

func ask(s *httptest.Server) *Server {
	return NewServer(s.Client(), s.URL+"/", "m")
}

func TestServerErrors(t *testing.T) {
	tests := []struct {
		name   string
		status int
		answer string
		want   []string
	}{
		{"no such endpoint", 404, "{\"detail\":\n \"Not Found\"}",
			[]string{"/tokenize", "404 Not Found", `\"Not Found\"`, "/detokenize at its root"}},
		{"no key", 401, "Unauthorized", []string{"401", `"Unauthorized"`, "API key"}},
		{"not JSON", 200, "<html>hello</html>", []string{"not the JSON expected", "<html>hello</html>"}},
		{"another count", 200, `{"count":"three"}`, []string{"not the JSON expected"}},
		{"no count", 200, `{"tokens":[1]}`, []string{`no "count"`}},
		{"negative count", 200, `{"count":-1}`, []string{`no "count"`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t, says(test.status, test.answer))
			_, err := ask(s).Count("x")
			complains(t, err, append(test.want, s.URL)...)
			if advises := strings.HasSuffix(err.Error(), "; "+advice); advises != (test.status != 401) {
				t.Errorf("got advice %v in %v", advises, err)
			}
		})
	}
}

func TestServerMissingParts(t *testing.T) {
	s := serve(t, says(200, `{"count":1}`))
	_, err := ask(s).EncodeContext(t.Context(), "x")
	complains(t, err, `no "tokens"`, advice)
	_, err = ask(s).DecodeContext(t.Context(), []int{1})
	complains(t, err, `no "prompt"`, advice)
}

func TestCountAllStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var once sync.Once
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // only then does the server notice that the client has gone
		once.Do(cancel)
		<-r.Context().Done()
	}))
	assert.Is(t, assert.Failure(CountAll(ctx, ask(s), make([]string, 1000))), context.Canceled)
}

func TestEstimate(t *testing.T) {
	tests := []struct {
		text string
		want int
	}{
		{"", 0},
		{"a", 1},
		{"abcd", 1},
		{"abcde", 2},
		{"a b c d", 4},
		{" \n\t", 1},
		{"The quick brown fox jumps over the lazy dog.", 11},
		{"東京都", 3},
		{"a\u00a0b", 2},
	}
	for _, test := range tests {
		assert.Equal(t, assert.Must((Estimate{}).Count(test.text))(t), test.want, "%q", test.text)
	}
}
