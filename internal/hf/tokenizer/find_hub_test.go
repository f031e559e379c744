package tokenizer

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/hf/hub"
	"benchtop/internal/hf/hub/hubtest"
)

// noTokens is enough of a tokenizer to be kept.
const noTokens = `{"model":1}`

// stubHub is a hub with one model, org/name, that writes down what it is asked.
type stubHub struct {
	*httptest.Server
	files  map[string]string                                        // of org/name, revision main
	before func(w http.ResponseWriter, r *http.Request) (done bool) // may answer first

	mu    sync.Mutex
	asked []string // method, path, and the credentials sent
}

func newStubHub(t *testing.T, files map[string]string) *stubHub {
	h := &stubHub{files: files}
	h.start(t)
	return h
}

func (h *stubHub) start(t testing.TB) {
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
}

func (h *stubHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	line := r.Method + " " + r.RequestURI
	if auth := r.Header.Get("Authorization"); auth != "" {
		line += " " + auth
	}
	h.mu.Lock()
	h.asked = append(h.asked, line)
	h.mu.Unlock()
	if h.before != nil && h.before(w, r) {
		return
	}
	name, ok := strings.CutPrefix(r.URL.Path, "/org/name/resolve/main/")
	content, has := h.files[name]
	if !ok || !has {
		w.Header().Set("X-Error-Code", "EntryNotFound")
		http.Error(w, "Entry not found", http.StatusNotFound)
		return
	}
	io.WriteString(w, content)
}

// options are for a search on the hub alone.
func (h *stubHub) options(t testing.TB, pairs ...string) hub.Options {
	home := t.TempDir()
	env := variables(append([]string{"HF_HUB_OFFLINE", "", "HF_ENDPOINT", h.URL + "/", "HF_HOME", home, "HF_TOKEN", "secret"}, pairs...)...)
	return hub.Options{Env: env, Client: h.Client(), Cache: filepath.Join(home, "own")}
}

func TestDownload(t *testing.T) {
	h := newStubHub(t, map[string]string{"tokenizer.json": noTokens, "tokenizer_config.json": `{"b":2}`, "chat_template.jinja": "{{ x }}", "additional_chat_templates/tool_use.jinja": "{{ y }}"})
	o := h.options(t)
	var said []string
	o.Progress = func(line string) { said = append(said, line) }
	dir := filepath.Join(o.Cache, strings.ReplaceAll(strings.TrimPrefix(h.URL, "http://"), ":", "%3A"), "models--org--name", "main")
	want := Found{Files: Files{Tokenizer: []byte(noTokens), Config: []byte(`{"b":2}`), Repository: "org/name"}, Path: dir, Name: "org/name", By: "--model",
		Jinja: []byte("{{ x }}"), ToolJinja: []byte("{{ y }}")}

	for round := range 3 {
		if round == 2 {
			h.Close() // kept files do not need it
		}
		got, err := find(t.Context(), FindOptions{Model: "org/name"}, o)
		if err != nil {
			t.Fatal(err)
		}
		if tried := [...]int{3, 2, 2}[round]; len(got.Tried) != tried {
			t.Errorf("round %d: got tried %q, want %d", round, got.Tried, tried)
		}
		if place := [...]string{"hub", "hub cache", "hub cache"}[round]; got.Place != place {
			t.Errorf("round %d: got it from %q", round, got.Place)
		}
		got.Tried, got.Place = nil, ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("round %d: %s", round, diff)
		}
	}
	var asked []string
	for _, name := range []string{"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "config.json", "chat_template.jinja", "additional_chat_templates/tool_use.jinja"} {
		asked = append(asked, "GET /org/name/resolve/main/"+name+" Bearer secret")
	}
	if diff := cmp.Diff(asked, h.asked); diff != "" {
		t.Error(diff)
	}
	if len(said) != 1 || !strings.HasPrefix(said[0], "downloading tokenizer.json of org/name from 127.0.0.1") {
		t.Errorf("got progress %q", said)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), ".incomplete-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestDownloadOfARevision(t *testing.T) {
	h := newStubHub(t, nil)
	h.before = func(w http.ResponseWriter, r *http.Request) bool {
		io.WriteString(w, noTokens)
		return true
	}
	o := h.options(t, "HF_ENDPOINT", h.URL+"/mirror")
	found, err := find(t.Context(), FindOptions{Model: "org/name", Revision: "refs/pr/1"}, o)
	if err != nil || filepath.Base(found.Path) != "refs%2Fpr%2F1" {
		t.Errorf("got path %s, error %v", found.Path, err)
	}
	if want := "GET /mirror/org/name/resolve/refs%2Fpr%2F1/tokenizer.json Bearer secret"; h.asked[0] != want {
		t.Errorf("got %q, want %q", h.asked[0], want)
	}
}

