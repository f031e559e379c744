package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// Flags set the body of a request, byte for byte as vLLM's client would.
func TestBodies(t *testing.T) {
	prompts := filepath.Join(t.TempDir(), "s.json")
	assert.Fine(t, os.WriteFile(prompts,
		[]byte(`[{"conversations": [{"from": "human", "value": "Why is the sea \u2013 blue?"}, {"from": "gpt", `+
			`"value": "It is not, it only seems so."}]}]`), 0o644))
	for _, c := range []struct{ name, args, want string }{
		{"plain", "", `{"model": "M", "prompt": "Why is the sea \u2013 blue?", "repetition_penalty": 1.0, ` +
			`"max_tokens": 7, "logprobs": null, "stream": true, "stream_options": {"include_usage": true}}`},
		{"chat", "--backend openai-chat",
			`{"model": "M", "messages": [{"role": "user", "content": [{"type": "text", "text": "Why is the sea ` +
				`\u2013 ` +
				`blue?"}]}], "max_completion_tokens": 7, "stream": true, "stream_options": {"include_usage": true}}`},
		{"sampling", "--temperature 0 --top-p 0.9 --top-k 40 --min-p 1e-05 --frequency-penalty -1 --presence-penalty " +
			"2 --repetition-penalty 1.1 --logprobs 3 --ignore-eos",
			`{"model": "M", "prompt": "Why is the sea \u2013 blue?", "repetition_penalty": 1.1, "max_tokens": 7, ` +
				`"logprobs": 3, "stream": true, "stream_options": {"include_usage": true}, "ignore_eos": true, ` +
				`"top_p": 0.9, "top_k": 40, "min_p": 1e-05, "temperature": 0.0, "frequency_penalty": -1.0, ` +
				`"presence_penalty": 2.0}`},
		{"extra body wins",
			`--temperature 0.5 --extra-body {"temperature":1,"stop":["x"],"model":"Z"} --extra-body.a.b 3`,
			`{"model": "Z", "prompt": "Why is the sea \u2013 blue?", "repetition_penalty": 1.0, "max_tokens": 7, ` +
				`"logprobs": null, "stream": true, "stream_options": {"include_usage": true}, "temperature": 1, ` +
				`"stop": ["x"], "a": {"b": 3}}`},
		{"usage in every event", "--continuous-usage",
			`{"model": "M", "prompt": "Why is the sea \u2013 blue?", "repetition_penalty": 1.0, "max_tokens": 7, ` +
				`"logprobs": null, "stream": true, "stream_options": {"include_usage": true, ` +
				`"continuous_usage_stats": true}}`},
		{"usage in every event of chat", "--backend openai-chat --continuous-usage",
			`{"model": "M", "messages": [{"role": "user", "content": [{"type": "text", "text": "Why is the sea ` +
				`\u2013 ` +
				`blue?"}]}], "max_completion_tokens": 7, "stream": true, "stream_options": {"include_usage": true, ` +
				`"continuous_usage_stats": true}}`},
		{"served name", "--served-model-name N",
			`{"model": "N", "prompt": "Why is the sea \u2013 blue?", "repetition_penalty": 1.0, "max_tokens": 7, ` +
				`"logprobs": null, "stream": true, "stream_options": {"include_usage": true}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := recorded(t, nil)
			benchtop(append([]string{"serve", "--base-url", server.url, "--model", "M", "--dataset-name", "sharegpt",
				"--dataset-path", prompts, "--num-prompts", "1", "--output-len", "7"},
				strings.Fields(c.args)...)...).expect(t, session.ExitFine,
				"Successful requests:                     1 ")
			// a name that is not listed is tried before
			if all := server.all(); len(all) == 0 || all[len(all)-1].body != c.want {
				t.Errorf("got  %v\nwant %s", all, c.want)
			}
		})
	}
}

// The flag's order of modules is vLLM's for the same seed.
func TestLoRA(t *testing.T) {
	t.Parallel()
	for assignment, want := range map[string]string{"random": "b b a b c b b b b b c a",
		"round-robin": "a b c a b c a b c a b c"} {
		// The load is kept waiting until the second probe comes, and the first one is answered.
		var others atomic.Int64
		answered, probed := make(chan struct{}), make(chan struct{})
		server := recorded(t, func(w http.ResponseWriter, r *http.Request) bool {
			switch {
			case r.URL.Path == "/v1/models":
				io.WriteString(w, `{"data": [{"id": "base"}, {"id": "a"}, {"id": "b"}, {"id": "c"}]}`)
				return true
			case r.URL.Path != "/v1/completions" || r.Method != http.MethodPost:
			case r.Header.Get("X-Request-Id") != "":
				select {
				case <-probed:
				case <-r.Context().Done():
				}
			default:
				switch others.Add(1) {
				case 2 + 1:
					context.AfterFunc(r.Context(), func() { close(answered) })
				case 2 + 2:
					<-answered
					close(probed)
				}
			}
			return false
		})
		dir := t.TempDir()
		benchtop("serve", "--base-url", server.url, "--model", "base", "--num-prompts", "12", "--random-input-len", "5",
			"--random-output-len", "2",
			"--lora-modules", "a", "b", "c", "--lora-assignment", assignment, "--num-warmups", "2",
			"--probe-request-rate", "50",
			"--save-result", "--result-dir", dir).expect(t, session.ExitFine)
		got := map[string]int{}
		var inOrder []string
		for _, a := range server.all() {
			if a.header.Get("X-Request-Id") == "" {
				got[a.fields["model"].(string)]++ // warm-ups and probes
			}
		}
		for _, m := range server.field("model") {
			inOrder = append(inOrder, m.(string))
		}
		if n := len(inOrder); n < 12 || strings.Join(inOrder[n-12:], " ") != want {
			t.Errorf("%s: %v, want %s", assignment, inOrder, want)
		}
		if keys := slices.Collect(maps.Keys(got)); len(keys) != 1 || keys[0] != "base" {
			t.Errorf("%s: warm-ups and probes asked for %v, want the base model", assignment, got)
		}
		if v := resultIn(t, dir); v["probe_completed"] == nil || v["probe_completed"].(float64) < 1 ||
			v["completed"] != 12. {
			t.Errorf("probes %v, completed %v", v["probe_completed"], v["completed"])
		}
	}
}

// Headers reach every request of either kind, a user's own win, and their values are shown nowhere.
func TestHeaders(t *testing.T) {
	const canary = "c4n4ry"
	t.Setenv("OPENAI_API_KEY", "from-the-environment")
	server := recorded(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/v1/models" {
			fmt.Fprintf(w, `{"data": [{"id": "m"}]}`)
			return true
		}
		if strings.HasSuffix(r.Header.Get("X-Request-Id"), "-1") {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, "no entry for %s", r.Header.Get("X-Key"))
			return true
		}
		return false
	})
	dir := t.TempDir()
	r := benchtop("serve", "--base-url", server.url, "--num-prompts", "3", "--random-input-len", "5",
		"--random-output-len", "2",
		"--header", "X-Key="+canary, " Authorization = Basic "+canary, "--header=X-Late="+canary, "--header",
		"X-Key= "+canary+"2", "Authorization=Basic "+canary,
		"X-Request-Id=mine", "--request-id-prefix", "r-", "--metadata", "team = blue", "tp=1", "--save-result",
		"--save-detailed", "--result-dir", dir, "--plot-timeline", "--plot-dataset-stats", "--html")
	r.expect(t, session.ExitFine, "WARNING", "--header", "no entry for ***")
	for _, a := range server.all() {
		if h := a.header; h.Get("X-Key") != canary+"2" || h.Get("Authorization") != "Basic "+canary ||
			!strings.HasPrefix(h.Get("X-Request-Id"), "r-") || h.Get("X-Late") != "" {
			t.Errorf("headers %v", h)
		}
	}
	all := r.stdout + r.stderr
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files {
		data := assert.Must(os.ReadFile(f))(t)
		all += string(data)
		if strings.HasSuffix(f, ".gz") {
			all += benchtop("report", "--json", f).stdout
		}
	}
	if len(files) != 5 || strings.Contains(all, canary) {
		t.Errorf("%d files, canary at %.200s", len(files), all[max(0, strings.Index(all, canary)-100):])
	}
	v := resultIn(t, dir)
	if v["team"] != "blue" || v["tp"] != "1" {
		t.Errorf("metadata %v %v", v["team"], v["tp"])
	}
	command, _ := json.Marshal(v["benchtop"].(map[string]any)["command"])
	assert.Has(t, string(command), "X-Key=***")
}

// Flags without effect are accepted, with a note.
func TestInertFlags(t *testing.T) {
	server := recorded(t, nil)
	dir := t.TempDir()
	benchtop("serve", "--base-url", server.url, "--num-prompts", "1", "--random-input-len", "5", "--random-output-len",
		"2", "--tokenizer-mode", "hf",
		"--trust-remote-code", "--use-beam-search", "--disable-tqdm",
		"--save-result", "--result-dir", dir).expect(t, session.ExitFine)
	events, _ := json.Marshal(resultIn(t, dir)["benchtop"].(map[string]any)["events"])
	for _, name := range []string{"tokenizer-mode", "trust-remote-code", "use-beam-search", "disable-tqdm"} {
		if !strings.Contains(string(events), "--"+name+" has no effect: ") {
			t.Errorf("nothing says that --%s has no effect: %s", name, events)
		}
	}
}

// Secrets in a body are sent, and are neither in the result nor in the journal, whatever the server answers.
func TestSecretsOfBodies(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(session.PytorchVariable, "1")
	server := recorded(t, func(w http.ResponseWriter, r *http.Request) bool {
		refuses := strings.HasSuffix(r.URL.Path, "/completions")
		if refuses {
			w.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(w, "not with canary-one or canary-two")
		}
		return refuses
	})
	r := benchtop(
		append(strings.Fields(
			"serve --num-prompts 2 --save-result --result-filename r.json --extra-body.auth.password canary-two "+
				"--metadata api_key=canary-three --base-url "+server.url+" "+shortPrompts),
			"--extra-body", `{"api_key": "canary-one", "top_k": 5}`)...)
	r.expect(t, session.ExitFailed, "not with *** or ***")
	asked := server.all()
	if len(asked) != 2 || !strings.Contains(asked[0].body, `"canary-one"`) ||
		!strings.Contains(asked[0].body, `"canary-two"`) {
		t.Fatalf("asked %+v", asked)
	}
	assert.Lacks(t, r.stdout+r.stderr, "canary")
	journal := benchtop("report", "--json", "r.jsonl.gz").stdout
	for _, name := range []string{"r.json", "r.pytorch.json"} {
		raw, err := os.ReadFile(name)
		if err != nil || strings.Contains(string(raw)+journal, "canary") {
			t.Errorf("%s: %v, or it has a secret", name, err)
		}
	}
	if !strings.Contains(journal, "top_k") {
		t.Error("what is no secret is hidden")
	}
}
