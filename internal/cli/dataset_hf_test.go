package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// The examples of docs/datasets.md for the data sets of the hub are data sets, and the command there shows each.
func TestDocsHF(t *testing.T) {
	page := assert.Must(os.ReadFile("../../docs/datasets.md"))(t)
	sound := assert.Must(os.ReadFile("../../internal/hf/media/testdata/pcm_16.wav"))(t)
	model := modelDirectory(t, "synthetic-spbpe")
	_, section, _ := strings.Cut(string(page), "\n## hf\n")
	section, _, _ = strings.Cut(section, "\n## ")
	command := regexp.MustCompile(`(?m)^    benchtop (.*) --hf-name .*$`).FindStringSubmatch(section)
	parts := strings.Split(section, "\n### ")
	if command == nil || len(parts) < 17 {
		t.Fatalf("%d parts, command %q", len(parts), command)
	}
	t.Chdir(t.TempDir())
	assert.Fine(t, os.Mkdir("speech", 0o755))
	assert.Fine(t, os.WriteFile(filepath.Join("speech", "one.wav"), sound, 0o644))
	for _, part := range parts[1:] {
		heading, text, _ := strings.Cut(part, "\n")
		rows := strings.Join(regexp.MustCompile(`(?m)^    (\{.*\n)`).FindAllString(text, -1), "")
		if rows == "" {
			continue // it is about all of them
		}
		t.Run(heading, func(t *testing.T) {
			args := append(strings.Fields(command[1]), "--tokenizer", model, "--no-oversample", "--num-prompts", "9",
				"--jsonl", "-")
			name := "rows.jsonl"
			if id := regexp.MustCompile("^\\s*`([^`]+/[^`]+)`").FindStringSubmatch(text); id != nil {
				args = append(args, "--hf-name", id[1])
				if id[1] == datasets.BFCLRepository {
					name, args[4] = "BFCL_v3_simple.json", "."
					args = append(args, "--bfcl-categories", "simple")
				}
			}
			assert.Fine(t, os.WriteFile(name, []byte(rows), 0o644))
			r := benchtop(args...)
			r.expect(t, session.ExitFine)
			if got, want := strings.Count(r.stdout, `"expected_output_len":`), strings.Count(rows, "\n"); got != want {
				t.Errorf("%d prompts of %d rows:\n%s", got, want, r.stdout)
			}
		})
	}
}
