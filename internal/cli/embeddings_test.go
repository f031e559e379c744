package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
	"benchtop/metrics"
)

// A run against embeddings has vLLM's report and keys, says which flags mean nothing there, and its journal gives the
// same again.
func TestEmbeddings(t *testing.T) {
	dir := t.TempDir()
	url := simulated(t, nil)
	args := []string{"serve", "--base-url", url, "--backend", "openai-embeddings", "--num-prompts", "12",
		"--random-input-len", "9", "--random-batch-size", "3",
		"--vocab-size", "300", "--max-concurrency", "2", "--num-warmups", "2", "--ready-check-timeout-sec", "5",
		"--goodput", "e2el:60000",
		"--temperature", "0", "--logprobs", "2", "--save-result", "--save-detailed", "--result-dir", dir,
		"--result-filename", "r.json"}
	r := benchtop(args...)
	r.expect(t, session.ExitFine, "Total input tokens:                      108", "Input throughput (inputs/s):",
		"Request goodput (req/s):", "Total token throughput (tok/s):",
		"Mean E2EL (ms):")
	if words := "9 input tokens, as token ids"; !strings.Contains(r.stderr, words) ||
		strings.Contains(r.stderr, "output tokens") {
		t.Errorf("%q is missing in\n%s", words, r.stderr)
	}
	figures := func(text string) string { return text[strings.Index(text, "===="):strings.Index(text, "----Server")] }
	for _, word := range []string{"TTFT", "TPOT", "ITL", "generated tokens", "Peak", "NaN"} {
		if strings.Contains(figures(r.stdout), word) {
			t.Errorf("the report speaks of %s:\n%s", word, r.stdout)
		}
	}
	data := assert.Must(os.ReadFile(filepath.Join(dir, "r.json")))(t)
	var result struct {
		Completed int
		Sequences int   `json:"total_input_sequences"`
		Tokens    int   `json:"total_input_tokens"`
		Lengths   []int `json:"input_lens"`
	}
	if err := json.Unmarshal(data, &result); err != nil || result.Completed != 4 || result.Sequences != 12 ||
		result.Tokens != 108 || !slices.Equal(result.Lengths, []int{27, 27, 27, 27}) {
		t.Errorf("%v: %+v", err, result)
	}
	journal := string(unpacked(t, filepath.Join(dir, "r.jsonl.gz")))
	assert.Has(t, journal, "--temperature has no effect: backend openai-embeddings generates no tokens",
		"--logprobs has no effect")
	again := benchtop("report", filepath.Join(dir, "r.jsonl.gz"))
	again.expect(t, session.ExitFine)
	if figures(again.stdout) != figures(r.stdout) {
		t.Errorf("the journal gives\n%s\nthe run gave\n%s", again.stdout, r.stdout)
	}
}

func TestProgressOfEmbeddings(t *testing.T) {
	s := metrics.Snapshot{Plan: &metrics.Plan{Pooling: true}, Windows: []*metrics.Window{{}, {}}, OutputExact: true}
	s.Windows[0].TokensIn = 300
	s.Windows[0].Histograms[metrics.E2EL].Add(20e6)
	if got := session.ProgressLine(&s); !strings.Contains(got, "300 tok/s  p99 E2EL 20.1 ms") ||
		strings.Contains(got, "TTFT") {
		t.Error(got)
	}
}
