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
