//go:build unix

package files

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"benchtop/internal/assert"
)

// A journal without an end is that of a run that is on for as long as its writer lives, and reading it takes nothing
// from that.
func TestRunThatIsOn(t *testing.T) {
	t.Chdir(t.TempDir())
	saving, written := reserve(t, Options{Result: true, Name: "r.json"})
	assert.Fine(t, written.Flush())
	for range 2 {
		if r, err := ReadReport("r.json"); err != nil || r.Interrupted == nil || r.Interrupted.Reason != stillOn {
			t.Errorf("%+v, %v", r.Interrupted, err)
		}
	}
	if !locked("r.jsonl", true) {
		t.Error("the lock is gone")
	}
	if err := saving.Journal.Close(); err != nil { // as a kill does
		t.Fatal(err)
	}
	if r, err := ReadReport("r.json"); err != nil || r.Interrupted == nil || r.Interrupted.Reason == stillOn {
		t.Errorf("%+v, %v", r.Interrupted, err)
	}
	_ = written.Close() // its file is closed
}

// A pipe without a reader is closed when the work is cancelled, before it is open and after.
func TestStoppedWhileWriting(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	assert.Fine(t, syscall.Mkfifo(pipe, 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Is(t, assert.Failure(OpenWhole(ctx, pipe)), context.Canceled)
	reader := assert.Must(os.OpenFile(pipe, os.O_RDWR, 0))(t)
	defer reader.Close()
	ctx, cancel = context.WithCancel(t.Context())
	w := assert.Must(OpenWhole(ctx, pipe))(t)
	wrote := make(chan error)
	go func() {
		_, err := w.Write(make([]byte, 1<<21)) // more than any pipe holds
		wrote <- err
	}()
	cancel()
	assert.Is(t, <-wrote, os.ErrClosed)
	assert.Is(t, w.Finish(nil), context.Canceled)
}

// A directory has one holder at a time.
func TestHold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	release := assert.Must(Hold(dir))(t)
	assert.Complains(t, assert.Failure(Hold(dir)), "in use by another")
	release()
	release = assert.Must(Hold(dir))(t)
	release()
}