func TestDownloadRefusals(t *testing.T) {
	status := func(code int, reason string) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("X-Error-Code", reason)
			http.Error(w, "Bearer secret", code) // a hub that says what it was sent
			return true
		}
	}
	body := func(header, content string) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if name, value, ok := strings.Cut(header, ": "); ok {
				w.Header().Set(name, value)
			}
			io.WriteString(w, content)
			return true
		}
	}
	tests := []struct {
		name   string
		env    []string
		files  map[string]string
		before func(w http.ResponseWriter, r *http.Request) bool
		want   []string
		asked  int
	}{
		{"offline", []string{"HF_HUB_OFFLINE", "Yes"}, nil, nil, []string{"HF_HUB_OFFLINE is set"}, 0},
		{"offline, older name", []string{"TRANSFORMERS_OFFLINE", "true"}, nil, nil, []string{"TRANSFORMERS_OFFLINE is set"}, 0},
		{"bad endpoint", []string{"HF_ENDPOINT", "ftp://user:pass@host"}, nil, nil, []string{"HF_ENDPOINT is not the address"}, 0},
		{"bad token", []string{"HF_TOKEN", "sec\x01ret"}, nil, nil, []string{"token in HF_TOKEN holds characters"}, 0},
		{"gated", nil, nil, status(403, "GatedRepo"), []string{"status 403 Forbidden", "accept the licence at http://127", "/org/name", "HF_TOKEN"}, 1},
		{"no token", []string{"HF_TOKEN", ""}, nil, status(401, "RepoNotFound"), []string{"status 401", "gated, private or does not exist", "set HF_TOKEN"}, 1},
		{"no model", nil, nil, status(404, "RepoNotFound"), []string{"does not exist, or is private"}, 1},
		{"no revision", nil, nil, status(404, "RevisionNotFound"), []string{"has no revision main"}, 1},
		{"no tokenizer", nil, map[string]string{"config.json": "{}"}, nil, []string{"/org/name has no tokenizer.json", "status 404"}, 4},
		{"another kind", nil, map[string]string{"tekken.json": "{}"}, nil, []string{"only tekken.json", "let the server count"}, 4},
		{"busy", nil, nil, status(429, ""), []string{"status 429", "wants fewer requests"}, 1},
		{"broken", nil, nil, status(503, ""), []string{"status 503 Service Unavailable", "try again later"}, 1},
		{"not a hub", nil, nil, status(405, ""), []string{"status 405", "is HF_ENDPOINT a Hugging Face hub?"}, 1},
		{"config fails", nil, map[string]string{"tokenizer.json": noTokens}, func(w http.ResponseWriter, r *http.Request) bool {
			return strings.HasSuffix(r.URL.Path, "config.json") && status(500, "")(w, r)
		}, []string{"tokenizer_config.json", "status 500"}, 2},
		{"web page", nil, nil, body("Content-Type: text/html; charset=utf-8", "{}"), []string{"a web page came", "proxy"}, 1},
		{"web page said to be JSON", nil, nil, body("Content-Type: application/json", "\n<!DOCTYPE HTML><p>"), []string{"a web page came"}, 1},
		{"not JSON", nil, nil, body("", `{"a":`), []string{"5 bytes that are not JSON"}, 1},
		{"empty", nil, nil, body("", ""), []string{"0 bytes that are not JSON"}, 1},
		{"truncated", nil, nil, body("Content-Length: 99", `{"a":1}`), []string{"broke off after 7 bytes", "try again"}, 1},
		{"other JSON", nil, nil, body("", `{"error":"come back"}`), []string{"came as something else: no model in it; try again"}, 1},
		{"null", nil, nil, body("", "null"), []string{"no model in it"}, 1},
		{"a list", nil, nil, body("", "[]"), []string{"no model in it"}, 1},
		{"a pointer of Git's", nil, nil, body("", "version https://git-lfs.github.com/spec/v1\noid"), []string{"Git's to a large file came instead"}, 1},
		{"too large", nil, nil, body("Content-Length: 99999999999", "{}"), []string{"larger than 96 MiB"}, 1},
		{"pointed nowhere", nil, nil, status(302, ""), []string{"without an address"}, 1},
		{"pointed in a circle", nil, nil, func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
			return true
		}, []string{"more than 8 times"}, 9},
		{"pointed to a file", nil, nil, func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Location", "file:///etc/passwd")
			w.WriteHeader(http.StatusFound)
			return true
		}, []string{`kind "file"`}, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := newStubHub(t, test.files)
			h.before = test.before
			o := h.options(t, test.env...)
			_, err := find(t.Context(), FindOptions{Model: "org/name"}, o)
			complains(t, err, test.want...)
			if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "sec\x01") || strings.Contains(err.Error(), "pass@") {
				t.Errorf("the error tells a secret: %v", err)
			}
			if len(h.asked) != test.asked {
				t.Errorf("got requests %q, want %d", h.asked, test.asked)
			}
			if entries, _ := os.ReadDir(o.Cache); len(entries) > 0 {
				t.Errorf("something was kept: %v", entries)
			}
		})
	}
}

