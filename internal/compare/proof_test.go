package compare

import (
	"os"
	"path/filepath"
	"testing"
)

// A run counts once, though a sweep keeps it in a file of its own and in a list of all, and beside an interim result;
// runs of other lengths are of another workload.
func TestRunsCountOnce(t *testing.T) {
	dir := t.TempDir()
	result := func(date, length string) string {
		return `{"date": "` + date + `", "backend": "openai", "model_id": "m", "completed": 10, "duration": 5, ` +
			`"request_rate": 2, "mean_ttft_ms": 20, "request_throughput": 2, "benchtop": {"command": ["serve", ` +
			`"--random-input-len", "` + length + `"]}}`
	}
	a, b, long := result("20261129-060000", "32"), result("20261129-060100", "32"), result("20261129-060200", "99")
	for name, content := range map[string]string{"run=0.json": a, "run=1.json": b,
		"summary.json":      "[" + a + "," + b + "]",
		"run=1-so-far.json": b, "long.json": long} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, _, err := Read([]string{dir})
	got := c.runs
	if err != nil || len(got.loads) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	for load, n := range map[string]int{
		"dataset name random, input len 32, output len 128, 2 req/s": 2,
		"dataset name random, input len 99, output len 128, 2 req/s": 1,
	} {
		if len(got.byLoad[load]) != n {
			t.Errorf("%s: %d runs, want %d, of %q", load, len(got.byLoad[load]), n, got.loads)
		}
	}
}
