package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"benchtop/internal/session"
)

// A server that takes no unknown fields is loaded with what the error says, letter by letter.
func TestRefusedFields(t *testing.T) {
	picky := func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/v1/completions" {
			return false
		}
		var fields map[string]any
		_ = json.NewDecoder(r.Body).Decode(&fields)
		var unknown []string
		for name := range fields {
			if !slices.Contains([]string{"model", "prompt", "max_tokens", "stream", "stream_options", "logprobs",
				"seed"}, name) {
				unknown = append(unknown, fmt.Sprintf("'%s'", name))
			}
		}
		if unknown == nil {
			return false
		}
		slices.Sort(unknown)
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprintf(w, `{"detail":"Unexpected fields in the request: {%s}"}`, strings.Join(unknown, ", "))
		return true
	}
	const refused = `--extra-body '{"repetition_penalty":null,"ignore_eos":null}'`
	for _, c := range []struct {
		name  string
		more  []string
		code  int
		words []string
		calls int
	}{
		{"ready check", []string{"--ready-check-timeout-sec", "600"}, session.ExitFailed,
			[]string{"Unexpected fields", "add " + refused + "\n"}, 1},
		{"warm-up", []string{"--num-warmups", "1"}, session.ExitFailed,
			[]string{"1 of 1 warm-ups failed", "add " + refused + "\n"}, 4},
		{"run", nil, session.ExitFailed,
			[]string{"The server does not support repetition_penalty and ignore_eos.", "\n  " + refused + "\n"}, 3},
		{"beside a body of the user's own", []string{"--extra-body", `{"seed":1}`}, session.ExitFailed,
			[]string{"\n  --extra-body.repetition_penalty null --extra-body.ignore_eos null\n"}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := recorded(t, picky)
			args := append(strings.Fields(
				"serve --model sim-8b --num-prompts 3 "+shortPrompts+" --base-url "+server.url), c.more...)
			r := benchtop(args...)
			r.expect(t, c.code, c.words...)
			if n := len(server.all()); n != c.calls {
				t.Errorf("%d requests, want %d: what the server refuses for good is not asked again", n, c.calls)
			}
			advice := regexp.MustCompile(`--extra-body(?: '.*'|.* null)\n`).FindString(r.stdout + r.stderr)
			for _, word := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(advice, -1) {
				args = append(args, strings.Trim(word, "'"))
			}
			benchtop(args...).expect(t, session.ExitFine, "Successful requests:                     3 ")
		})
	}
}

// The words of a server that is starting are told when the time for it is over, not that the last try was cut.
func TestReadyCheckTellsTheServersWords(t *testing.T) {
	var asked atomic.Int64
	inVirtualTime(t, fast(), func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/v1/completions" || r.Method != http.MethodPost {
			return false
		}
		if asked.Add(1) > 1 {
			<-r.Context().Done()
			return true
		}
		http.Error(w, "still loading the weights", http.StatusServiceUnavailable)
		return true
	}, func(t *testing.T, server *virtual) {
		server.serve(t,
			strings.Fields("--model sim-8b --num-prompts 1 --ready-check-timeout-sec 600 "+shortPrompts)...).
			expect(t, session.ExitFailed, "was not ready within 10m0s: http_status: still loading the weights")
	})
}
