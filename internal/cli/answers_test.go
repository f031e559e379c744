package cli

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"benchtop/internal/session"
	"benchtop/internal/simulator"
)

// The load is the same, byte for byte, with known prompts beside it as without them, and these have no request id.
func TestKnownPromptsLeaveTheLoadAlone(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	bodies, known := map[string]string{}, 0
	server := simulator.New(fast())
	defer server.Close()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		mu.Lock()
		if id := r.Header.Get("X-Request-Id"); id != "" {
			bodies[id] = string(body)
		} else if strings.HasSuffix(r.URL.Path, "completions") {
			known++
		}
		mu.Unlock()
		server.Handler().ServeHTTP(w, r)
	}))
	defer web.Close()
	load := func(flags ...string) (sent map[string]string, beside int, r result) {
		clear(bodies)
		known = 0
		r = benchtop(append([]string{"serve", web.URL, "--no-save", "--seed", "5", "--request-id-prefix", "a",
			"--num-prompts", "40", "--request-rate", "200", "--random-input-len", "64", "--random-output-len", "4",
			"--random-range-ratio", "0.5", "--cache", "as-is"}, flags...)...)
		r.expect(t, session.ExitFine)
		return maps.Clone(bodies), known, r
	}
	without, none, plain := load()
	with, some, checked := load("--check-answers", "6")
	if !maps.Equal(without, with) || len(with) != 40 {
		t.Errorf("%d requests without, %d with, or others", len(without), len(with))
	}
	if some-none < 12 { // one finds out about the server
		t.Errorf("%d known prompts without the flag, %d with it", none, some)
	}
	if strings.Contains(plain.stdout, "Garbage") || !strings.Contains(checked.stdout, "Known answers: 6 of 6") {
		t.Errorf("%s\n%s", plain.stdout, checked.stdout)
	}
}
