//go:build unix

package textfile

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"benchtop/internal/assert"
)

func pipe(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pipe")
	assert.Fine(t, syscall.Mkfifo(path, 0o600))
	return path
}

// A pipe without a writer is an error, and leaves nothing behind that waits for one.
func TestPipeWithoutWriter(t *testing.T) {
	path, over := pipe(t), make(chan time.Time)
	close(over)
	_, err := openPipe(path, over)
	complains(t, err, "no program writes to it")
	if _, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
		t.Error("the pipe is still open")
	}
}

// A pipe may be opened before the program that writes to it opens it.
func TestPipeWithWriter(t *testing.T) {
	path, wrote := pipe(t), make(chan error, 1)
	go func() {
		w, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			_, err = w.WriteString("text")
			_ = w.Close() // the test reads what came
		}
		wrote <- err
	}()
	file := assert.Must(Open(path, "a text"))(t)
	defer file.Close()
	assert.Equal(t, string(assert.Must(io.ReadAll(file))(t)), "text", "what the pipe had")
	assert.Fine(t, <-wrote)
}
