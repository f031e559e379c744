package cli

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// A model that the server does not list is told before the load, which decides: such a server may answer to any name.
// Nothing but the load asks for answers.
func TestModelsAreCheckedBeforeTheLoad(t *testing.T) {
	const list = `{"data": [{"id": "tiny", "root": "/models/none", "max_model_len": 4096, "owned_by": "vllm"}, ` +
		`{"id": ` +
		`"sql", "parent": "tiny"}]}`
	quick := []string{"--num-prompts", "1", "--vocab-size", "300", "--random-input-len", "5", "--random-output-len",
		"2"}
	for _, c := range []struct {
		name, args string
		status     int // of requests for other models; 200 for any
		list       string
		code       int
		want       string
	}{
		{"not there", "--model tinny", 404, list, session.ExitFailed,
			"benchtop: WARNING: --model tinny: the server does not list this model; it lists tiny, sql (did you mean " +
				"tiny?)\n"},
		{"there", "--model tiny", 404, list, session.ExitFine, ""},
		{"a served name", "--model tiny --served-model-name x", 400, list, session.ExitFailed,
			"--served-model-name x: "},
		{"modules", "--model tiny --lora-modules poems poems", 404, list, session.ExitFailed, "--lora-modules poems: "},
		{"modules that are there", "--model base --lora-modules sql", 404, list, session.ExitFine, ""},
		{"any name will do", "--model x", 200, list, session.ExitFine,
			"benchtop: WARNING: --model x: the server does not list this model; it lists tiny, sql\n"},
		{"no list", "--model x", 404, "", session.ExitFailed, ""},
		{"the model of the body", "--model x --extra-body.model tiny", 404, list, session.ExitFine, ""},
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
				case r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/completions") ||
					c.status == http.StatusOK:
					return false
				}
				calls := server.all()
				if name := calls[len(calls)-1].fields["model"]; name == "tiny" || name == "sql" {
					return false
				}
				http.Error(w, "no such model", c.status)
				return true
			})
			r := benchtop(append(append([]string{"serve", "--base-url", server.url}, strings.Fields(c.args)...),
				quick...)...)
			r.expect(t, c.code)
			if !strings.Contains(r.stderr, c.want) || c.want == "" && strings.Contains(r.stderr, "does not list") {
				t.Errorf("got %q, want %q", r.stderr, c.want)
			}
			if got := len(server.all()); got != 1 {
				t.Errorf("%d requests, want that of the load alone", got)
			}
		})
	}
}

// Nothing that can generate is sent before the load but what was asked for, also to a server that says of a GET that it
// has no such path, and without a list of models.
func TestNothingIsGeneratedBeforeTheLoad(t *testing.T) {
	t.Parallel()
	const words = "--dataset-name random --random-input-len 5 --random-output-len 2 --vocab-size 300 --num-prompts 3"
	for args, want := range map[string]int{
		"serve --model m " + words: 3,
		"serve --model m --backend openai-chat --dataset-name random-mm --random-input-len 5 --random-output-len 2 " +
			"--num-prompts 2": 2,
		"serve --model m --priorities 0=1,5=1 " + words:                                                3,
		"serve --model m --num-warmups 2 " + words:                                                     5,
		"serve --model m --ready-check-timeout-sec 5 " + words:                                         4,
		"throughput --model m " + words:                                                                3,
		"latency --model m --batch-size 2 --num-iters-warmup 1 --num-iters 2 --output-len 2 --profile": 2,
	} {
		server := recorded(t, func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodGet {
				http.NotFound(w, r)
			}
			return r.Method == http.MethodGet
		})
		benchtop(append(strings.Fields(args), "--base-url", server.url)...)
		assert.Equal(t, len(server.all()), want, "%s: requests", args)
	}
}
