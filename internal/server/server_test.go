package server

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"benchtop/internal/assert"
	"benchtop/internal/usage"
	"benchtop/loadgen"
	"benchtop/loadgen/protocol"
	"benchtop/metrics"
)

// options are those of a command line, not checked yet.
func options(t *testing.T, args ...string) (o Options) {
	t.Helper()
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.Define(f)
	assert.Fine(t, f.Parse(args))
	return o
}

// checked are options that make a target.
func checked(t *testing.T, o Options) Options {
	t.Helper()
	assert.Fine(t, errors.Join(o.Check()...))
	return o
}

// finds asks the server of checked options for its model.
func finds(t *testing.T, o Options) (Model, error) {
	client := o.Target.Client()
	defer client.CloseIdleConnections()
	return o.Find(t.Context(), client, o.Patience(told{}))
}

func TestReadModels(t *testing.T) {
	all, err := readModels([]byte(`{"data": [{"id": "a", "root": "org/a", "owned_by": "vllm", "max_model_len": 4096, "meta": "x"},
		{"id": "b", "aliases": ["c"], "meta": {"n_ctx": 2048, "n_ctx_train": 32768}}, {"id": "d", "root": null, "max_model_len": null}]}`))
	if err != nil || len(all) != 3 {
		t.Fatalf("got %+v, error %v", all, err)
	}
	for i, want := range []Model{{ID: "a", Root: "org/a", Loaded: "org/a", Owner: "vllm", Context: 4096},
		{ID: "b", Root: "b", Context: 2048}, {ID: "d", Root: "d"}} {
		got := all[i]
		assert.Equal(t, strings.Join(got.Known, " "), "a b c d", "names %q", got.Known)
		if got.Known = nil; got.ID != want.ID || got.Root != want.Root || got.Loaded != want.Loaded ||
			got.Owner != want.Owner || got.Context != want.Context {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if _, err := readModels([]byte(`<html>`)); err == nil {
		t.Error("a page is a list")
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		args  string
		fails string
		url   string
	}{
		{"", "", "http://127.0.0.1:8000"},
		{"--host [::1] --port 80", "", "http://[::1]:80"},
		{"--base-url http://x:1/v1 --host y", "", "http://x:1/v1"},
		{"--backend none", "--backend none: use vllm, openai", ""},
		{"--backend vllm-rerank --endpoint /rerank", "", "http://127.0.0.1:8000"},
		{"--endpoint /x", "--endpoint /x: for backend openai it must end in ", ""},
		{"--header a", "--header: item 1 is not KEY=VALUE", ""},
		{"--base-url x", "--base-url: ", ""},
		{"--port 0", "--port 0: ports are from 1 to 65535", ""},
	} {
		o := options(t, strings.Fields(c.args)...)
		err := errors.Join(o.Check()...)
		assert.Fails(t, c.args, err, c.fails)
		if err == nil && o.urls(new(usage.Problems))[0] != c.url {
			t.Errorf("%s: %s, want %s", c.args, o.urls(new(usage.Problems))[0], c.url)
		}
	}
}

// The key of Anthropic's variable goes to that protocol alone, and not over a header that is given.
func TestKeyOfAProtocol(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sesame-1")
	for args, want := range map[string]string{
		"--backend anthropic-messages":                         "sesame-1",
		"--backend anthropic-messages --header x-api-key=mine": "mine",
		"--backend openai-chat":                                "",
	} {
		o := checked(t, options(t, strings.Fields(args)...))
		assert.Equal(t, o.Target.Header().Get("X-Api-Key"), want, "%s: key", args)
	}
}

// The model comes from the server's list; one that is not listed is tried.
func TestFind(t *testing.T) {
	status := http.StatusOK
	listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" {
			http.Error(w, "no such model", http.StatusNotFound)
			return
		}
		w.WriteHeader(status)
		fmt.Fprint(w, `{"data": [{"id": "tiny", "owned_by": "vllm", "max_model_len": 4096}]}`)
	}))
	defer listening.Close()
	o := checked(t, Options{Backend: "openai", BaseURLs: []string{listening.URL}, port: 1})
	find := func() (Model, error) { return o.Find(t.Context(), listening.Client(), o.Patience(told{})) }
	if m, err := find(); m.ID != "tiny" || m.Context != 4096 || err != nil {
		t.Errorf("%+v, %v", m, err)
	}
	o.Model, o.ServedName = "org/tiny", "tiny"
	m, err := find()
	if m.ID != "tiny" || m.Root != "org/tiny" || m.Owner != "vllm" || err != nil {
		t.Errorf("%+v, %v", m, err)
	}
	if odd := o.unlisted(m, nil, nil); odd != nil {
		t.Errorf("%q", odd)
	}
	if odd := o.unlisted(m, []string{"tinny"}, nil); len(odd) != 1 ||
		!strings.Contains(odd[0], "--lora-modules tinny: the server does not list this model; it lists tiny") {
		t.Errorf("got %q", odd)
	}
	status = http.StatusForbidden
	if m, err := find(); m.Known != nil || err != nil { // the model is named
		t.Errorf("%+v, %v", m, err)
	}
	o.Model = ""
	_, err = find()
	assert.Fails(t, "forbidden", err, "403 Forbidden")
	listening.Close()
	if _, err := find(); err == nil || !strings.HasPrefix(err.Error(), "cannot reach http://") {
		t.Errorf("got %v", err)
	}
}

