package telemetry

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A server says that it has reset its cache, says nothing, as older ones, or refuses while requests hold it.
func TestResetPrefixCache(t *testing.T) {
	for _, c := range []struct {
		name    string
		status  int
		answers []string // the last one again and again
		took    time.Duration
		asked   int
		fails   string
	}{
		{"done", 200, []string{`{"success": true}`}, 0, 1, ""},
		{"an older server", 200, []string{""}, 0, 1, ""},
		{"another shape", 200, []string{`["ok"]`}, 0, 1, ""},
		{"held for a while", 200, []string{`{"success": false}`, `{"success": false}`, `{"success": true}`},
			2 * resetPause, 3, ""},
		{"held", 200, []string{`{"success": false}`}, time.Second, 5,
			"requests still hold its cache; are there other clients?"},
		{"not in development mode", 404, []string{`{"detail":"Not Found"}`}, 0, 1,
			"it has no /reset_prefix_cache (404); vLLM offers that only when started with VLLM_SERVER_DEV_MODE=1 in " +
				"its environment"},
		{"another method", 405, []string{""}, 0, 1, "it has no /reset_prefix_cache (405); vLLM offers"},
		{"broken", 500, []string{"engine is dead"}, 0, 1, "500 Internal Server Error: engine is dead"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, asked := time.Now(), 0
				client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					if r.Method != http.MethodPost || r.URL.String() != "http://server/a/reset_prefix_cache" {
						t.Errorf("%s %s", r.Method, r.URL)
					}
					body := c.answers[min(asked, len(c.answers)-1)]
					asked++
					return &http.Response{StatusCode: c.status, Status: "500 Internal Server Error",
						Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
				})}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				err := ResetPrefixCache(ctx, client, "http://server/a/")
				assert.Fails(t, c.name, err, c.fails)
				if took := time.Since(began); took != c.took || c.took < time.Second && asked != c.asked ||
					asked < c.asked {
					t.Errorf("asked %d times in %s, want %d in %s", asked, took, c.asked, c.took)
				}
			})
		})
	}
}

// All caches are emptied; a server without one of the later ones has done enough, and one that cannot empty it is told.
func TestResetCaches(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers map[string]int // status by path, 200 for others
		fails   string
	}{
		{"all", nil, ""},
		{"no encoder", map[string]int{"/reset_encoder_cache": 404, "/reset_mm_cache": 405}, ""},
		{"no prefix cache", map[string]int{"/reset_prefix_cache": 404},
			"it has no /reset_prefix_cache (404); vLLM offers"},
		{"broken", map[string]int{"/reset_mm_cache": 500}, "/reset_mm_cache: 500"},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := ""
			client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				asked += r.Method + r.URL.Path + " "
				status, known := c.answers[r.URL.Path]
				if !known {
					status = http.StatusOK
				}
				return &http.Response{StatusCode: status, Status: "500 x", Body: io.NopCloser(strings.NewReader("")),
					Request: r}, nil
			})}
			err := ResetCaches(t.Context(), client, "http://server")
			assert.Fails(t, c.name, err, c.fails)
			if want := "POST/reset_prefix_cache POST/reset_mm_cache POST/reset_encoder_cache "; c.fails == "" &&
				asked != want {
				t.Errorf("asked %s", asked)
			}
		})
	}
}
