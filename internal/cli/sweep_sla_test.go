package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
	"benchtop/internal/sweep"
)

// A search in the directory of a new experiment ends with the answer of each set, and is resumed without a run.
func TestSweepSLA(t *testing.T) {
	t.Parallel()
	url, dir := simulated(t, nil), t.TempDir()
	file := filepath.Join(dir, "sla.json")
	assert.Fine(t, os.WriteFile(file, []byte(`[{"p99_ttft_ms": "<=60000", "request_throughput": ">=1e9"}]`), 0o666))
	args := []string{"sweep", "serve-sla", "-o", dir, "-e", "x", "--sla-variable", "max_concurrency", "--sla-from", "2",
		"--sla-most", "4", "--num-runs", "1",
		"--tier", "gold=ttft:60000", "--tier", "none=ttft:0.001", "--sla-params", file, "--bench-cmd",
		"vllm bench serve --base-url " + url + " --skip-tokenizer-init --random-input-len 8 --random-output-len 4 " +
			"--num-prompts 20"}
	r := benchtop(args...)
	r.expect(t, session.ExitFine, "SLA criteria: ttft:60000",
		"Maximum max_concurrency for SLA gold: at least 4 users (", "Maximum max_concurrency for SLA none: none; ",
		"request_throughput>=1000000000.00 is not met", "Experiment has been saved at: "+filepath.Join(dir, "x"))
	for _, name := range []string{"sla.json", "SLA--gold.json", "max_concurrency=4/run=0.json",
		"max_concurrency=4/summary.json", "summary.csv"} {
		if _, err := os.Stat(filepath.Join(dir, "x", name)); err != nil {
			t.Error(err)
		}
	}
	again := benchtop(append(args, "--resume")...)
	again.expect(t, session.ExitFine, "for SLA gold: at least 4 users (", "0 runs measured")
	dry := benchtop(append(args, "--dry-run", "-e", "y")...)
	dry.expect(t, session.ExitFine, "--max-concurrency', '2'", "Omitting SLA search.")
	if _, err := os.Stat(filepath.Join(dir, "y")); err == nil {
		t.Error("a dry run left a directory")
	}
}

// Repeated runs have seeds of their own, counted from that of the command.
func TestSweepSLASeeds(t *testing.T) {
	t.Parallel()
	o := newSLAOptions()
	o.client = []string{"--seed=7", "--model", "m"}
	for number, want := range []string{"--seed=7 --model m", "--seed 8 --model m", "--seed 9 --model m"} {
		if got := strings.Join(o.benchArgs(sweep.Run{Number: number}), " "); !strings.HasPrefix(got,
			want+" --percentile-metrics") {
			t.Errorf("run %d: %s", number, got)
		}
	}
}

// Wrong objectives are refused before any run, all at once.
func TestSweepSLARefused(t *testing.T) {
	t.Parallel()
	params := filepath.Join(t.TempDir(), "bench.json")
	assert.Fine(t, os.WriteFile(params, []byte(`[{"max-concurrency": 3}]`), 0o666))
	for args, words := range map[string][]string{
		"": {"--sla-params or --tier is missing"},
		"--tier a=ttft:3 --tier a=ttft:4 --sla-variable speed --sla-iters -1 --sla-from 9 --sla-most 3": {
			"tier a is given twice", "--sla-variable speed: use request_rate or max_concurrency", "--sla-iters -1",
			"--sla-from 9: must be from 0"},
		"--tier a=ttft:3 --sla-variable max_concurrency --bench-params " + params: {
			"max_concurrency is what the search sets"},
		"--tier a=ttft:3 --sla-variable max_concurrency --sla-from 1.5": {"users are whole numbers"},
		"--sla-params nowhere.json":                                     {"--sla-params: open nowhere.json"},
		"--tier a=ttft:3 --sla-params sweep_sla_test.go":                {"sweep_sla_test.go: line 1: invalid JSON"},
	} {
		benchtop(append([]string{"sweep", "serve_sla", "--bench-cmd", "vllm bench serve --base-url http://127.0.0.1:1"},
			strings.Fields(args)...)...).expect(t, session.ExitUsage, words...)
	}
}