// A model that is not listed is told with those that are, and nothing is sent for it.
func TestUnlistedModel(t *testing.T) {
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprint("m", i))
	}
	o := Options{ServedName: "b"}
	for _, c := range []struct {
		known  []string
		fields []protocol.Field
		odd    string
	}{
		{[]string{"a"}, nil,
			"--served-model-name b: the server does not list this model; it lists a (did you mean a?)"},
		{[]string{"a", "b"}, nil, ""},
		{[]string{"bb"}, nil,
			"--served-model-name b: the server does not list this model; it lists bb (did you mean bb?)"},
		{many, nil, "--served-model-name b: the server does not list this model; it lists m0, m1, m2, m3, m4, m5, " +
			"m6, m7, m8, m9 and 2 more"},
		{nil, nil, ""},
		{[]string{"a"}, []protocol.Field{{Name: "model", JSON: `"c"`}}, ""},
	} {
		if odd := o.unlisted(Model{ID: "b", Known: c.known}, nil, c.fields); strings.Join(odd, "\n") != c.odd {
			t.Errorf("known %q: %q, want %q", c.known, odd, c.odd)
		}
	}
}

// A list that cannot be used is an error that names the way out and keeps the password to itself.
func TestListFails(t *testing.T) {
	var body string
	listening := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
	defer listening.Close()
	o := checked(t, Options{Backend: "openai",
		BaseURLs: []string{strings.Replace(listening.URL, "://", "://me:canary@", 1)}, port: 1})
	for _, c := range []struct{ body, want string }{
		{`{"data": []}`, "for its models: it lists none; name the model with --model"},
		{`{"data": [{"root": "a"}]}`, "it lists none"},
		{`<html>`, `the answer is not JSON: "<html>"`},
	} {
		body = c.body
		_, err := List(t.Context(), listening.Client(), o.Target)
		assert.Fails(t, c.body, err, c.want)
	}
	listening.Close()
	_, err := List(t.Context(), &http.Client{}, o.Target)
	if err == nil || strings.Contains(err.Error(), "canary") || strings.Count(err.Error(), "/v1/models") != 1 {
		t.Errorf("got %v", err)
	}
}

// A plan and the requests say where they go; the endpoint replaces the path of the protocol.
func TestPlan(t *testing.T) {
	for endpoint, want := range map[string]string{"": "/v1/completions", "/x/completions": "/x/completions"} {
		o := Options{Backend: "vllm", BaseURLs: []string{"http://host:1"}, port: 1, endpoint: endpoint}
		_ = o.headers.Set("Key=canary")
		assert.Fine(t, errors.Join(o.Check()...))
		var p metrics.Plan
		o.Plan(&p)
		if o.Path() != want || p.BaseURL != "http://host:1" || p.Backend != "vllm" || p.Pooling ||
			strings.Join(o.Secrets(), "") != "Key=canary" {
			t.Errorf("path %s, plan %+v, secrets %q", o.Path(), p, o.Secrets())
		}
	}
}

