package cli

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// A side may be a URL or a profile. Requests sent at once leave results of both sides with the same prompts, and those
// in blocks find the side of which every other request fails, however busy the machine is.
func TestAB(t *testing.T) {
	t.Parallel()
	whole := recorded(t, nil).url
	var breaks atomic.Bool
	var asked atomic.Int64
	broken := recorded(t, func(w http.ResponseWriter, r *http.Request) bool {
		fails := breaks.Load() && r.URL.Path == "/v1/completions" && asked.Add(1)%2 == 0
		if fails {
			http.Error(w, "out of memory", http.StatusInternalServerError)
		}
		return fails
	}).url
	dir := t.TempDir()
	profile := filepath.Join(dir, "sides.yaml")
	assert.Fine(t, os.WriteFile(profile, []byte("profiles:\n  b:\n    base-url: "+broken+"\n"), 0o666))
	flags := []string{"ab", whole, profile + "#b", "--max-concurrency", "2", "--random-input-len", "16",
		"--random-output-len", "2", "--no-tui", "--precision", "0", "--fail-on", "error_rate>+5%", "--result-dir", dir}
	duet := benchtop(append(flags, "--paired", "duet", "--num-prompts", "64", "--save-result")...)
	if duet.code == session.ExitFailed {
		t.Errorf("a duet failed: %s", duet.stderr)
	}
	duet.expect(t, duet.code, "Evidence, 64 pairs", "A: "+whole, "B: "+profile+"#b",
		"Both sides had their load at once")
	breaks.Store(true)
	blocks := benchtop(append(flags, "--num-prompts", "160", "--no-save")...)
	blocks.expect(t, session.ExitMissed, "Evidence, 160 pairs in 16 blocks", "99 % interval",
		"--fail-on error_rate>+5%: ")
	for line := range strings.SplitSeq(blocks.stdout, "\n") {
		if strings.HasPrefix(line, "Failed") && !strings.Contains(line, "worse") {
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
