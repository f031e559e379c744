//go:build unix

package hub

import (
	"syscall"
	"testing"

	"benchtop/internal/assert"
)

// A pipe is no name on the hub, even where it looks like one.
func TestPipeIsNoRepository(t *testing.T) {
	t.Chdir(t.TempDir())
	assert.Fine(t, syscall.Mkfifo("rows", 0o600))
	h := New(Options{Env: func(string) string { return "" }})
	_, err := h.Select(t.Context(), Selection{Path: "rows"})
	complains(t, err, "rows is not a regular file and no directory")
}