func TestDownloadKeepsTheTokenToTheHub(t *testing.T) {
	cdn := newStubHub(t, nil)
	cdn.before = func(w http.ResponseWriter, r *http.Request) bool {
		io.WriteString(w, noTokens)
		return true
	}
	h := newStubHub(t, nil)
	h.before = func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case strings.HasPrefix(r.URL.Path, "/org/"):
			http.Redirect(w, r, "/moved"+r.URL.Path, http.StatusTemporaryRedirect)
		default:
			// The same name with another port: net/http would send the token there.
			http.Redirect(w, r, cdn.URL+"/blob?signature=s", http.StatusFound)
		}
		return true
	}
	if _, err := find(t.Context(), FindOptions{Model: "org/name"}, h.options(t)); err != nil {
		t.Fatal(err)
	}
	if len(h.asked) != 2*len(hubFiles()) || slices.ContainsFunc(h.asked, func(line string) bool { return !strings.HasSuffix(line, "Bearer secret") }) {
		t.Errorf("the hub was asked %q", h.asked)
	}
	if len(cdn.asked) != len(hubFiles()) || slices.ContainsFunc(cdn.asked, func(line string) bool { return strings.Contains(line, "secret") }) {
		t.Errorf("the content network was asked %q", cdn.asked)
	}
}

