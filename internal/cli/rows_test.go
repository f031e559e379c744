package cli

import (
	"os"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// The example of files of rows is a data set, and the command there shows it.
func TestDocsRows(t *testing.T) {
	commands, file := docsExample(t, "## Files of rows")
	model := modelDirectory(t, "synthetic-spbpe")
	t.Chdir(t.TempDir())
	assert.Fine(t, os.WriteFile("rows.json", []byte(file), 0o644))
	if len(commands) != 1 {
		t.Fatalf("got commands %q", commands)
	}
	r := benchtop(append(strings.Fields(commands[0]), "--tokenizer", model)...)
	r.expect(t, session.ExitFine)
	assert.Has(t, r.stdout, "How much is 17 times 3?", "And 3 times 17, please?")
}
