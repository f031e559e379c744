package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/simulator"
)

// tokenRequest is a request for tokens that a recording server got.
type tokenRequest struct {
	at     time.Duration
	body   string
	header http.Header
	fields map[string]any
}

// recording is a simulated server that remembers what it was asked.
type recording struct {
	url string

	mu    sync.Mutex
	calls []tokenRequest
	paths []string // of all requests
}

// recorded starts a fast simulated server; serve, if not nil, may answer first by returning true.
func recorded(t *testing.T, serve func(w http.ResponseWriter, r *http.Request) bool) *recording {
	t.Helper()
	inner := simulator.New(fast())
	rec := &recording{}
	web := httptest.NewServer(rec.handler(inner, serve))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
		_ = inner.Close()
	})
	rec.url = web.URL
	return rec
}

// fast is a server a hundred times as fast as usual, so that tests do not wait.
func fast() simulator.Profile {
	p := simulator.Defaults()
	p.StepBase, p.PrefillToken, p.DecodeSequence, p.ContextToken = p.StepBase/100, p.PrefillToken/100,
		p.DecodeSequence/100, 0
	return p
}

// handler remembers requests; serve may answer them, or else the simulated server does, by any name of a model.
func (r *recording) handler(inner *simulator.Server,
	serve func(w http.ResponseWriter, r *http.Request) bool) http.HandlerFunc {
	start := time.Now()
	return func(w http.ResponseWriter, q *http.Request) {
		at := time.Since(start)
		body, _ := io.ReadAll(q.Body)
		a := tokenRequest{at: at, body: string(body), header: q.Header}
		_ = json.Unmarshal(body, &a.fields)
		r.mu.Lock()
		r.paths = append(r.paths, q.Method+" "+q.URL.Path)
		if q.Method == http.MethodPost && (q.URL.Path == "/v1/completions" || q.URL.Path == "/v1/chat/completions") {
			r.calls = append(r.calls, a)
		}
		r.mu.Unlock()
		q.Body = io.NopCloser(bytes.NewReader(body))
		if serve != nil && serve(w, q) {
			return
		}
		if a.fields["model"] != nil { // the simulated server knows one
			known := maps.Clone(a.fields)
			known["model"] = simulator.Defaults().Model
			body, _ = json.Marshal(known)
		}
		q.Body, q.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		inner.Handler().ServeHTTP(w, q)
	}
}

// held starts a fast simulated server that answers so many requests for tokens, and keeps all others waiting until they
// are let go: a run against it lasts as long as the test wants, on any machine.
func held(t *testing.T, answered int) (server *recording, letGo func()) {
	t.Helper()
	open := make(chan struct{})
	var asked atomic.Int64
	server = recorded(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/completions") ||
			int(asked.Add(1)) <= answered {
			return false
		}
		select {
		case <-open:
			return false
		case <-r.Context().Done():
			return true
		}
	})
	return server, sync.OnceFunc(func() { close(open) })
}

// shortPrompts are the flags of a load that costs next to nothing, neither to draw nor to serve.
const shortPrompts = "--vocab-size 300 --random-input-len 5 --random-output-len 2"

func (r *recording) all() []tokenRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]tokenRequest(nil), r.calls...)
}

// field returns one field of every request in the order of their ids.
func (r *recording) field(name string) (out []any) {
	byID := map[string]any{}
	var ids []string
	for _, a := range r.all() {
		id := a.header.Get("X-Request-Id")
		byID[id] = a.fields[name]
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	for _, id := range ids {
		out = append(out, byID[id])
	}
	return out
}

// resultIn reads the one result in a directory.
func resultIn(t *testing.T, dir string) map[string]any {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	if len(files) != 1 {
		t.Fatalf("results %v, want one", files)
	}
	data := assert.Must(os.ReadFile(files[0]))(t)
	var v map[string]any
	assert.Fine(t, json.Unmarshal(data, &v))
	return v
}
