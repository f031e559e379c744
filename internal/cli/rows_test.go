package cli

import (
	"os"
	"strings"
	"testing"

	"benchtop/internal/session"
)

// The example of files of rows is a data set, and the command there shows it.
func TestDocsRows(t *testing.T) {
	commands, file := docsExample(t, "## Files of rows")
	model := modelDirectory(t, "synthetic-spbpe")
	t.Chdir(t.TempDir())
	if err := os.WriteFile("rows.json", []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	if len(commands) != 1 {
		t.Fatalf("got commands %q", commands)
	}
	r := benchtop(append(strings.Fields(commands[0]), "--tokenizer", model)...)
	r.expect(t, session.ExitFine)
	for _, prompt := range []string{"How much is 17 times 3?", "And 3 times 17, please?"} {
		if !strings.Contains(r.stdout, prompt) {
			t.Errorf("no %q in\n%s", prompt, r.stdout)
		}
	}
}
