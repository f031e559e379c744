package tokenizer

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/internal/hf/hub"
	"benchtop/internal/hf/hub/hubtest"
)

// noTokens is enough of a tokenizer to be kept.
const noTokens = `{"model":1}`

// serveModel is a hub with one model, org/name.
func serveModel(t testing.TB, files map[string]string) *hubtest.Hub {
	return hubtest.Serve(t, map[string]map[string]string{"org/name": files})
}

// onHub are options for a search on the hub alone.
func onHub(t testing.TB, h *hubtest.Hub, pairs ...string) hub.Options {
	home := t.TempDir()
	return hub.Options{Env: h.Env(home, pairs...), Client: h.Client(), Cache: filepath.Join(home, "own")}
}

func TestDownload(t *testing.T) {
	h := serveModel(t, map[string]string{"tokenizer.json": noTokens, "tokenizer_config.json": `{"b":2}`,
		"chat_template.jinja": "{{ x }}", "additional_chat_templates/tool_use.jinja": "{{ y }}"})
	o := onHub(t, h)
	var said []string
	o.Progress = func(line string) { said = append(said, line) }
	dir := filepath.Join(o.Cache, strings.ReplaceAll(strings.TrimPrefix(h.URL, "http://"), ":", "%3A"),
		"models--org--name", "main")
	want := Found{Files: Files{Tokenizer: []byte(noTokens), Config: []byte(`{"b":2}`), Repository: "org/name"},
		Path: dir, Name: "org/name", By: "--model",
		Jinja: []byte("{{ x }}"), ToolJinja: []byte("{{ y }}")}

	for round := range 3 {
		if round == 2 {
			h.Close() // kept files do not need it
		}
		got := assert.Must(find(t.Context(), FindOptions{Model: "org/name"}, o))(t)
		if tried := [...]int{3, 2, 2}[round]; len(got.Tried) != tried {
			t.Errorf("round %d: got tried %q, want %d", round, got.Tried, tried)
		}
		if place := [...]string{"hub", "hub cache", "hub cache"}[round]; got.Place != place {
			t.Errorf("round %d: got it from %q", round, got.Place)
		}
		got.Tried, got.Place = nil, ""
		assert.Same(t, fmt.Sprintf("round %d", round), got, want)
	}
	var asked []string
	for _, name := range []string{"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "config.json",
		"chat_template.jinja", "additional_chat_templates/tool_use.jinja"} {
		asked = append(asked, "org/name/resolve/main/"+name)
	}
	if diff := cmp.Diff(asked, h.Asked()); diff != "" {
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
	h := serveModel(t, nil)
	h.Before = hubtest.Answer(200, "", noTokens)
	o := onHub(t, h, "HF_ENDPOINT", h.URL+"/mirror")
	found := assert.Must(find(t.Context(), FindOptions{Model: "org/name", Revision: "refs/pr/1"}, o))(t)
	assert.Equal(t, filepath.Base(found.Path), "refs%2Fpr%2F1", "path")
	if asked, want := h.Asked(), "mirror/org/name/resolve/refs%2Fpr%2F1/tokenizer.json"; asked[0] != want {
		t.Errorf("got %q, want %q", asked[0], want)
	}
}

func TestDownloadRefusals(t *testing.T) {
	answer := hubtest.Answer
	tests := []struct {
		name   string
		env    []string
		files  map[string]string
		before func(w http.ResponseWriter, r *http.Request) bool
		want   []string
		asked  int
	}{
		{"offline", []string{"HF_HUB_OFFLINE", "Yes"}, nil, nil, []string{"HF_HUB_OFFLINE is set"}, 0},
		{"gated", []string{"HF_TOKEN", "secret"}, nil, answer(403, "GatedRepo", "Bearer secret"),
			[]string{"status 403 Forbidden", "accept the licence at http://127", "/org/name", "HF_TOKEN"}, 1},
		{"no tokenizer", nil, map[string]string{"config.json": "{}"}, nil,
			[]string{"/org/name has no tokenizer.json", "status 404"}, 4},
		{"another kind", nil, map[string]string{"tekken.json": "{}"}, nil,
			[]string{"only tekken.json", "let the server count"}, 4},
		{"config fails", nil, map[string]string{"tokenizer.json": noTokens},
			func(w http.ResponseWriter, r *http.Request) bool {
				return strings.HasSuffix(r.URL.Path, "config.json") && answer(500, "", "")(w, r)
			}, []string{"tokenizer_config.json", "status 500"}, 2},
		{"not JSON", nil, nil, answer(200, "", `{"a":`), []string{"5 bytes that are not JSON"}, 1},
		{"truncated", nil, nil, answer(200, "", `{"a":1}`, "Content-Length", "99"),
			[]string{"broke off after 7 bytes", "try again"}, 1},
		{"other JSON", nil, nil, answer(200, "", `{"error":"come back"}`),
			[]string{"came as something else: no model in it; try again"}, 1},
		{"null", nil, nil, answer(200, "", "null"), []string{"no model in it"}, 1},
		{"a list", nil, nil, answer(200, "", "[]"), []string{"no model in it"}, 1},
		{"too large", nil, nil, answer(200, "", "{}", "Content-Length", "99999999999"), []string{"larger than 96 MiB"},
			1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := serveModel(t, test.files)
			h.Before = test.before
			o := onHub(t, h, test.env...)
			_, err := find(t.Context(), FindOptions{Model: "org/name"}, o)
			complains(t, err, test.want...)
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error tells a secret: %v", err)
			}
			if asked := h.Asked(); len(asked) != test.asked {
				t.Errorf("got requests %q, want %d", asked, test.asked)
			}
			if entries, _ := os.ReadDir(o.Cache); len(entries) > 0 {
				t.Errorf("something was kept: %v", entries)
			}
		})
	}
}

