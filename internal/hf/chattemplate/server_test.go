package chattemplate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"benchtop/internal/assert"
)

// answers is a server that knows some addresses and keeps what it is asked.
func answers(t *testing.T, known map[string]string) (*Server, *[]string) {
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a missing part fails the comparison
		asked = append(asked, r.URL.Path+" "+string(body))
		answer, found := known[r.URL.Path]
		var status int
		if _, err := fmt.Sscanf(answer, "%d", &status); err == nil || !found {
			if !found {
				status = http.StatusNotFound
			}
			w.WriteHeader(status)
			return
		}
		io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return NewServer(s.Client(), s.URL+"/", "m"), &asked
}

func TestServer(t *testing.T) {
	in := Input{Messages: json.RawMessage(`[{"role":"user","content":"Hello"}]`), Tools: json.RawMessage(`[]`),
		Arguments: json.RawMessage(`{"a":1}`)}
	const rest = `"add_generation_prompt":true,"tools":[],"chat_template_kwargs":{"a":1}}`
	for _, c := range []struct {
		name   string
		known  map[string]string
		want   string
		err    string
		absent bool
		last   string // question
		asked  int    // by two renderings
	}{
		{name: "llama.cpp", known: map[string]string{"/apply-template": `{"prompt": "<p>"}`,
			"/tokenize": `{"tokens": []}`}, want: "<p>",
			last: `/apply-template {"model":"m","messages":[{"role":"user","content":"Hello"}],` + rest, asked: 3},
		{name: "vLLM", known: map[string]string{"/tokenize": `{"count": 2, "tokens": [5, 6]}`,
			"/detokenize": `{"prompt": "<q>"}`}, want: "<q>",
			last: `/detokenize {"model":"m","tokens":[5,6]}`, asked: 7},
		{name: "none", absent: true, err: "no rendering of chats is offered", last: "/tokenize ", asked: 2},
		{name: "not allowed", known: map[string]string{"/apply-template": "405", "/tokenize": "422"}, absent: true,
			err: "no rendering", last: "/tokenize ", asked: 2},
		{name: "tokens of texts only", known: map[string]string{"/tokenize": `{"tokens": []}`}, absent: true,
			err: "no rendering", last: "/tokenize ", asked: 2},
		{name: "a page", known: map[string]string{"/apply-template": "<html>", "/tokenize": "<html>"}, absent: true,
			err: "no rendering", last: "/tokenize ", asked: 2},
		{name: "a key", known: map[string]string{"/apply-template": "401"}, err: "API key", last: "/apply-template ",
			asked: 2},
		{name: "busy", known: map[string]string{"/apply-template": "503"}, err: "busy", last: "/apply-template ",
			asked: 2},
	} {
		s, asked := answers(t, c.known)
		var got string
		var err error
		for range 2 {
			got, err = s.Render(t.Context(), in)
		}
		if got != c.want || errors.Is(err, ErrAbsent) != c.absent || (err == nil) != (c.err == "") ||
			err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q and %v, want %q and %q", c.name, got, err, c.want, c.err)
		}
		if last := (*asked)[len(*asked)-1]; !strings.HasPrefix(last, c.last) || len(*asked) != c.asked {
			t.Errorf("%s: asked %d times, last %s", c.name, len(*asked), last)
		}
	}
}

// Among many chats one at which the server is busy for a moment does not end the work.
func TestServerThatIsBusyForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		statuses := []int{200, 503, 200} // of the chat that is tried, and of the one that is wanted
		s := NewServer(&http.Client{Transport: transport(func(*http.Request) *http.Response {
			status := statuses[0]
			statuses = statuses[1:]
			return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(`{"prompt":"<p>"}`))}
		})}, "http://server", "m")
		if got, err := s.Render(t.Context(), Input{Messages: json.RawMessage(hi)}); got != "<p>" || err != nil ||
			len(statuses) > 0 {
			t.Errorf("got %q, error %v, answers left %v", got, err, statuses)
		}
	})
}

// transport is a server without a network.
type transport func(*http.Request) *http.Response

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

type fixedRenderer struct {
	source string
	err    error
}

func (f fixedRenderer) Render(context.Context, Input) (string, error) { return f.source, f.err }
func (f fixedRenderer) Source() string                                { return f.source }

func TestFirst(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		among  []NamedRenderer
		source string
		err    error
	}{
		{among: []NamedRenderer{fixedRenderer{"a", ErrAbsent}, fixedRenderer{"b", nil}, fixedRenderer{"c", nil}},
			source: "b"},
		{among: []NamedRenderer{fixedRenderer{"a", broken}, fixedRenderer{"b", nil}}, err: broken},
		{among: []NamedRenderer{fixedRenderer{"a", ErrAbsent}}, err: ErrAbsent},
		{err: ErrAbsent},
	} {
		f := NewFallback(c.among...)
		for range 2 {
			if s, err := f.Render(t.Context(), Input{}); !errors.Is(err, c.err) || err == nil && s != c.source {
				t.Errorf("%v: %q, %v", c.among, s, err)
			}
		}
		assert.Equal(t, f.Source(), c.source, "%v: rendered", c.among)
	}
}