func TestDownloadTokens(t *testing.T) {
	dir := hubtest.Plant(t, map[string]string{"token": "of home\n", "other": " of-path\n", "home/token": "of-home"})
	tests := []struct {
		env  []string
		want string
	}{
		{[]string{"HF_TOKEN", " a\n", "HUGGING_FACE_HUB_TOKEN", "b"}, "Bearer a"},
		{[]string{"HF_TOKEN", "", "HUGGING_FACE_HUB_TOKEN", "b"}, "Bearer b"},
		{[]string{"HF_TOKEN", "", "HF_TOKEN_PATH", filepath.Join(dir, "other")}, "Bearer of-path"},
		{[]string{"HF_TOKEN", "", "HF_HOME", filepath.Join(dir, "home")}, "Bearer of-home"},
		{[]string{"HF_TOKEN", ""}, ""},
		{[]string{"HF_TOKEN", "a", "HF_HUB_DISABLE_IMPLICIT_TOKEN", "1"}, ""},
	}
	for _, test := range tests {
		h := newStubHub(t, map[string]string{"tokenizer.json": noTokens})
		if _, err := find(t.Context(), FindOptions{Model: "org/name"}, h.options(t, test.env...)); err != nil {
			t.Errorf("%q: %v", test.env, err)
		}
		if got := strings.TrimSpace(strings.TrimPrefix(h.asked[0], "GET /org/name/resolve/main/tokenizer.json")); got != test.want {
			t.Errorf("%q: got %q, want %q", test.env, got, test.want)
		}
	}
	h := newStubHub(t, nil)
	_, err := find(t.Context(), FindOptions{Model: "org/name"}, h.options(t, "HF_TOKEN", "", "HF_HOME", dir))
	complains(t, err, "the token in "+filepath.Join(dir, "token"))
}

func TestDownloadsAtOnce(t *testing.T) {
	large := `{"model":"` + strings.Repeat("x", 9<<20) + `"}`
	h := newStubHub(t, map[string]string{"tokenizer.json": large})
	o := h.options(t)
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			found, err := find(t.Context(), FindOptions{Model: "org/name"}, o)
			if err != nil || string(found.Tokenizer) != large || found.Path == "" {
				t.Errorf("got %d bytes from %s, error %v", len(found.Tokenizer), found.Path, err)
			}
		})
	}
	group.Wait()
}

func TestDownloadReplacesWhatIsDamaged(t *testing.T) {
	h := newStubHub(t, map[string]string{"tokenizer.json": noTokens})
	o := h.options(t)
	found, err := find(t.Context(), FindOptions{Model: "org/name"}, o)
	if err != nil {
		t.Fatal(err)
	}
	asked := len(hubFiles())
	for _, damage := range []string{"", noTokens[:5], strings.Repeat("\x00", 20), "x" + noTokens} {
		if err := os.WriteFile(filepath.Join(found.Path, "tokenizer.json"), []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		asked += len(hubFiles())
		for range 2 {
			if _, err := find(t.Context(), FindOptions{Model: "org/name"}, o); err != nil || len(h.asked) != asked {
				t.Errorf("damaged to %q: got error %v after %d requests, want %d", damage, err, len(h.asked), asked)
			}
		}
	}
}

func TestDownloadThatCannotBeKept(t *testing.T) {
	h := newStubHub(t, map[string]string{"tokenizer.json": noTokens})
	o := h.options(t)
	o.Cache = filepath.Join(hubtest.Plant(t, map[string]string{"file": "x"}), "file")
	var said []string
	o.Progress = func(line string) { said = append(said, line) }
	found, err := find(t.Context(), FindOptions{Model: "org/name"}, o)
	if err != nil || found.Path != h.URL+"/org/name" || len(said) != 2 || !strings.Contains(said[1], "could not be kept") {
		t.Errorf("got path %s, progress %q, error %v", found.Path, said, err)
	}
}

func TestDownloadFromNobody(t *testing.T) {
	h := newStubHub(t, nil)
	h.Close()
	_, err := find(t.Context(), FindOptions{Model: "org/name"}, h.options(t))
	complains(t, err, "cannot download tokenizer.json of org/name from 127.0.0.1", "refused")
}

// slow is a network in virtual time.
type slow struct {
	connect time.Duration
	header  time.Duration
	pause   time.Duration // before every byte
	bytes   int           // then silence
}

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	wait := func(d time.Duration) error {
		select {
		case <-time.After(d):
			return nil
		case <-r.Context().Done():
			return r.Context().Err()
		}
	}
	if err := wait(s.connect); err != nil {
		return nil, err
	}
	httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
	if err := wait(s.header); err != nil {
		return nil, err
	}
	body, w := io.Pipe()
	go func() {
		for range s.bytes {
			if err := wait(s.pause); err != nil {
				w.CloseWithError(err)
				return
			}
			w.Write([]byte("1"))
		}
		<-r.Context().Done()
		w.CloseWithError(r.Context().Err())
	}()
	return &http.Response{StatusCode: 200, Body: body, ContentLength: -1, Request: r}, nil
}

