package cli

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"benchtop/internal/session"
)

// Answers without usage are counted by the server's tokenizer once the load is over, and the journal gives the same
// report.
func TestCountAnswers(t *testing.T) {
	t.Parallel()
	var completed, early atomic.Int64
	server := recorded(t, func(_ http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/v1/completions":
			completed.Add(1)
		case "/tokenize":
			if body, _ := io.ReadAll(r.Body); completed.Load() < 6 && !strings.Contains(string(body), "ready?") {
				early.Add(1)
			}
		}
		return false
	})
	dir := t.TempDir()
	r := benchtop(
		strings.Fields(
			"serve --model M --num-prompts 6 " + shortPrompts + " --save-result --result-filename r.json " +
				"--result-dir " + dir +
				" --base-url " + server.url + ` --extra-body {"stream_options":null}`)...)
	r.expect(t, session.ExitFine, "6 answers have no usage",
		"Output tokens of 6 of 6 requests: counted by the server's tokenizer")
	if n := early.Load(); n > 0 {
		t.Errorf("%d answers were counted while the load was on", n)
	}
	v := resultIn(t, dir)
	if sources := v["benchtop"].(map[string]any)["token_sources"].(map[string]any)["output"]; fmt.Sprint(sources) !=
		"map[server_tokenizer:6]" {
		t.Errorf("output tokens by %v", sources)
	}
	again := benchtop("report", "--no-plots", dir+"/r.json")
	if want, _, _ := strings.Cut(r.stdout, "\n\n"); !strings.HasPrefix(again.stdout, want) ||
		again.code != session.ExitFine {
		t.Errorf("from the journal:\n%s\nafter the run:\n%s", again.stdout, r.stdout)
	}
}
