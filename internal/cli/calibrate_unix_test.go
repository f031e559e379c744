//go:build unix

package cli

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"benchtop/internal/assert"
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

// A metronome ends in peace at a signal, and with the process that started it.
func TestMetronomeEnds(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		c := exec.Command(program(t), "metronome", "--port", "0")
		var out, trouble heard
		c.Stdout, c.Stderr = &out, &trouble
		assert.Fine(t, c.Start())
		if !eventually(func() bool { return strings.HasPrefix(out.String(), listening) }) {
			t.Errorf("it said %q", out.String())
		}
		_ = c.Process.Signal(sig)
		if err := c.Wait(); err != nil || trouble.String() != "" {
			t.Errorf("%v: %v, %q", sig, err, trouble.String())
		}
	}
}
