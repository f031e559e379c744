//go:build unix

package argv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"benchtop/internal/assert"
)

// A file that may never end is not read.
func TestReadFileOfNoFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	assert.Fine(t, syscall.Mkfifo(pipe, 0o600))
	for _, path := range []string{pipe, "/dev/zero", filepath.Dir(pipe)} {
		_, problems := ReadFile(path, "")
		if len(problems) != 1 || !strings.Contains(problems[0].Error(), "expected a file") {
			t.Errorf("%s: %v", path, problems)
		}
	}
	r, w, err := os.Pipe()
	assert.Fine(t, err)
	defer r.Close()
	_, _ = w.WriteString("model: m\n")
	w.Close()
	if values, problems := ReadFile(fmt.Sprintf("/dev/fd/%d", r.Fd()), ""); len(values) != 1 || len(problems) > 0 {
		t.Errorf("%v, %v", values, problems)
	}
}
