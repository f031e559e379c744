package cli

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
	"benchtop/internal/simulator"
)

// resultOf reads the result of a run.
func resultOf(t *testing.T, path string) (r struct {
	Benchtop struct {
		Server struct {
			HitRate *float64 `json:"prefix_cache_hit_rate"`
		}
		Classes []struct {
			Class     string
			Completed int
		}
	}
	Completed int
}) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	assert.Fine(t, err)
	return r
}

// The preset's run finds what was sent before, its control finds nothing, and a table compares them.
func TestPrefixCaching(t *testing.T) {
	t.Parallel()
	url, dir := simulated(t, nil), t.TempDir()
	// Each prompt is computed before its next occurrence begins, so 4 of 5 hit: 16 blocks of 16 tokens each, of 256 and
	// the salt's 4.
	args := []string{"serve", "--base-url", url, "--preset", "prefix-caching", "--random-isl-dist", "256",
		"--prompt-token-ids", "--repeat-mode", "tile",
		"--max-concurrency", "20", "--result-dir", dir, "--save-result", "--result-filename", "r.json"}
	benchtop(args...).expect(t, session.ExitFine, "run 1 of 2: prefix cache", "run 2 of 2: no prefix cache",
		"Against no prefix cache", "Prefix cache hit rate (%):                        0.00", "occurrence 5")
	with, without := resultOf(t, filepath.Join(dir, "r-prefix cache.json")),
		resultOf(t, filepath.Join(dir, "r-no prefix cache.json"))
	if with.Completed != 100 || len(with.Benchtop.Classes) != 5 || with.Benchtop.Classes[4].Completed != 20 {
		t.Errorf("%+v", with)
	}
	if got, want := *with.Benchtop.Server.HitRate, 0.8*256/260; math.Abs(got-want) > 0.005 {
		t.Errorf("hit rate %g, want %g", got, want)
	}
	assert.Equal(t, *without.Benchtop.Server.HitRate, 0, "hit rate of the control")
}

func TestLongDocumentQA(t *testing.T) {
	t.Parallel()
	url := simulated(t, nil)
	benchtop("serve", "--base-url", url, "--preset", "long-document-qa", "--document-length", "300",
		"--no-save").expect(t, session.ExitFine,
		"long_document_qa: 8 prompts of 300 words, 10 output tokens, each 2 times (random)", "occurrence 1     8",
		"occurrence 2     8")
}

// The report of agents says what the cap of the context left out, and which rules of the preset are not kept.
func TestAgentX(t *testing.T) {
	t.Parallel()
	r := benchtop("serve", "--base-url", simulated(t, nil), "--preset", "agentx", "--dataset-path",
		"testdata/examples/sessions.jsonl", "--max-active-conversations", "2", "--max-model-len", "850",
		"--num-prompts", "8", "--max-gap", "1ms", "--no-save")
	r.expect(t, session.ExitFine)
	assert.Has(t, r.stdout, "--max-model-len 850: 4 of 8 requests are left out",
		"Preset agentx: --max-gap changed, --num-prompts changed")
}

// The words of a server that does not heed priorities are the error, in the body and in a header.
func TestPrioritiesRefused(t *testing.T) {
	t.Parallel()
	url := simulated(t, nil)
	for _, more := range [][]string{nil, {"--priority-header", "X-Vllm-Priority"}} {
		benchtop(append([]string{"serve", "--base-url", url, "--priorities", "5=1", "--num-prompts", "5", "--no-save"},
			more...)...).
			expect(t, session.ExitFailed, "priority")
	}
	benchtop("serve", "--base-url", url, "--priorities", "0=1", "--num-prompts", "5", "--no-save").expect(t,
		session.ExitFine, "priority 0")
}

// Each form is answered rightly with its constraint and wrongly without, and the share of wrong answers is that of the
// server.
func TestStructuredOutput(t *testing.T) {
	t.Parallel()
	url, dir := simulated(t, nil), t.TempDir()
	for _, form := range []string{"json", "json-unique", "regex", "choice", "grammar"} {
		benchtop("serve", "--base-url", url, "--preset", "structured-output", "--structured-output-dataset", form,
			"--num-prompts", "4", "--output-len", "200", "--no-save").
			expect(t, session.ExitFine, "run 2 of 2: no constraint", "Correct answers: 4 of 4 (100.0 %)\n",
				"Correct answers: 0 of 4 (0.0 %)", "Against no constraint")
	}
	url = simulated(t,
		func(p *simulator.Profile) { p.Faults = []simulator.Fault{{Kind: simulator.FaultWrongAnswer, Every: 4}} })
	benchtop("serve", "--base-url", url, "--dataset-name", "structured_output", "--structured-output-dataset", "choice",
		"--num-prompts", "8", "--max-concurrency", "1",
		"--save-result", "--result-dir", dir, "--result-filename", "r.json").expect(t, session.ExitFine,
		"Correct answers: 6 of 8 (75.0 %)\n", "2 none of the choices, as request ")
	benchtop("report", filepath.Join(dir, "r.json")).expect(t, session.ExitFine, "Correct answers: 6 of 8 (75.0 %)\n")
}
