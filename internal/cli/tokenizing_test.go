package cli

import (
	"net/http"
	"testing"

	"benchtop/internal/session"
)

// A busy server is no wrong usage, at every endpoint.
func TestBusyServerIsNoWrongUsage(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/apply-template", "/detokenize"} {
		server := recorded(t, func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == path {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			return r.URL.Path == path
		})
		args := []string{"dataset", "--base-url", server.url, "--backend", "openai-chat", "--num-prompts", "2"}
		if path == "/apply-template" {
			args = []string{"dataset", "--base-url", server.url, "--dataset-name", "custom", "--dataset-path",
				datasetFiles + "custom_small.jsonl"}
		}
		benchtop(args...).expect(t, session.ExitFailed, path, "503", "the server is busy; try again later")
	}
}

func TestServerOfAnotherTextMakesNoPrompts(t *testing.T) {
	server := recorded(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/detokenize" {
			w.Write([]byte(`{"prompt":"<unk>"}`))
		}
		return r.URL.Path == "/detokenize"
	})
	benchtop("dataset", "--base-url", server.url, "--backend", "openai-chat", "--num-prompts", "2").expect(t,
		session.ExitUsage,
		`"ready?" comes back as "<unk>"`, "--tokenizer DIRECTORY")
}
