package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
	"benchtop/internal/simulator"
)

// routed are simulated servers that get requests in turn, at one address: the answer says which it was, and has the id
// of the request as a token. tokens are those that came with each.
func routed(t *testing.T, tokens *sync.Map, names ...string) string {
	t.Helper()
	var all []http.HandlerFunc
	for i, name := range names {
		p := fast()
		p.Speed, p.Adapters = p.Speed/float64(1+i), adapters("a", "b")
		s := simulator.New(p)
		t.Cleanup(func() { _ = s.Close() })
		all = append(all, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Served-By", name)
			w.Header().Set("X-Token", r.Header.Get("X-Request-Id"))
			s.Handler().ServeHTTP(w, r)
		})
	}
	var n atomic.Int64
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		turn := 0 // of what is no request of the load, such as samples, which come when they come
		if id := r.Header.Get("X-Request-Id"); id != "" {
			tokens.Store(id, r.Header.Get("X-Token"))
			turn = int(n.Add(1)) % len(all)
		}
		all[turn](w, r)
	}))
	t.Cleanup(web.Close)
	return web.URL
}

func adapters(names ...string) (all []simulator.Adapter) {
	for _, name := range names {
		a, _ := simulator.ParseAdapter(name)
		all = append(all, a)
	}
	return all
}

// Places have rows by header and by adapter, in the report, in that of the journal and in the result; each turn has the
// token of the one before.
func TestPlaces(t *testing.T) {
	t.Parallel()
	var tokens sync.Map
	at, dir := routed(t, &tokens, "pod-a", "pod-b"), t.TempDir()
	r := benchtop(append([]string{"serve", "--base-url", at, "--no-tui", "--gpu", "none", "--num-prompts", "8",
		"--request-id-prefix", "r", "--group-by-header", "x-served-by", "x-missing", "--echo-header", "x-token",
		"--lora-modules", "a=3", "b=1", "--lora-assignment", "round-robin", "--max-concurrency", "2", "--save-result",
		"--result-dir", dir}, chats(talkFile(t, 2, 2, 2, 2, 2, 2, 2, 2))...)...)
	words := []string{"Requests by adapter, latencies in ms", "Requests by x-served-by, latencies in ms",
		"Requests by x-missing, latencies in ms", "\nnone         16       0", "\na          12       0",
		"\nb           4       0", "\npod-a", "\npod-b",
		"TTFT: too few requests to tell a slow place from chance; a run 3.8 times as long\n"}
	r.expect(t, session.ExitFine, words...)
	journals, _ := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	benchtop("report", journals[0]).expect(t, session.ExitFine, words...)
	for i := range 8 {
		first, second := fmt.Sprintf("r%d-turn0", i), fmt.Sprintf("r%d-turn1", i)
		before, _ := tokens.Load(first)
		after, _ := tokens.Load(second)
		if before != "" || after != first {
			t.Errorf("conversation %d sent the tokens %q and %q", i, before, after)
		}
	}
	var got []string
	for _, x := range resultIn(t, dir)["benchtop"].(map[string]any)["compared"].([]any) {
		of := x.(map[string]any)
		line := fmt.Sprint(of["by"], " ", of["header"])
		for _, p := range of["places"].([]any) {
			p := p.(map[string]any)
			line += fmt.Sprint(" ", p["place"])
			if of["header"] != "x-served-by" {
				line += fmt.Sprint("=", p["completed"])
			}
		}
		got = append(got, line)
	}
	want := "adapter <nil> a=12 b=4, header x-served-by pod-a pod-b, header x-missing none=16"
	if strings.Join(got, ", ") != want {
		t.Errorf("compared %s\nwant %s", strings.Join(got, ", "), want)
	}
}

// Engines behind a router have rows by the pages of their metrics, in the report, in that of the journal and in the
// result. The key reaches those on the host of the load alone.
func TestMetricsURLs(t *testing.T) {
	t.Parallel()
	var keys sync.Map
	page := func(name string) string {
		return recorded(t, func(_ http.ResponseWriter, r *http.Request) bool {
			keys.Store(name, r.Header.Get("Authorization"))
			return false
		}).url
	}
	at, dir := simulated(t, nil), t.TempDir()
	elsewhere := strings.Replace(page("decode"), "127.0.0.1", "localhost", 1)
	args := []string{"serve", at, "--api-key", "canary", "--no-tui", "--gpu", "none", "--num-prompts", "8",
		"--random-input-len", "8", "--random-output-len", "4", "--result-dir", dir, "--save-result"}
	words := []string{"Engines by /metrics, means", "\nprefill-0  ", "\nprefill-1  ", "\ndecode  ",
		"All engines (vLLM)"}
	r := benchtop(append(args, "--metrics-url", "prefill-0="+page("prefill"), "prefill-1="+at,
		"decode="+elsewhere+"/metrics")...)
	r.expect(t, session.ExitFine, words...)
	journals, _ := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	benchtop("report", journals[0]).expect(t, session.ExitFine, words...)
	of := resultIn(t, dir)["benchtop"].(map[string]any)["compared"].([]any)[0].(map[string]any)
	got := fmt.Sprint(of["by"])
	for _, e := range of["engines"].([]any) {
		e := e.(map[string]any)
		got += fmt.Sprint(", ", e["name"], " of ", e["role"], " ", e["output_throughput"].(float64) > 0)
	}
	assert.Same(t, "engines", got,
		"engine, prefill-0 of prefill false, prefill-1 of prefill true, decode of decode false")
	ours, _ := keys.Load("prefill")
	theirs, _ := keys.Load("decode")
	assert.Same(t, "keys", fmt.Sprintf("%q %q", ours, theirs), `"Bearer canary" ""`)
	benchtop(append(args, "--metrics-url", "x=http://127.0.0.1:"+unused(t))...).expect(t, session.ExitFailed,
		"--metrics-url: reading the server's metrics page", "connection refused; give pages that this machine can read")
}
