package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/session"
)

// A sweep runs each load as often as asked, each with its own file, and ends with its tables.
func TestPoints(t *testing.T) {
	t.Parallel()
	url, dir := simulated(t, nil), t.TempDir()
	args := append([]string{"serve"}, benchArgs(url, dir, "out.json", "--sweep-max-concurrency", "1,4",
		"--sweep-num-prompts-factor", "3", "--num-runs", "2", "--sweep-summary-percentiles", "90,97")...)
	r := benchtop(args...)
	r.expect(t, session.ExitFine, "run 4 of 4: concurrency=4", "Multi-run Summary, concurrency=1 (2 runs)",
		"Coefficient of variation of the request throughput: ",
		"Sweep Summary", "P90 TPOT(ms)  P97 TTFT(ms)", "concurrency=4 run 2", "Best throughput: ",
		"--cache cold prevents that")
	for _, name := range []string{"out-concurrency=1-run1.json", "out-concurrency=1-run2.json",
		"out-concurrency=4-run1.json", "out-concurrency=4-run2.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if n := strings.Count(r.stdout, "Successful requests:                     12"); n != 2 {
		t.Errorf("%d runs of 4 users have 12 requests, want 2", n)
	}
}

// Wrong points are refused before the first run.
func TestPointsRefused(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--sweep-max-concurrency 1,x": `--sweep-max-concurrency x: must be whole ` +
			`numbers`,
		"--sweep-max-concurrency 1 --sweep-request-rate 2": "choose one",
		"--sweep-request-rate 1,0": "--sweep-request-rate: 0: rate must be " +
			"positive or inf",
		"--sweep-num-prompts-factor 2": "--sweep-num-prompts-factor: needs " +
			"--sweep-max-concurrency",
		"--sweep-max-concurrency 9 --sweep-num-prompts-factor 999999999": "too many requests",
		"--num-runs 0": "--num-runs 0: must be from 1",
		"--num-runs 600 --sweep-max-concurrency 1,2": "1200 runs in all",
		"--sweep-summary-percentiles 7":              "--sweep-summary-percentiles: needs",
		"--sweep-request-rate 1 --sweep-summary-percentiles 101": "--sweep-summary-percentiles 101: " +
			"expected",
		"--sweep-request-rate 1,2 --stages 1:1s": "--sweep-request-rate, rate=1: " +
			"--stages and --request-rate: choose one",
		"--sweep-max-concurrency 1,2 --concurrency-stages 1:20s --num-runs 2": "--sweep-max-concurrency, " +
			"concurrency=1: ",
	} {
		benchtop(append([]string{"serve", "--base-url", "http://127.0.0.1:1"}, strings.Fields(args)...)...).expect(t,
			session.ExitUsage, want)
	}
}
