//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// Each combination has a directory with a record and its parameters, and a sweep that is resumed measures what is
// missing.
func TestSweepStartup(t *testing.T) {
	self := program(t)
	dir := t.TempDir()
	put := func(name, content string) string {
		path := filepath.Join(dir, name)
		assert.Fine(t, os.WriteFile(path, []byte(content), 0o644))
		return path
	}
	args := []string{
		"sweep", "startup", "--startup-cmd",
		"vllm bench startup --serve-cmd '" + self + " simulate --port " + unused(t) + "' --num-iters-cold 0 " +
			"--num-iters-warmup 0",
		"--serve-params", put("s.json", `{"a": {"seed": 1, "max_concurrency": 4}}`), "--startup-params",
		put("t.json", `[{"num_iters_warm": 1}]`),
		"--output-dir", dir, "--experiment-name", "x",
	}
	benchtop(append(args, "--strict-params")...).expect(t, session.ExitUsage,
		"--serve-params: unsupported startup params for a: max_concurrency")
	benchtop(append(args, "--dry-run")...).expect(t, session.ExitFine, "'--seed', '1']\n",
		"Startup overrides: {'num_iters_warm': 1}", "will be saved at")
	r := benchtop(args...)
	r.expect(t, session.ExitFine, "Ignoring unsupported startup params for a: max_concurrency",
		"[1/1] warm: ready after", "1 run measured", "Experiment has been saved at")
	table, err := os.ReadFile(filepath.Join(dir, "x", "summary.csv"))
	if want := ",avg_warm_startup_time,warm_startup_times,warm_startup_percentiles,run_number,_benchmark_name," +
		"seed,num_iters_warm\n0,"; err != nil || !strings.HasPrefix(string(table), want) {
		t.Errorf("error %v, table %s", err, table)
	}
	assert.Fine(t, assert.Failure(os.Stat(filepath.Join(dir, "x", "SERVE--a-STARTUP--num_iters_warm=1", "run=0.json"))))
	benchtop(append(args, "--resume")...).expect(t, session.ExitFine, "0 runs measured, 1 found")
	benchtop(args...).expect(t, session.ExitUsage, "cannot overwrite")
}

// Everything that is wrong is reported before a server starts.
func TestSweepStartupUsage(t *testing.T) {
	benchtop("sweep", "startup", "--startup-cmd", "python x", "--serve-params", "no.json", "--num-runs", "0",
		"--resume").expect(t, session.ExitUsage,
		"--startup-cmd: ", "write 'vllm bench startup --model M", "--serve-params: ",
		"--num-runs 0: must be from 1 to 1000", "--resume: name the experiment")
	benchtop("sweep", "startup").expect(t, session.ExitUsage, "--startup-cmd: no server: name a model with --model")
}

// The manifest has no key of a server.
func TestHideServer(t *testing.T) {
	for _, words := range [][]string{
		{"--num-iters-cold", "1", "--serve-cmd", "x --api-key canary --port 1"},
		{"--serve_cmd=x --api-key=canary --port 1"}, {"--model", "m", "--api-key", "canary"},
		{"--serve-cmd", "x --api-key 'canary' --port 1"},
	} {
		if got := hideServer(words); strings.Contains(got, "canary") || !strings.Contains(got, "--api-key") {
			t.Errorf("%q: %s", words, got)
		}
	}
}
