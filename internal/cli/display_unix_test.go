//go:build unix

package cli

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

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

// The dashboard is there while the server has not said a word, and every way out of it restores the terminal and says
// that there was no run.
func TestLeftBeforeTheRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		leave func(x *terminal)
		code  int
		words string
	}{
		{"q", func(x *terminal) { x.press("q") }, session.ExitAborted, "stopped before the first request (interrupt)"},
		{"ctrl+c", func(x *terminal) { x.press("C-c") }, session.ExitAborted,
			"stopped before the first request (interrupt)"},
		{"after a stop", func(x *terminal) { x.press("C-z", "q") }, session.ExitAborted,
			"stopped before the first request (interrupt)"},
		{"SIGINT", func(x *terminal) { _ = syscall.Kill(x.pid(), syscall.SIGINT) }, session.ExitAborted,
			"stopped before the first request (interrupt)"},
		{"SIGTERM", func(x *terminal) { _ = syscall.Kill(x.pid(), syscall.SIGTERM) }, session.ExitTerminated,
			"stopped before the first request (terminated)"},
		{"SIGHUP", func(x *terminal) { _ = syscall.Kill(x.pid(), syscall.SIGHUP) }, session.ExitHangup,
			"stopped before the first request (hangup)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server, asked, _ := undecided(t)
			x := open(t, 100, 30,
				`"$BENCHTOP" serve --base-url `+server.url+` --num-prompts 9 `+shortPrompts+`; code=$?; stty -a; `+
					`(exit $code)`)
			x.wait("PREPARING")
			<-asked
			c.leave(x)
			if code := x.ended(); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			shown := x.history()
			for _, want := range []string{c.words, " icanon", " echo "} {
				if strings.Count(shown, want) != 1 {
					t.Errorf("%q is not on the normal screen, once:\n%s", want, shown)
				}
			}
			if files, _ := filepath.Glob(filepath.Join(x.dir, "*")); len(files) > 0 ||
				strings.Contains(shown, "PREPARING") {
				t.Errorf("left behind: %v, and on the screen\n%s", files, shown)
			}
		})
	}
}

// The reason for the end of a preparation stands on the normal screen, below the lines before it.
func TestErrorBeforeTheRun(t *testing.T) {
	t.Parallel()
	x := open(t, 100, 30,
		`"$BENCHTOP" serve --base-url http://127.0.0.1:1 --num-prompts 9 --ready-check-timeout-sec 1 `+shortPrompts)
	if code := x.ended(); code != session.ExitFailed {
		t.Errorf("exit code %d, want %d", code, session.ExitFailed)
	}
	if shown := x.history(); strings.Count(shown, "benchtop: cannot reach http://127.0.0.1:1: ") != 1 {
		t.Errorf("the error is not on the normal screen, once:\n%s", shown)
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

// Warnings of the preparation do not disturb the screen; they come before the report, once.
func TestWarningsOfThePreparation(t *testing.T) {
	t.Parallel()
	var first sync.Once
	server := recorded(t, func(w http.ResponseWriter, r *http.Request) (failed bool) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/completions") {
			first.Do(func() {
				failed = true
				w.WriteHeader(http.StatusTeapot)
			})
		}
		return failed
	})
	x := open(t, 120, 40, `"$BENCHTOP" `+heldRun(server)+` --num-prompts 3 --num-warmups 1 --exit`)
	if code := x.ended(); code != session.ExitFine {
		t.Errorf("exit code %d", code)
	}
	shown := x.history()
	const want = "benchtop: WARNING: 1 of 1 warm-ups failed"
	if at := strings.Index(shown, want); at < 0 || at > strings.Index(shown, "Serving Benchmark Result") ||
		strings.Count(shown, want) > 1 {
		t.Errorf("%q does not come once and before the report:\n%s", want, shown)
	}
	if s, _ := readSaved(t, x.dir); !strings.Contains(fmt.Sprint(s.Benchtop.Events), "warm-ups failed") {
		t.Errorf("the log does not have it: %v", s.Benchtop.Events)
	}
}

// The form hands over to the preparation of the run that it describes.
func TestFormPrepares(t *testing.T) {
	t.Parallel()
	server, _, _ := undecided(t)
	x := open(t, 100, 30, `"$BENCHTOP"; code=$?; stty -a; (exit $code)`)
	x.wait("Server")
	x.press("C-u")
	x.press("-l", server.url)
	x.wait(strings.TrimPrefix(server.url, "http://"))
	x.press("C-r")
	x.wait("PREPARING")
	x.press("q")
	if code := x.ended(); code != session.ExitAborted {
		t.Errorf("exit code %d, want %d", code, session.ExitAborted)
	}
	for _, want := range []string{"benchtop serve --base-url " + server.url, "stopped before the first request",
		" icanon"} {
		if shown := x.history(); strings.Count(shown, want) != 1 {
			t.Errorf("%q is not on the normal screen, once:\n%s", want, shown)
		}
	}
}
