package server

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/usage"
)

// A server that says that the path of the backend is not there is refused, with the paths that are; any other answer is
// left to the run.
func TestEndpointIsThere(t *testing.T) {
	only := func(paths ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			switch {
			case !slices.Contains(paths, r.URL.Path):
				http.NotFound(w, r)
			default:
				w.WriteHeader(http.StatusMethodNotAllowed)
			}
		}
	}
	for _, c := range []struct {
		name, backend, base, endpoint string
		do                            http.HandlerFunc
		want                          string
	}{
		{name: "there", backend: "openai", do: only("/v1/completions")},
		{name: "there under a path", backend: "openai", base: "/a%2Fb", do: only("/a/b/v1/completions")},
		{name: "there, perhaps", backend: "openai", do: only()},
		{name: "another page", backend: "openai", do: func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/responses" { // which it has for GET
				http.NotFound(w, r)
			}
		}},
		{name: "busy", backend: "openai",
			do: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }},
		{name: "cut off", backend: "openai",
			do: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		{name: "another backend's", backend: "openai-responses", do: only("/v1/completions", "/v1/chat/completions"),
			want: "has no /v1/responses (404); it has /v1/completions, /v1/chat/completions; use --backend openai or " +
				"openai-chat"},
		{name: "one other", backend: "openai", do: only("/v1/chat/completions"),
			want: "has no /v1/completions (404); it has /v1/chat/completions; use --backend openai-chat"},
		{name: "of one's own", backend: "openai", endpoint: "/v2/completions", do: only("/v1/completions"),
			want: "has no /v2/completions (404), but /v1/completions; leave --endpoint out"},
		{name: "twice", backend: "openai", base: "/v1", do: only("/v1/completions"),
			want: "leave /v1 out of --base-url"},
		{name: "moved", backend: "openai",
			do:   http.RedirectHandler("/b/v1/completions", http.StatusMovedPermanently).ServeHTTP,
			want: "use --base-url http://"},
	} {
		t.Run(c.name, func(t *testing.T) {
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, r.Method, http.MethodGet, "%s, which may generate", r.URL.Path)
				c.do(w, r)
			}))
			defer web.Close()
			o := checked(t,
				Options{Backend: c.backend, BaseURLs: []string{web.URL + c.base}, endpoint: c.endpoint, port: 1})
			client := o.Target.Client()
			defer client.CloseIdleConnections()
			_, err := o.CheckServer(t.Context(), client, Model{ID: "m"}, nil, nil)
			o.Ready = 60
			_, starting := o.CheckServer(t.Context(), client, Model{ID: "m"}, nil, nil)
			_, ready := o.CheckServer(t.Context(), client, Model{ID: "m", Known: []string{"m"}}, nil, nil)
			if starting != nil || (ready == nil) != (err == nil) {
				t.Errorf("with patience: %v while it starts, then %v", starting, ready)
			}
			if (c.want == "") != (err == nil) ||
				err != nil && (!strings.Contains(err.Error(), c.want) || !errors.As(err, new(usage.Error))) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// A base URL with the /v1 of the endpoints is refused by that name, and whether or not the model is given.
func TestVersionInTheBaseURL(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	o := checked(t, Options{Backend: "openai", BaseURLs: []string{web.URL + "/v1/"}, port: 1})
	for _, o.Model = range []string{"", "m"} {
		_, err := o.Ask(t.Context(), web.Client())
		assert.Fails(t, o.Model, err, "/v1/v1/models (404); leave /v1 out of --base-url")
	}
}

// A server that redirects is refused with the place it leads to, before anything else is asked, and whether or not the
// model is given.
func TestRedirects(t *testing.T) {
	for _, c := range []struct{ name, to, want string }{
		{"to another host", "https://model.test/a/v1/models",
			"redirects to https://model.test/a; use --base-url https://model.test/a"},
		{"with a query", "https://u:canary@model.test/v1/models?key=canary#canary",
			"use --base-url https://model.test"},
		{"on the same host", "/b/v1/models", "/b; use --base-url http://"},
		{"to a login", "https://login.test/?next=canary",
			"redirects /v1/models to https://login.test/, and redirects are not followed"},
		{"in a circle", "/v1/models", "and redirects are not followed"},
	} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Location"] = []string{c.to}
			w.WriteHeader(http.StatusTemporaryRedirect)
			_, _ = io.WriteString(w, `{"data": [{"id": "m"}]}`)
		}))
		for _, model := range []string{"", "m"} {
			_, err := finds(t,
				checked(t, Options{Backend: "openai", BaseURLs: []string{web.URL}, port: 1, Model: model, Ready: 60}))
			if err == nil || strings.Contains(err.Error(), "canary") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, model %q: %v, want %q", c.name, model, err, c.want)
			}
		}
		web.Close()
	}
}
