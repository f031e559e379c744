package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"benchtop/internal/session"
)

// An experiment is continued by name, as with vLLM's first sweeps, or with --experiment-name.
func TestSweepResume(t *testing.T) {
	t.Parallel()
	url, dir := simulated(t, nil), t.TempDir()
	args := []string{"sweep", "serve", "--no-tui", "--bench-cmd",
		"vllm bench serve --base-url " + url + " --num-prompts 2 --random-input-len 5 --random-output-len 2",
		"--num-runs", "1", "-o", dir}
	benchtop(append(args, "-e", "20251214_101500")...).expect(t, session.ExitFine, "1 run measured")
	for _, resume := range [][]string{{"--resume", "20251214_101500"}, {"--resume=20251214_101500"},
		{"--resume", "-e", "20251214_101500"}, {"--resume=true", "-e", "20251214_101500"}} {
		benchtop(append(args, resume...)...).expect(t, session.ExitFine, "0 runs measured, 1 found")
	}
	benchtop(append(args, "--resume")...).expect(t, session.ExitUsage,
		"--resume: name the experiment to continue, as --resume NAME or with --experiment-name")
	benchtop(append(args, "--resume", "none")...).expect(t, session.ExitUsage, filepath.Join(dir, "none"))
	benchtop(append(args, "--resume", "a", "b")...).expect(t, session.ExitUsage, `takes no arguments, got ["a" "b"]`)
	benchtop(append(args, "--resume", "../x")...).expect(t, session.ExitUsage,
		"--experiment-name ../x: expected the name of a directory")
	benchtop(append(args, "x")...).expect(t, session.ExitUsage, `takes no arguments, got ["x"]`)
}

// Secrets of a parameter file reach the server; they are neither shown nor saved, and their runs are found again.
func TestSweepSecrets(t *testing.T) {
	t.Parallel()
	const secret = "Bearer canary-in-file"
	var sent atomic.Int64
	server := recorded(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") == secret {
			sent.Add(1)
		}
		return false
	})
	dir := t.TempDir()
	params := filepath.Join(dir, "b.json")
	if err := os.WriteFile(params,
		[]byte(`[{"header": "Authorization=`+secret+`", "extra_body": "{\"api_key\":\"canary-in-body\"}", "metadata": `+
			`"password=canary"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, kind := range [][]string{{"serve", "1 run"},
		{"serve_workload", "2 runs", "--workload-iters", "2", "--workload-var",
			"max_concurrency"}} {
		args := append([]string{"sweep", kind[0], "--no-tui", "--bench-params", params, "--num-runs", "1", "-o", dir,
			"-e", kind[0],
			"--bench-cmd", "vllm bench serve --base-url " + server.url +
				" --num-prompts 2 --random-input-len 5 --random-output-len 2"}, kind[2:]...)
		first, again := benchtop(args...), benchtop(append(args, "--resume")...)
		first.expect(t, session.ExitFine, kind[1]+" measured", "header=Authorization=***")
		again.expect(t, session.ExitFine, "0 runs measured, "+kind[1][:1]+" found")
		all := first.stdout + first.stderr + again.stdout + again.stderr
		err := filepath.WalkDir(filepath.Join(dir, kind[0]), func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				content, _ := os.ReadFile(path)
				all += string(content)
			}
			all += path
			return err
		})
		if err != nil || sent.Load() == 0 || strings.Contains(all, "canary") {
			t.Errorf("%s: %v, %d requests with the secret; shown or saved: %v", kind[0], err, sent.Swap(0),
				strings.Contains(all, "canary"))
		}
	}
}

// Errors repeat no secret of a value that they refuse.
func TestErrorsWithoutSecrets(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--extra-body", "{'api_key':'canary'}"}, {"--host", "u:canary@127.0.0.1"},
		{"--host", "//u:canary@h"}} {
		r := benchtop(append([]string{"serve", "--no-tui"}, args...)...)
		if r.expect(t, session.ExitUsage, args[0]); strings.Contains(r.stderr, "canary") {
			t.Error(r.stderr)
		}
	}
}

// --no-tui may stand wherever something is measured.
func TestNoScreenToLeaveOut(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"startup"}, {"sweep", "startup"}, {"latency"}, {"throughput"}} {
		r := benchtop(append(args, "--no-tui", "--base-url", "x://")...)
		if r.expect(t, session.ExitUsage); strings.Contains(r.stderr, "no-tui") {
			t.Errorf("%v: %s", args, r.stderr)
		}
	}
	if _, err := os.Stat("results"); err == nil {
		t.Error("a directory was made")
	}
}
