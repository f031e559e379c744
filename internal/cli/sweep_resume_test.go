package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An experiment is continued by name, as with vLLM's first sweeps, or with --experiment-name.
func TestSweepResume(t *testing.T) {
	t.Parallel()
	url, dir := simulated(t, nil), t.TempDir()
	args := []string{"sweep", "serve", "--no-tui", "--bench-cmd", "vllm bench serve --base-url " + url + " --num-prompts 2 --random-input-len 5 --random-output-len 2", "--num-runs", "1", "-o", dir}
	benchtop(append(args, "-e", "20251214_101500")...).expect(t, exitFine, "1 runs measured")
	for _, resume := range [][]string{{"--resume", "20251214_101500"}, {"--resume=20251214_101500"}, {"--resume", "-e", "20251214_101500"}, {"--resume=true", "-e", "20251214_101500"}} {
		benchtop(append(args, resume...)...).expect(t, exitFine, "0 runs measured, 1 found")
	}
	benchtop(append(args, "--resume")...).expect(t, exitUsage, "--resume: name the experiment to continue, as --resume NAME or with --experiment-name")
	benchtop(append(args, "--resume", "none")...).expect(t, exitUsage, filepath.Join(dir, "none"))
	benchtop(append(args, "--resume", "a", "b")...).expect(t, exitUsage, `takes no arguments, got ["a" "b"]`)
	benchtop(append(args, "--resume", "../x")...).expect(t, exitUsage, "--experiment-name ../x: expected the name of a directory")
	benchtop(append(args, "x")...).expect(t, exitUsage, `takes no arguments, got ["x"]`)
}

// --no-tui may stand wherever something is measured.
func TestNoScreenToLeaveOut(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"startup"}, {"sweep", "startup"}, {"latency"}, {"throughput"}} {
		r := benchtop(append(args, "--no-tui", "--base-url", "x://")...)
		if r.expect(t, exitUsage); strings.Contains(r.stderr, "no-tui") {
			t.Errorf("%v: %s", args, r.stderr)
		}
	}
	if _, err := os.Stat("results"); err == nil {
		t.Error("a directory was made")
	}
}
