//go:build unix

package cli

import (
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// A signal ends a command that waits for a server which takes texts and never tokenizes them.
func TestStoppedWhileTheServerIsSilent(t *testing.T) {
	t.Parallel()
	path := assert.Must(binary())(t)
	const chats = " --backend openai-chat --num-prompts 200 --random-input-len 9"
	for _, c := range []struct {
		name, args string
		probes     bool // it does answer as long as it is only tried
		sig        syscall.Signal
		code       int
	}{
		{"serve, tried", "serve --no-save --base-url URL" + chats, false, syscall.SIGINT, session.ExitAborted},
		{"serve, drawing", "serve --no-save --base-url URL" + chats, true, syscall.SIGINT, session.ExitAborted},
		{"serve, drawing, terminated", "serve --no-save --base-url URL" + chats, true, syscall.SIGTERM,
			session.ExitTerminated},
		{"serve, drawing at once", "serve --no-save --dataset-name prefix_repetition --base-url URL" + chats, true,
			syscall.SIGINT, session.ExitAborted},
		{"dataset, tried", "dataset --base-url URL" + chats, false, syscall.SIGINT, session.ExitAborted},
		{"dataset, drawing", "dataset --base-url URL" + chats, true, syscall.SIGINT, session.ExitAborted},
	} {
		t.Run(c.name, func(t *testing.T) {
			waits := make(chan struct{})
			var once sync.Once
			var texts atomic.Int64
			server := recorded(t, func(_ http.ResponseWriter, r *http.Request) bool {
				switch {
				case r.URL.Path == "/detokenize" && texts.Add(1) > 2: // it is tried twice
				case r.URL.Path != "/tokenize" || c.probes:
					return false
				}
				once.Do(func() { close(waits) })
				<-r.Context().Done()
				return true
			})
			command := exec.Command(path, strings.Fields(strings.ReplaceAll(c.args, "URL", server.url))...)
			var said strings.Builder
			command.Stderr = &said
			assert.Fine(t, command.Start())
			defer command.Process.Kill()
			<-waits
			assert.Fine(t, command.Process.Signal(c.sig))
			_ = command.Wait() // shown by the exit code
			if code := command.ProcessState.ExitCode(); code != c.code || !strings.Contains(said.String(), "stopped") {
				t.Errorf("exit code %d, want %d: %s", code, c.code, &said)
			}
		})
	}
}
