//go:build unix

package cli

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"benchtop/internal/session"
)

// heard is what a program said so far.
type heard struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.buf.Write(b)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.buf.String()
}

// Ctrl-C in the middle shows what there is, keeps nothing, and takes the server along.
func TestInterruptedCalibration(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	c := exec.Command(program(t), "calibrate", "--quick")
	c.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
	var out, progress heard
	c.Stdout, c.Stderr = &out, &progress
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	server := childOf(t, strconv.Itoa(c.Process.Pid), "metronome")
	if !eventually(func() bool { return strings.Contains(progress.String(), "[2/5]") }) {
		t.Errorf("it does not get on: %s", progress.String())
	}
	_ = c.Process.Signal(os.Interrupt)
	_ = c.Wait()
	gone(t, server)
	if code := c.ProcessState.ExitCode(); code != session.ExitAborted {
		t.Errorf("exit code %d, want %d", code, session.ExitAborted)
	}
	for _, want := range []string{"Requests/s: closed loop of 64 users", "INCOMPLETE", "requests/s"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s\n%s", want, out.String(), progress.String())
		}
	}
	if files, _ := os.ReadDir(state); len(files) != 0 {
		t.Errorf("kept: %v", files)
	}
}

// A metronome ends in peace at a signal, and with the process that started it.
func TestMetronomeEnds(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		c := exec.Command(program(t), "metronome", "--port", "0")
		var out, trouble heard
		c.Stdout, c.Stderr = &out, &trouble
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if !eventually(func() bool { return strings.HasPrefix(out.String(), listening) }) {
			t.Errorf("it said %q", out.String())
		}
		_ = c.Process.Signal(sig)
		if err := c.Wait(); err != nil || trouble.String() != "" {
			t.Errorf("%v: %v, %q", sig, err, trouble.String())
		}
	}
}
