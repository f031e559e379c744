package cli

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// A model that the server does not have is wrong usage, reported before the load with the models that it has. A server that answers
// to any name is loaded, and one without a list is not asked.
func TestModelsAreCheckedBeforeTheLoad(t *testing.T) {
	const list = `{"data": [{"id": "tiny", "root": "/models/none", "max_model_len": 4096, "owned_by": "vllm"}, {"id": "sql", "parent": "tiny"}]}`
	quick := []string{"--num-prompts", "1", "--vocab-size", "300", "--random-input-len", "5", "--random-output-len", "2"}
	for _, c := range []struct {
		name, args string
		status     int // of requests for other models; 200 for any
		list       string
		code       int
		want       string
		asked      int // requests in all
	}{
		{"not there", "--model tinny", 404, list, exitUsage, `benchtop: --model tinny: the server does not list this model and rejects requests for it: status 404: no such model; choose a listed one: tiny, sql (did you mean tiny?)` + "\n", 1},
		{"there", "--model tiny", 404, list, exitFine, "", 1},
		{"a served name", "--model tiny --served-model-name x", 400, list, exitUsage, `--served-model-name x: `, 1},
		{"modules", "--model tiny --lora-modules sql poems poems", 404, list, exitUsage, "--lora-modules poems: ", 1},
		{"modules that are there", "--model base --lora-modules sql", 404, list, exitFine, "", 1},
		{"any name will do", "--model x", 200, list, exitFine, "benchtop: WARNING: --model x: the server does not list this model, but accepts requests for it\n", 2},
		{"busy", "--model x", 503, list, exitFailed, "benchtop: WARNING: --model x: the server does not list this model, and a request for it failed (status 503: no such model)\n", 2},
		{"fields that the server does not know", "--model x", 422, list, exitFailed, "", 2},
		{"no list", "--model x", 404, "", exitFailed, "", 1},
		{"the model of the body", "--model x --extra-body.model tiny", 404, list, exitFine, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var server *recording
			server = recorded(t, func(w http.ResponseWriter, r *http.Request) bool {
				switch {
				case r.URL.Path == "/v1/models" && c.list != "":
					io.WriteString(w, c.list)
					return true
				case r.URL.Path == "/v1/models":
					http.Error(w, "Internal Server Error", http.StatusInternalServerError)
					return true
				case r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/completions") || c.status == http.StatusOK:
					return false
				}
				calls := server.all()
				if name := calls[len(calls)-1].fields["model"]; name == "tiny" || name == "sql" {
					return false
				}
				words := "no such model"
				if c.status == http.StatusUnprocessableEntity {
					words = "unknown field ignore_eos" // for any model
				}
				http.Error(w, words, c.status)
				return true
			})
			r := benchtop(append(append([]string{"serve", "--base-url", server.url}, strings.Fields(c.args)...), quick...)...)
			r.expect(t, c.code)
			if !strings.Contains(r.stderr, c.want) || c.want == "" && strings.Contains(r.stderr, "does not list") {
				t.Errorf("got %q, want %q", r.stderr, c.want)
			}
			if got := len(server.all()); got != c.asked {
				t.Errorf("%d requests, want %d", got, c.asked)
			}
		})
	}
}
