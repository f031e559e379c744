//go:build unix

package cli

import (
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// undecided starts a simulated server that does not say what its models are until it is let go. asked is closed when it
// was asked.
func undecided(t *testing.T) (server *recording, asked <-chan struct{}, letGo func()) {
	t.Helper()
	open, waits := make(chan struct{}), make(chan struct{})
	var once sync.Once
	server = recorded(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/v1/models" {
			return false
		}
		once.Do(func() { close(waits) })
		select {
		case <-open:
			return false
		case <-r.Context().Done():
			return true
		}
	})
	return server, waits, sync.OnceFunc(func() { close(open) })
}

// Ctrl-Z stops nothing while the server has not said a word: the dashboard can be left as before, and the terminal is
// restored.
func TestStopBeforeTheRun(t *testing.T) {
	t.Parallel()
	server, asked, _ := undecided(t)
	x := open(t, 100, 30,
		`"$BENCHTOP" serve --base-url `+server.url+` --num-prompts 9 `+shortPrompts+`; code=$?; stty -a; (exit $code)`)
	x.wait("PREPARING")
	<-asked
	x.press("C-z", "q")
	assert.Equal(t, x.ended(), session.ExitAborted, "exit code")
	shown := x.history()
	for _, want := range []string{"stopped before the first request (interrupt)", " icanon", " echo "} {
		if strings.Count(shown, want) != 1 {
			t.Errorf("%q is not on the normal screen, once:\n%s", want, shown)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(x.dir, "*")); len(files) > 0 || strings.Contains(shown, "PREPARING") {
		t.Errorf("left behind: %v, and on the screen\n%s", files, shown)
	}
}

// The terminal goes away during the preparation: it ends, or goes on to the run and its end.
func TestHangUpBeforeTheRun(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"save", "continue"} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			server, asked, letGo := undecided(t)
			x := open(t, 100, 30, `"$BENCHTOP" `+heldRun(server)+` --num-prompts 9 --on-hangup `+flag)
			x.wait("PREPARING")
			<-asked
			pid := x.pid()
			x.tmux("kill-server")
			if flag == "save" {
				gone(t, pid)
				return
			}
			letGo()
			gone(t, pid)
			if s, _ := readSaved(t, x.dir); s.Benchtop.Interrupted != nil || s.Completed != 9 {
				t.Errorf("completed %d, interrupted %+v; want all 9", s.Completed, s.Benchtop.Interrupted)
			}
		})
	}
}
