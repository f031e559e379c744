package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/session"
)

// gateway is a server that takes prompts of text alone and tokenizes nothing. Engines name themselves as owners,
// LiteLLM says openai.
func gateway(t *testing.T, owner string) *recording {
	return recorded(t, func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/v1/models":
			fmt.Fprintf(w, `{"data": [{"id": "m", "owned_by": %q}]}`, owner)
		case "/tokenize", "/detokenize", "/apply-template":
			http.NotFound(w, r)
		case "/v1/completions":
			body, _ := io.ReadAll(r.Body)
			var asked struct{ Prompt any }
			_ = json.Unmarshal(body, &asked)
			r.Body = io.NopCloser(bytes.NewReader(body))
			if _, text := asked.Prompt.(string); text {
				return false
			}
			http.Error(w, `{"error":{"message":"Unmapped prompt format. Your prompt is neither a list of strings nor `+
				`a string. prompt=[1, 2]","code":"500"}}`, 500)
		default:
			return false
		}
		return true
	})
}

// Behind a gateway an address is enough for random prompts, with all protocols of text. They are words, and have the
// length asked for once the first answers have told the tokens of words.
func TestRandomBehindGateway(t *testing.T) {
	t.Parallel()
	for _, backend := range []string{"openai", "openai-chat", "openai-responses", "anthropic-messages"} {
		for _, calibrated := range []bool{false, true} {
			server := gateway(t, "openai")
			dir := t.TempDir()
			args := []string{"serve", "--base-url", server.url, "--backend", backend, "--model", "m", "--num-prompts",
				"20", "--max-concurrency", "2", "--random-input-len", "300",
				"--random-output-len", "2", "--save-result", "--save-detailed", "--result-dir", dir,
				"--result-filename", "r.json"}
			if calibrated {
				args = append(args, "--calibrate-lengths")
			}
			ran := benchtop(args...)
			ran.expect(t, session.ExitFine,
				"as text of common words, whose tokens are learned from usage, lengths estimated",
				"prompt lengths are estimated, because there is no tokenizer: ", "of the server: it has no /tokenize")
			const differ = "the first prompts differ in length; --calibrate-lengths sends a request for that beforehand"
			if strings.Contains(ran.stderr, differ) == calibrated {
				t.Errorf("calibrated %t: %s", calibrated, ran.stderr)
			}
			result := resultIn(t, dir)
			inputs := result["input_lens"].([]any)
			if result["completed"] != 20.0 || len(inputs) != 20 {
				t.Fatalf("%s: %v completed, inputs %v", backend, result["completed"], inputs)
			}
			from := 4
			if calibrated {
				from = 0
			}
			for i, n := range inputs[from:] {
				if off := n.(float64)/300 - 1; math.Abs(off) > 0.02 {
					t.Errorf("%s, calibrated %v: prompt %d has %v tokens, asked for 300", backend, calibrated, from+i,
						n)
				}
			}
			if about := fmt.Sprint(result["benchtop"].(map[string]any)["dataset"]); !strings.Contains(about,
				"common words") {
				t.Errorf("%s: data set %q", backend, about)
			}
		}
	}
}

// Engines keep getting token ids, and so does a gateway where they are asked for; where they are refused, the error
// says what to do.
func TestTokenIDsStay(t *testing.T) {
	t.Parallel()
	args := []string{"--model", "m", "--num-prompts", "2", "--random-input-len", "20", "--random-output-len", "2"}
	for owner, more := range map[string]string{"vllm": "", "": "", "tensorrt_llm": "", "openai": "--prompt-token-ids",
		"openai ": "--vocab-size=5000"} {
		server := gateway(t, strings.TrimSpace(owner))
		all := append([]string{"serve", "--base-url", server.url}, args...)
		if more != "" {
			all = append(all, more)
		}
		benchtop(all...).expect(t, session.ExitFailed, "as token ids",
			"no request succeeded; the server takes no prompts of token ids: --calibrate-lengths sends words, "+
				"--tokenizer makes text")
	}
	benchtop(append([]string{"serve", "--base-url", gateway(t, "").url, "--calibrate-lengths"}, args...)...).expect(t,
		session.ExitFine, "as text of common words")
}

// Without a server, too, prompts that only texts can hold are words.
func TestWordsWithoutServer(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--dataset-name random-mm": "there is no tokenizer: neither a tokenizer nor a model is " +
			"named",
		"--backend openai-chat --vocab-size 50":       "--vocab-size has no effect: chat takes text",
		"--skip-tokenizer-init --backend openai-chat": "there is no tokenizer: --skip-tokenizer-init is given",
	} {
		r := benchtop(append([]string{"dataset", "--num-prompts", "2"}, strings.Fields(args)...)...)
		r.expect(t, session.ExitFine, "lengths estimated", want)
	}
}

// The plan has the model's context, as the server says it.
func TestPlanHasContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	benchtop("serve", "--base-url", recorded(t, nil).url, "--vocab-size", "500", "--num-prompts", "1",
		"--random-input-len", "9", "--random-output-len", "2", "--save-result", "--result-dir", dir,
		"--result-filename", "r.json").expect(t, session.ExitFine)
	if plan, _, _ := strings.Cut(string(unzipped(t, filepath.Join(dir, "r.jsonl.gz"))), "\n"); !strings.Contains(plan,
		`"context":32768`) {
		t.Errorf("%.2000s", plan)
	}
}
