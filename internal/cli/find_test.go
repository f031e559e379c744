package cli

import (
	"strings"
	"testing"

	"benchtop/internal/session"
)

// The whole command: a search, held and saved. Which loads it tries depends on what the machine can do meanwhile; it is seen in
// virtual time.
func TestFind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	url := simulated(t, nil)
	r := benchtop("serve", "--base-url", url, "--vocab-size", "300", "--random-input-len", "5", "--random-output-len", "2", "--find", "--find-from", "4", "--find-most", "5",
		"--find-step", "1s", "--find-hold", "1s", "--goodput", "ttft:60000", "--save-result", "--result-dir", dir)
	r.expect(t, session.ExitFine)
	v := benchtopOf(t, dir)
	if want := "search 4 to 5 req/s for the highest load within ttft:60000 (ms), held for 1s"; v["load"] != want {
		t.Errorf("load %q, want %q", v["load"], want)
	}
	if got := marksOf(v); !strings.HasPrefix(got, "4 req/s|") || !strings.HasSuffix(got, "|not found") {
		t.Errorf("marks %q, want the first load, others, and no proof in a second", got)
	}
}

// Flags that do not go with a search are refused at once.
func TestFindUsage(t *testing.T) {
	t.Parallel()
	benchtop("serve", "--find", "--num-prompts", "5", "--request-rate", "3", "--find-from", "0", "--find-step", "1ms", "--find-hold", "0s").expect(t, session.ExitUsage,
		"--find: give the objectives with --goodput", "--find and --num-prompts", "--find and --request-rate", "--find-from 0", "--find-step 1ms", "--find-hold 0s")
	benchtop("serve", "--find-users", "--goodput", "ttft:500", "--max-concurrency", "3", "--find-from", "1.5", "--stages", "1:5s").expect(t, session.ExitUsage,
		"--find-users and --max-concurrency", "--find-from 1.5: users are whole", "--find and --stages")
	benchtop("serve", "--find-step", "5s").expect(t, session.ExitUsage, "--find-step: needs --find")
	benchtop("serve", "--find", "--goodput", "ttft:500", "--find-from", "50", "--find-most", "5").expect(t, session.ExitUsage, "must not be more than --find-most 5")
	benchtop("serve", "--find-users", "--goodput", "ttft:500", "--find-most", "900000").expect(t, session.ExitUsage, "--find-most 900000: ")
}
