package cli

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/datasets/tokenizer"
	"benchtop/internal/cli/server"
	"benchtop/loadgen/target"
)

// silentServer takes requests and never answers.
type silentServer struct{}

func (silentServer) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// A server that does not answer is not waited for for ever: not long while it is tried, and longer for the tokens of a text.
func TestSilentServerIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to, err := target.New(target.Options{BaseURL: "http://silent.test"})
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Transport: silentServer{}}
		o := &promptOptions{tokens: tokenizerOptions{name: estimate}}
		m, began := (*means)(nil), time.Now()
		if m, err = o.findMeans(t.Context(), seeker{target: to, client: client, server: true}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); m.server != nil || took != server.AskTimeout {
			t.Errorf("tried for %s, server %v", took, m.server)
		}
		began = time.Now()
		s := tokenizer.NewServer(impatient(client), "http://silent.test", "m")
		if _, err := s.EncodeContext(context.Background(), "a text"); err == nil || !strings.Contains(err.Error(), "no answer in time") {
			t.Errorf("got error %v", err)
		}
		if took := time.Since(began); took != answerTimeout {
			t.Errorf("waited for %s", took)
		}
		if client.Timeout != 0 {
			t.Error("the client of all others has a limit now")
		}
	})
}

// A server that is busy did not make the command line wrong, whatever it was asked for.
func TestBusyServerIsNoWrongUsage(t *testing.T) {
	for _, path := range []string{"/apply-template", "/detokenize"} {
		server := recorded(t, func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == path {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			return r.URL.Path == path
		})
		args := []string{"dataset", "--base-url", server.url, "--backend", "openai-chat", "--num-prompts", "2"}
		if path == "/apply-template" {
			args = []string{"dataset", "--base-url", server.url, "--dataset-name", "custom", "--dataset-path", datasetFiles + "custom_small.jsonl"}
		}
		run(args...).expect(t, exitFailed, path, "503", "the server is busy; try again later")
	}
}

func TestServerOfAnotherTextMakesNoPrompts(t *testing.T) {
	server := recorded(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/detokenize" {
			w.Write([]byte(`{"prompt":"<unk>"}`))
		}
		return r.URL.Path == "/detokenize"
	})
	run("dataset", "--base-url", server.url, "--backend", "openai-chat", "--num-prompts", "2").expect(t, exitUsage,
		`"ready?" comes back as "<unk>"`, "--tokenizer DIRECTORY")
}