func TestDownloadsAtOnce(t *testing.T) {
	large := `{"model":"` + strings.Repeat("x", 9<<20) + `"}`
	h := serveModel(t, map[string]string{"tokenizer.json": large})
	o := onHub(t, h)
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
	h := serveModel(t, map[string]string{"tokenizer.json": noTokens})
	o := onHub(t, h)
	found := assert.Must(find(t.Context(), FindOptions{Model: "org/name"}, o))(t)
	h.Asked()
	for _, damage := range []string{"", noTokens[:5], strings.Repeat("\x00", 20), "x" + noTokens} {
		assert.Fine(t, os.WriteFile(filepath.Join(found.Path, "tokenizer.json"), []byte(damage), 0o600))
		for _, want := range []int{len(hubFiles()), 0} {
			_, err := find(t.Context(), FindOptions{Model: "org/name"}, o)
			if asked := h.Asked(); err != nil || len(asked) != want {
				t.Errorf("damaged to %q: got error %v after %d requests, want %d", damage, err, len(asked), want)
			}
		}
	}
}

func TestDownloadThatCannotBeKept(t *testing.T) {
	h := serveModel(t, map[string]string{"tokenizer.json": noTokens})
	o := onHub(t, h)
	o.Cache = filepath.Join(hubtest.Plant(t, map[string]string{"file": "x"}), "file")
	var said []string
	o.Progress = func(line string) { said = append(said, line) }
	found, err := find(t.Context(), FindOptions{Model: "org/name"}, o)
	if err != nil || found.Path != h.URL+"/org/name" || len(said) != 2 ||
		!strings.Contains(said[1], "could not be kept") {
		t.Errorf("got path %s, progress %q, error %v", found.Path, said, err)
	}
}

func TestDownloadFromNobody(t *testing.T) {
	h := serveModel(t, nil)
	h.Close()
	_, err := find(t.Context(), FindOptions{Model: "org/name"}, onHub(t, h))
	complains(t, err, "cannot download tokenizer.json of org/name from 127.0.0.1", "refused")
}

// virtually are options for a search on a hub behind a network in virtual time.
func virtually(t *testing.T, network http.RoundTripper) hub.Options {
	return hub.Options{Cache: t.TempDir(), Client: &http.Client{Transport: network},
		Env: variables("HF_HUB_OFFLINE", "", "HF_ENDPOINT", "http://hub", "HF_HOME", t.TempDir())}
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
				_, err := find(t.Context(), FindOptions{Model: "org/name"}, virtually(t, test.hub))
				complains(t, err, test.want)
				assert.Equal(t, time.Since(start), test.after, "gave up after")
			})
		})
	}
}

// A hub that cannot be reached is waited for once in a run, whatever is looked up there.
func TestUnreachableHubIsTriedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hub.New(virtually(t, slow{connect: time.Hour}))
		start := time.Now()
		for _, o := range []FindOptions{{Model: "org/name"}, {Root: "org/other", Model: "org/name"},
			{Tokenizer: "gpt2"}} {
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
		_, err := find(t.Context(), FindOptions{Model: "org/name"}, virtually(t, lacks{}))
		complains(t, err, "has no tokenizer.json", "check the name")
		assert.Equal(t, time.Since(start), explainWithin, "gave up after")
	})
}

func TestDownloadIsCutByItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	h := serveModel(t, nil)
	h.Before = func(w http.ResponseWriter, r *http.Request) bool {
		io.WriteString(w, "{")
		w.(http.Flusher).Flush()
		cancel(fmt.Errorf("the user has gone"))
		<-r.Context().Done()
		return true
	}
	o := onHub(t, h)
	_, err := find(ctx, FindOptions{Model: "org/name"}, o)
	if err == nil || err.Error() != "the user has gone" {
		t.Errorf("got error %v", err)
	}
	if entries, _ := os.ReadDir(o.Cache); len(entries) > 0 {
		t.Errorf("something was kept: %v", entries)
	}
}
