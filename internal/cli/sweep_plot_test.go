package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// sweepDir is a directory of a sweep with two combinations of two runs.
func sweepDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, summary := range map[string]string{
		"BENCH--max_concurrency=1": `[{"max_concurrency": 1, "output_throughput": 30.5, "median_ttft_ms": 20, "api_key": "c4n4ry", "run_number": 0},
			{"max_concurrency": 1, "output_throughput": 31, "median_ttft_ms": 22, "api_key": "c4n4ry", "run_number": 1}]`,
		"BENCH--max_concurrency=4": `[{"max_concurrency": 4, "output_throughput": 90, "median_ttft_ms": 30, "run_number": 0},
			{"max_concurrency": 4, "output_throughput": 88, "median_ttft_ms": NaN, "run_number": 1}]`,
	} {
		assert.Fine(t, os.Mkdir(filepath.Join(dir, name), 0o777))
		assert.Fine(t, os.WriteFile(filepath.Join(dir, name, "summary.json"), []byte(summary), 0o666))
	}
	return dir
}

func TestSweepPlot(t *testing.T) {
	t.Parallel()
	dir := sweepDir(t)
	r := benchtop("sweep", "plot", dir, "--var-x", "max_concurrency", "--format", "png,svg,html,terminal", "--fig-by",
		"max_concurrency", "--fig-dpi", "40", "--fig-dir", "figures")
	r.expect(t, session.ExitFine,
		"Group: {'max_concurrency': '1'}\nGrid: 1 rows x 1 cols\nOutput file: "+filepath.Join(dir, "figures",
			"FIGURE-max_concurrency=1.png"),
		"median TTFT (ms)", "[END FIGURE]", "1 run is left out: no finite max_concurrency or median_ttft_ms")
	for name, begin := range map[string]string{"1.png": "\x89PNG", "4.svg": "<svg", "1.html": "<!DOCTYPE html>"} {
		data, err := os.ReadFile(filepath.Join(dir, "figures", "FIGURE-max_concurrency="+name))
		if err != nil || !strings.HasPrefix(string(data), begin) {
			t.Errorf("%s begins with %.20q (%v)", name, data, err)
		}
		if strings.Contains(string(data), "c4n4ry") {
			t.Errorf("%s has the key of the server", name)
		}
	}
	for _, dry := range []string{"--dry-run=false", "--dry-run"} {
		r := benchtop("sweep", "plot", dir, "--var-x", "max_concurrency", "--filter-by", "max_concurrency>4", dry)
		if r.expect(t, session.ExitFine, "No data to plot. Filters: max_concurrency>4"); strings.Contains(r.stdout,
			"Output file") {
			t.Errorf("%s: a file is promised:\n%s", dry, r.stdout)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "FIGURE*")); left != nil {
		t.Errorf("a figure without data was written: %v", left)
	}
	benchtop("sweep", "plot-pareto", dir, "--format", "svg").expect(t, session.ExitFine,
		filepath.Join(dir, "pareto", "PARETO.svg"), "Plotted 4 points; Pareto frontier size: 2.", "each counts as 1")
	benchtop("sweep", "plot_pareto", dir, "--dry-run", "--fig-dir", "none").expect(t, session.ExitFine,
		"Output file: "+filepath.Join(dir, "none", "pareto", "PARETO.png"))
	if _, err := os.Stat(filepath.Join(dir, "none")); err == nil {
		t.Error("a dry run made a directory")
	}
}

func TestSweepPlotRefuses(t *testing.T) {
	t.Parallel()
	dir := sweepDir(t)
	benchtop("sweep", "plot", dir, "--filter-by", "a", "--bin-by", "b", "--scale-x", "cubic", "--format", "gif",
		"--fig-dpi", "0").
		expect(t, session.ExitUsage, "--filter-by: a: expected", "--bin-by: b: expected", "--scale-x: no scale",
			"--format gif: use png or svg or html or terminal", "--fig-dpi 0")
	benchtop("sweep", "plot", dir, "--var-x", "max_concurency").expect(t, session.ExitUsage,
		"--var-x: no record has the field max_concurency (did you mean max_concurrency?)")
	benchtop("sweep", "plot").expect(t, session.ExitUsage, "expected one argument, the directory of a sweep, got 0")
	benchtop("sweep", "plot", filepath.Join(dir, "none")).expect(t, session.ExitUsage, "not a directory")
	benchtop("sweep", "plot_pareto", t.TempDir()).expect(t, session.ExitFailed, "no summary.json of a sweep")
	benchtop("sweep", "plot_pareto", dir, "--gpu-count-var", "gpus").expect(t, session.ExitUsage,
		"--gpu-count-var: no record has the field gpus")
	assert.Fine(t, os.WriteFile(filepath.Join(dir, "summary.json"), []byte("[\n{]"), 0o666))
	benchtop("sweep", "plot", dir).expect(t, session.ExitFailed, filepath.Join(dir, "summary.json")+", line 2")
}
