package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// A data set that ends has prompts for the confirmation as well, and the number that was asked for is that of the plan.
func TestConfirmWithFewPrompts(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "prompts.jsonl")
	assert.Fine(t, os.WriteFile(path, []byte(strings.Repeat(`{"prompt": "a prompt"}`+"\n", 40)), 0o600))
	inVirtualTime(t, fast(), nil, func(t *testing.T, server *virtual) {
		r := server.serve(t, "--backend", "openai-chat", "--dataset-name", "custom", "--dataset-path", path,
			"--output-len", "2", "--num-prompts", "40",
			"--ramp-up-strategy", "linear", "--ramp-up-start-rps", "20", "--ramp-up-end-rps", "60", "--goodput",
			"ttft:60000", "--confirm", "15s", "--save-result", "--result-dir", dir)
		r.expect(t, session.ExitFine, "the confirmation repeats the data set's 40 prompts")
	})
	v := benchtopOf(t, dir)
	if got := marksOf(v); !strings.HasPrefix(got, "paused|") || !strings.HasSuffix(got, "|unproven") {
		t.Errorf("marks %q", got)
	}
}