func TestDownloadFromASlowHub(t *testing.T) {
	tests := []struct {
		name  string
		hub   slow
		want  string
		after time.Duration
	}{
		{"no connection", slow{connect: time.Hour}, "no connection within 2s", 2 * time.Second},
		{"no answer", slow{connect: time.Second, header: time.Hour}, "nothing came for 30s", 31 * time.Second},
		{"silence", slow{pause: 29 * time.Second, bytes: 3}, "nothing came for 30s", 117 * time.Second},
		{"a trickle", slow{pause: 20 * time.Second, bytes: 1 << 20}, "longer than 15m0s", 15 * time.Minute},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				_, err := find(t.Context(), FindOptions{Model: "org/name"}, hub.Options{Cache: t.TempDir(), Client: &http.Client{Transport: test.hub},
					Env: variables("HF_HUB_OFFLINE", "", "HF_ENDPOINT", "http://hub", "HF_HOME", t.TempDir())})
				complains(t, err, test.want)
				if took := time.Since(start); took != test.after {
					t.Errorf("gave up after %v, want %v", took, test.after)
				}
			})
		})
	}
}

// A hub that cannot be reached is waited for once in a run, whatever is looked up there.
func TestUnreachableHubIsTriedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hub.New(hub.Options{Cache: t.TempDir(), Client: &http.Client{Transport: slow{connect: time.Hour}},
			Env: variables("HF_HUB_OFFLINE", "", "HF_ENDPOINT", "http://hub", "HF_HOME", t.TempDir())})
		start := time.Now()
		for _, o := range []FindOptions{{Model: "org/name"}, {Root: "org/other", Model: "org/name"}, {Tokenizer: "gpt2"}} {
			o.Hub = h
			_, err := Find(t.Context(), o)
			complains(t, err, "no connection within 2s")
		}
		repo, _ := hub.ParseRepository(hub.Datasets, "org/rows", "")
		_, err := h.Fetch(t.Context(), repo, hub.File{Name: "rows.json", Limit: 1 << 20})
		complains(t, err, "no connection within 2s")
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("waited %v for it, want 2s", took)
		}
	})
}

// lacks is a network whose hub has no tokenizer.json, and says no more.
type lacks struct{}

func (lacks) RoundTrip(r *http.Request) (*http.Response, error) {
	httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
	if r.Method == http.MethodGet {
		return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody, Request: r}, nil
	}
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// The other names that a hub may have are not worth a wait for each.
func TestDownloadThatIsNotExplained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := find(t.Context(), FindOptions{Model: "org/name"}, hub.Options{Cache: t.TempDir(), Client: &http.Client{Transport: lacks{}},
			Env: variables("HF_HUB_OFFLINE", "", "HF_ENDPOINT", "http://hub", "HF_HOME", t.TempDir())})
		complains(t, err, "has no tokenizer.json", "check the name")
		if took := time.Since(start); took != explainWithin {
			t.Errorf("gave up after %v, want %v", took, explainWithin)
		}
	})
}

func TestDownloadIsCutByItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	h := newStubHub(t, nil)
	h.before = func(w http.ResponseWriter, r *http.Request) bool {
		io.WriteString(w, "{")
		w.(http.Flusher).Flush()
		cancel(fmt.Errorf("the user has gone"))
		<-r.Context().Done()
		return true
	}
	o := h.options(t)
	_, err := find(ctx, FindOptions{Model: "org/name"}, o)
	if err == nil || err.Error() != "the user has gone" {
		t.Errorf("got error %v", err)
	}
	if entries, _ := os.ReadDir(o.Cache); len(entries) > 0 {
		t.Errorf("something was kept: %v", entries)
	}
}
