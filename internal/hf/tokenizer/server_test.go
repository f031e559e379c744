package tokenizer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
)

var complains = assert.Complains

// words answers like a server whose tokens are words, numbered by length, with a start marker 0.
func words(t *testing.T) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /tokenize", func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		if body["model"] != "m" {
			t.Errorf("got model %v", body["model"])
		}
		tokens := []int{}
		if body["add_special_tokens"].(bool) {
			tokens = append(tokens, 0)
		}
		for word := range strings.FieldsSeq(body["prompt"].(string)) {
			tokens = append(tokens, len(word))
		}
		json.NewEncoder(w).Encode(map[string]any{"count": len(tokens), "tokens": tokens, "max_model_len": 4096})
	})
	mux.HandleFunc("POST /detokenize", func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Model  string
			Tokens []int
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Tokens == nil {
			t.Errorf("got tokens %v, error %v", body.Tokens, err)
		}
		json.NewEncoder(w).Encode(map[string]string{"prompt": fmt.Sprint(body.Tokens)})
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func ask(s *httptest.Server) *Server {
	return NewServer(s.Client(), s.URL+"/", "m")
}

func TestServer(t *testing.T) {
	s := ask(words(t))
	if n, err := s.Count("one three five"); n != 4 || err != nil {
		t.Errorf("got count %d, error %v, want 4 tokens with the start marker", n, err)
	}
	if ids, err := s.EncodeContext(t.Context(), "one three five"); !cmp.Equal(ids, []int{3, 5, 4}) || err != nil {
		t.Errorf("got ids %v, error %v", ids, err)
	}
	if ids, err := s.EncodeContext(t.Context(), ""); len(ids) != 0 || err != nil {
		t.Errorf("got ids %v, error %v for an empty text", ids, err)
	}
	if text, err := s.DecodeContext(t.Context(), []int{1, 2}); text != "[1 2]" || err != nil {
		t.Errorf("got text %q, error %v", text, err)
	}
	if text, err := s.DecodeContext(t.Context(), nil); text != "[]" || err != nil {
		t.Errorf("got text %q, error %v for no ids", text, err)
	}
}

func TestServerErrors(t *testing.T) {
	tests := []struct {
		name   string
		status int
		answer string
		want   []string
	}{
		{"no such endpoint", 404, "{\"detail\":\n \"Not Found\"}", []string{"/tokenize", "404 Not Found", `\"Not Found\"`, "/detokenize at its root"}},
		{"no key", 401, "Unauthorized", []string{"401", `"Unauthorized"`, "API key"}},
		{"not JSON", 200, "<html>hello</html>", []string{"not the JSON expected", "<html>hello</html>"}},
		{"another count", 200, `{"count":"three"}`, []string{"not the JSON expected"}},
		{"no count", 200, `{"tokens":[1]}`, []string{`no "count"`}},
		{"negative count", 200, `{"count":-1}`, []string{`no "count"`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(test.status)
				w.Write([]byte(test.answer))
			}))
			defer s.Close()
			_, err := ask(s).Count("x")
			complains(t, err, append(test.want, s.URL)...)
			if advises := strings.HasSuffix(err.Error(), "; "+advice); advises != (test.status != 401) {
				t.Errorf("got advice %v in %v", advises, err)
			}
		})
	}
}

func TestServerMissingParts(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(`{"count":1}`)) }))
	defer s.Close()
	_, err := ask(s).EncodeContext(t.Context(), "x")
	complains(t, err, `no "tokens"`, advice)
	_, err = ask(s).DecodeContext(t.Context(), []int{1})
	complains(t, err, `no "prompt"`, advice)
}

func TestCountAllKeepsTheOrder(t *testing.T) {
	texts := make([]string, 500)
	want := make([]int, len(texts))
	for i := range texts {
		texts[i] = strings.Repeat("w ", i%7)
		want[i] = i%7 + 1
	}
	got, err := CountAll(t.Context(), ask(words(t)), texts)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err := CountAll(t.Context(), Estimate{}, nil); len(got) != 0 || err != nil {
		t.Errorf("got %v, error %v for no texts", got, err)
	}
}

func TestCountAllStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var once sync.Once
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // only then does the server notice that the client has gone
		once.Do(cancel)
		<-r.Context().Done()
	}))
	defer s.Close()
	if _, err := CountAll(ctx, ask(s), make([]string, 1000)); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want that of the context", err)
	}
}

// failing counts bytes and refuses an empty text.
type failing struct{}

func (failing) Count(text string) (int, error) {
	if text == "" {
		return 0, errors.New("an empty text")
	}
	return len(text), nil
}

func TestCountAllReportsAFailure(t *testing.T) {
	texts := make([]string, 300)
	for i := range texts {
		texts[i] = "x"
	}
	texts[200] = ""
	_, err := CountAll(t.Context(), failing{}, texts)
	complains(t, err, "an empty text")
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
		if got, err := (Estimate{}).Count(test.text); got != test.want || err != nil {
			t.Errorf("%q: got %d tokens, error %v, want %d", test.text, got, err, test.want)
		}
	}
}
