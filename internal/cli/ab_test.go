package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/session"
	"benchtop/internal/simulator"
)

// A side may be a URL or a profile; the slower one is found, by requests sent at once and in blocks, and both sides
// leave results with the same prompts.
func TestAB(t *testing.T) {
	t.Parallel()
	fast := simulated(t, func(p *simulator.Profile) { p.StepBase, p.Speed = time.Millisecond, 1 })
	slow := simulated(t, func(p *simulator.Profile) { p.StepBase, p.Speed = 10*time.Millisecond, 1 })
	dir := t.TempDir()
	profile := filepath.Join(dir, "sides.yaml")
	assert.Fine(t, os.WriteFile(profile, []byte("profiles:\n  b:\n    base-url: "+slow+"\n"), 0o666))
	flags := []string{"ab", fast, profile + "#b", "--max-concurrency", "2", "--random-input-len", "16",
		"--random-output-len", "2", "--no-tui", "--fail-on", "mean_e2el_ms>+5%", "--result-dir", dir}
	duet := benchtop(append(flags, "--paired", "duet", "--num-prompts", "64", "--save-result")...)
	if duet.code == session.ExitFailed {
		t.Errorf("a duet failed: %s", duet.stderr)
	}
	duet.expect(t, duet.code, "Evidence, 64 pairs", "A: "+fast, "B: "+profile+"#b", "Both sides had their load at once")
	blocks := benchtop(append(flags, "--num-prompts", "96", "--no-save")...)
	blocks.expect(t, session.ExitMissed, "Evidence, 96 pairs in 16 blocks", "99 % interval",
		"--fail-on mean_e2el_ms>+5%: ")
	for line := range strings.SplitSeq(blocks.stdout, "\n") {
		if strings.HasPrefix(line, "Mean E2EL (ms)") && !strings.Contains(line, "worse") {
			t.Error(line)
		}
	}
	a, _ := filepath.Glob(filepath.Join(dir, "a-*.json"))
	b, _ := filepath.Glob(filepath.Join(dir, "b-*.json"))
	if len(a) != 1 || len(b) != 1 {
		t.Fatalf("results: %q, %q", a, b)
	}
	var sides [2]struct {
		Input int `json:"total_input_tokens"`
	}
	for i, path := range []string{a[0], b[0]} {
		raw, err := os.ReadFile(path)
		if err != nil || json.Unmarshal(raw, &sides[i]) != nil {
			t.Fatal(path, err)
		}
	}
	if sides[0] != sides[1] || sides[0].Input == 0 {
		t.Errorf("input tokens: %v", sides)
	}
}

func TestABUsage(t *testing.T) {
	benchtop("ab", "--a", simulated(t, nil), "--b", "http://127.0.0.1:"+unused(t), "--num-prompts", "64", "--no-save",
		"--random-input-len", "8", "--random-output-len", "2", "--no-tui").expect(t, session.ExitFailed, "B: ",
		"no evidence")
	benchtop("ab", "--a", "http://x:1", "--blocks", "9", "--figure", "mean_tfft_ms", "--paired", "both", "--fail-on",
		"p99>5").expect(t, session.ExitUsage, "--b: missing; give the URL", "--blocks 9: must be a multiple of 4",
		"--figure", "mean_ttft_ms", "--paired", "--fail-on \"p99>5\"")
	benchtop("ab", "--a", "http://x:1", "--b", "http://x:2", "--find", "--goodput", "ttft:100").expect(t,
		session.ExitUsage, "--a: a search sends each side another load")
	benchtop("ab", "--a", "http://x:1", "--b", "http://x:2", "--check-answers", "20").expect(t, session.ExitUsage,
		"--check-answers: ab compares no answers; use serve with each server")
	benchtop("ab", "--a", "http://x:1", "--b", "http://x:2", "--paired", "duet", "--prometheus", "--num-prompts",
		"9").expect(t, session.ExitUsage, "--prometheus: it shows one run at a time")
	benchtop("ab", "--a", "sh -c 'sleep 1' --port 9", "--b", "sh x --port 9", "--paired", "duet").expect(t,
		session.ExitUsage, "both commands listen at http://127.0.0.1:9")
	benchtop("ab", "--a", "http://x:1", "--b", "http://x:2", "--num-promts", "5").expect(t, session.ExitUsage,
		"--a: --num-promts")
}
