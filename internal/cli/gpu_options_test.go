package cli

import (
	"strings"
	"testing"

	"benchtop/internal/session"
	"benchtop/internal/spec"
)

// A user who asks for GPUs is told at the end, and in the report, now and later, that there were none; the run is fine
// all the same.
func TestGPUsAskedForInVain(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	url, dir := simulated(t, nil), t.TempDir()
	serve := func(gpu string) result {
		return benchtop("serve", "--base-url", url, "--num-prompts", "3", "--random-input-len", "5",
			"--random-output-len", "2",
			"--save-result", "--result-dir", dir, "--result-filename", "r.json", "--gpu", gpu)
	}
	r := serve("7")
	const words = "--gpu 7: no GPU data: no GPU tool"
	r.expect(t, session.ExitFine, "WARNING: "+words)
	again := benchtop("report", dir+"/r.json")
	again.expect(t, session.ExitFine)
	for _, report := range []string{r.stdout, again.stdout} {
		if !strings.Contains(strings.Join(strings.Fields(report), " "), "GPUs: "+words) {
			t.Errorf("no remark in\n%s", report)
		}
	}
	if r := serve(spec.GpuAuto); strings.Contains(r.stdout+r.stderr, "no GPU tool") {
		t.Errorf("told without being asked:\n%s%s", r.stdout, r.stderr)
	}
}