// Each of several servers is reached, has the path and the model, or is named in the refusal.
func TestSeveralServers(t *testing.T) {
	models := func(path string, names ...string) *httptest.Server {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/v1/models":
				fmt.Fprint(w, `{"data": [`)
				for i, name := range names {
					fmt.Fprint(w, strings.Repeat(",", min(i, 1)), `{"id": "`, name, `"}`)
				}
				fmt.Fprint(w, `]}`)
			case r.URL.Path != path:
				http.NotFound(w, r)
			default:
				w.WriteHeader(http.StatusMethodNotAllowed)
			}
		}))
		t.Cleanup(web.Close)
		return web
	}
	const path = "/v1/completions"
	one, two := models(path, "a"), models(path, "b", "a")
	for name, c := range map[string]struct{ url, want string }{
		"alike":         {two.URL, ""},
		"down":          {"http://127.0.0.1:1", "cannot reach http://127.0.0.1:1: "},
		"another model": {models(path, "b").URL, ": --model a: the server does not list this model; it lists b"},
		"another path": {models("/v1/chat/completions", "a").URL,
			" has no /v1/completions (404); it has /v1/chat/completions"},
	} {
		o := checked(t, options(t, "--base-url", one.URL, "--base-url", c.url, "--url-strategy", "least_in_flight"))
		var p metrics.Plan
		o.Plan(&p)
		if p.BaseURL != one.URL || strings.Join(p.Servers, " ") != one.URL+" "+c.url ||
			p.Strategy != "least-in-flight" || p.Address() != one.URL+" and 1 more" {
			t.Errorf("%s: plan %q, %q, %s", name, p.Servers, p.Strategy, p.Address())
		}
		client := o.Target.Client()
		m, err := o.Find(t.Context(), client, o.Patience(told{}))
		if err == nil {
			var odd []string
			if odd, err = o.CheckServer(t.Context(), client, m, nil, nil); len(odd) > 0 {
				err = errors.New(odd[0])
			}
		}
		client.CloseIdleConnections()
		if (c.want == "") != (err == nil) || err != nil && (!strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), c.url)) || m.ID != "a" && name != "down" {
			t.Errorf("%s: model %s, %v; want %q", name, m.ID, err, c.want)
		}
	}
	o := Options{Backend: "openai", host: "h", port: 1, Servers: loadgen.Servers{Strategy: "random"}}
	assert.Fails(t, "another strategy", errors.Join(o.Check()...),
		"--url-strategy random: use round-robin or least-in-flight")
}

// Connections may come from addresses of this machine alone.
func TestBindIsOfThisMachine(t *testing.T) {
	for bind, want := range map[string]string{
		"127.0.0.1":           "",
		"127.0.0.1, ::1":      "one of IPv6 reach different servers",
		"localhost":           "--bind localhost: expected addresses such as 10.0.0.5",
		"192.0.2.1,127.0.0.1": "--bind 192.0.2.1: it is no address of this machine, which has 127.0.0.1",
		"127.0.0.1,":          `--bind "": expected addresses`,
	} {
		o := Options{Backend: "vllm", host: "127.0.0.1", port: 8000, bind: bind}
		err := errors.Join(o.Check()...)
		assert.Fails(t, bind, err, want)
		if err == nil && o.Target.Sources() != 1 {
			t.Errorf("%d sources", o.Target.Sources())
		}
	}
	o := Options{Backend: "vllm", BaseURLs: []string{"unix:///run/a.sock"}, port: 8000, bind: "127.0.0.1"}
	assert.Fails(t, "a socket", errors.Join(o.Check()...), "--bind: unix:///run/a.sock is a socket of this machine")
}
