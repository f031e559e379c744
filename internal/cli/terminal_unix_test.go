//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// Every way out of a run on a real terminal: the result is saved, the terminal restored, nothing left running.
func TestExits(t *testing.T) {
	const demo, drains = "demo", "serve" // a run that drains until it is told otherwise
	for _, c := range []struct {
		name, what string
		leave      func(x *terminal, pid int)
		code       int
		reason     string
	}{
		{"ctrl+c is q", demo, func(x *terminal, _ int) {
			x.press("C-c")
			x.wait("DONE")
			x.press("C-c")
		}, session.ExitFine, "stopped by the user"},
		{"q q aborts", drains, func(x *terminal, _ int) {
			x.press("q")
			x.wait("DRAINING")
			x.press("q")
			x.wait("ABORTED")
			x.press("q")
		}, session.ExitAborted, "aborted by the user"},
		{"SIGTERM", demo, func(_ *terminal, pid int) { _ = syscall.Kill(pid, syscall.SIGTERM) }, session.ExitTerminated,
			"SIGTERM"},
		{"SIGHUP", demo, func(_ *terminal, pid int) { _ = syscall.Kill(pid, syscall.SIGHUP) }, session.ExitHangup,
			"the terminal was lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// The shell tells what the program leaves of the terminal's settings.
			command := "demo --duration 10m"
			if c.what == drains {
				server, _ := held(t, 3)
				command = heldRun(server) + " --request-rate 20 --num-prompts 12000"
			}
			x := open(t, 120, 40, `"$BENCHTOP" `+command+`; code=$?; stty -a; (exit $code)`)
			x.wait("RUN")
			pid := x.pid()
			server := pid
			if c.what == demo {
				server = childOf(t, strconv.Itoa(pid), "simulate")
			}
			someDone(t, x.dir)
			c.leave(x, pid)
			assert.Equal(t, x.ended(), c.code, "exit code")
			gone(t, server)
			s, files := readSaved(t, x.dir)
			if i := s.Benchtop.Interrupted; i == nil || i.Reason != c.reason || i.Unsent == 0 || s.Completed == 0 {
				t.Errorf("completed %d, interrupted %+v; want reason %q and unsent requests", s.Completed, i, c.reason)
			}
			shown := x.history()
			assert.Has(t, shown,
				"============ Serving Benchmark Result ============",
				"result saved to "+strings.TrimPrefix(files[0], x.dir+"/"), " icanon", " echo ")
			if n := strings.Count(shown, "Serving Benchmark Result"); n != 1 {
				t.Errorf("the report was printed %d times", n)
			}
		})
	}
}

// heldRun is the command of a run against a server that waits for the test, with a result where demo has its own.
func heldRun(server *recording) string {
	return "serve --base-url " + server.url + " --save-result --result-dir benchtop-results --request-timeout 1h " +
		"--stall-timeout 1h " + shortPrompts
}

// A terminal that stops taking output changes nothing for the load, and cannot keep the program from ending.
func TestStalledTerminal(t *testing.T) {
	t.Parallel()
	server, letGo := held(t, 3)
	// The pane's own terminal is not read either: tmux is stopped in its tracks. What comes in the four seconds that
	// the load takes at least is more than it holds.
	x := open(t, 120, 40, `"$BENCHTOP" `+heldRun(server)+` --request-rate 10 --num-prompts 40 --burstiness inf`)
	x.wait("RUN")
	pid := x.pid()
	tmux := assert.Must(strconv.Atoi(strings.TrimSpace(x.tmux("display-message", "-p", "#{pid}"))))(t)
	_ = syscall.Kill(tmux, syscall.SIGSTOP)
	defer syscall.Kill(tmux, syscall.SIGCONT)
	letGo()
	if !eventually(func() bool {
		packed, _ := filepath.Glob(filepath.Join(x.dir, "benchtop-results", "*.gz"))
		return len(packed) == 1
	}) {
		t.Fatal("the run did not end by itself")
	}
	_ = syscall.Kill(pid, syscall.SIGTERM)
	gone(t, pid) // else it waits for the terminal
	if s, _ := readSaved(t, x.dir); s.Completed != 40 || s.Benchtop.Interrupted != nil {
		t.Errorf("completed %d, interrupted %+v; want all 40", s.Completed, s.Benchtop.Interrupted)
	}
}

// The third q quit at once, and the journal has what was measured.
func TestThirdTimeLeavesAtOnce(t *testing.T) {
	t.Parallel()
	// All at once, as an impatient user's keys arrive over a slow line.
	x := open(t, 100, 30, `"$BENCHTOP" demo --duration 10m`)
	x.wait("RUN")
	server := childOf(t, strconv.Itoa(x.pid()), "simulate")
	someDone(t, x.dir)
	x.press("q", "q", "q", "q")
	assert.Equal(t, x.ended(), session.ExitAborted, "exit code")
	gone(t, server)
	if shown := x.history(); !strings.Contains(shown, "measurements saved in") &&
		!strings.Contains(shown, "result saved to") {
		t.Errorf("nothing says where the measurements are:\n%s", shown)
	}
}

// The terminal itself goes away, as when an SSH connection drops: the run ends in order and is saved.
func TestHangUp(t *testing.T) {
	t.Parallel()
	x := open(t, 100, 30, `"$BENCHTOP" demo --duration 10m`)
	x.wait("RUN")
	pid := x.pid()
	server := childOf(t, strconv.Itoa(pid), "simulate")
	someDone(t, x.dir)
	x.tmux("kill-server")
	gone(t, pid)
	gone(t, server)
	s, _ := readSaved(t, x.dir)
	if i := s.Benchtop.Interrupted; i == nil || i.Reason != "the terminal was lost" || s.Completed == 0 {
		t.Errorf("completed %d, interrupted %+v", s.Completed, i)
	}
}

// A run under nohup outlives its terminal.
func TestNohup(t *testing.T) {
	t.Parallel()
	server, letGo := held(t, 3)
	c := exec.Command("nohup", append([]string{program(t)}, strings.Fields(heldRun(server)+" --num-prompts 9")...)...)
	c.Dir = t.TempDir()
	assert.Fine(t, c.Start())
	someDone(t, c.Dir)
	assert.Fine(t, c.Process.Signal(syscall.SIGHUP))
	letGo()
	if err := c.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
	if s, _ := readSaved(t, c.Dir); s.Benchtop.Interrupted != nil || s.Completed != 9 {
		t.Errorf("completed %d, interrupted %+v; want all 9", s.Completed, s.Benchtop.Interrupted)
	}
}

// After kill -9 the journal gives every request that had come to the file, and no server is left. That a request comes
// there within a second is export's.
func TestKillNine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := exec.Command(program(t), "demo", "--no-tui", "--progress", "100ms", "--duration", "10m", "--result-dir", dir)
	lines := assert.Must(c.StderrPipe())(t)
	assert.Fine(t, c.Start())
	server := childOf(t, strconv.Itoa(c.Process.Pid), "simulate")
	atLeast := 0
	for text := bufio.NewScanner(lines); atLeast < 3 && text.Scan(); {
		if m := regexp.MustCompile(`done (\d+) `).FindStringSubmatch(text.Text()); m != nil {
			atLeast, _ = strconv.Atoi(m[1])
		}
	}
	inJournal(t, dir, atLeast, `{"index":`)
	_ = c.Process.Kill()
	_ = c.Wait()
	gone(t, server)
	if atLeast == 0 {
		t.Fatal("nothing was done")
	}
	journals, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	assert.Need(t, len(journals), 1, "journals %v", journals)
	for _, file := range []string{journals[0], strings.TrimSuffix(journals[0], "l")} {
		r := benchtop("report", file)
		r.expect(t, session.ExitFine, "its journal is truncated")
		m := regexp.MustCompile(`Successful requests: +(\d+)`).FindStringSubmatch(r.stdout)
		if m == nil {
			t.Fatalf("no report from %s", file)
		}
		if n, _ := strconv.Atoi(m[1]); n < atLeast {
			t.Errorf("report %s has %d requests, %d were in the file before the kill", file, n, atLeast)
		}
	}
}

// The command of the README, without a terminal: a report on standard output, and a result with its timeline. How its
// load makes time to first token take off is seen in virtual time, see TestDemoSaturates.
func TestDemoWithoutTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var out, progress bytes.Buffer
	c := exec.Command(program(t), "demo", "--no-tui", "--duration", "1s", "--progress", "50ms", "--result-dir",
		filepath.Join(dir, "benchtop-results"))
	c.Stdout, c.Stderr = &out, &progress
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, progress.String())
	}
	if !strings.Contains(out.String(), "Serving Benchmark Result") ||
		!strings.Contains(progress.String(), "in flight") {
		t.Errorf("stdout:\n%s\nstderr:\n%s", out.String(), progress.String())
	}
	s, _ := readSaved(t, dir)
	answered := 0
	for _, w := range s.Benchtop.Timeline {
		if w.TTFT != nil {
			answered++
		}
	}
	if answered == 0 || s.Completed == 0 || s.Benchtop.Interrupted != nil {
		t.Errorf("completed %d, %d seconds with a TTFT, interrupted: %+v", s.Completed, answered,
			s.Benchtop.Interrupted)
	}
}

// With --on-hangup continue the run outlives its terminal.
func TestHangUpContinues(t *testing.T) {
	t.Parallel()
	const words = "terminal lost; the run continues without it"
	server, letGo := held(t, 3)
	x := open(t, 100, 30, `"$BENCHTOP" `+heldRun(server)+` --num-prompts 9 --on-hangup continue`)
	x.wait("RUN")
	pid := x.pid()
	someDone(t, x.dir)
	x.tmux("kill-server")
	inJournal(t, filepath.Join(x.dir, "benchtop-results"), 1, words)
	letGo()
	gone(t, pid)
	s, files := readSaved(t, x.dir)
	if s.Benchtop.Interrupted != nil || s.Completed != 9 {
		t.Errorf("completed %d, interrupted %+v; want all 9", s.Completed, s.Benchtop.Interrupted)
	}
	benchtop("report", "--json", files[0]).expect(t, session.ExitFine, words)
}

// A disk that takes no more: the screen says so, the run goes on, and what was measured comes out where there is room.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	t.Run("on a terminal", func(t *testing.T) {
		t.Parallel()
		// No file may grow beyond 16 KB: the journal breaks in the middle, and no place takes the result.
		server, letGo := held(t, 60)
		x := open(t, 120, 40, `ulimit -f 16; "$BENCHTOP" `+heldRun(server)+` --num-prompts 63`)
		x.wait("! NOT SAVING")
		letGo()
		x.wait("FAILED")
		x.press("q")
		assert.Equal(t, x.ended(), session.ExitFailed, "exit code")
		if shown := x.history(); !strings.Contains(shown, "Serving Benchmark Result") ||
			!strings.Contains(shown, "file too large") {
			t.Errorf("the report or the reason is missing:\n%s", shown)
		}
	})
	t.Run("without one", func(t *testing.T) {
		t.Parallel()
		var out, trouble bytes.Buffer
		c := exec.Command("sh", "-c", `ulimit -f 16; exec "$0" `+heldRun(recorded(t, nil))+` --num-prompts 90`,
			program(t))
		c.Dir = t.TempDir()
		c.Stdout, c.Stderr = &out, &trouble
		err := c.Run()
		if c.ProcessState.ExitCode() != session.ExitFailed {
			t.Errorf("ended with %v, want exit code %d", err, session.ExitFailed)
		}
		var result struct{ Completed int }
		for line := range strings.Lines(out.String()) {
			if strings.HasPrefix(line, "{") {
				if err := json.Unmarshal([]byte(line), &result); err != nil {
					t.Error(err)
				}
			}
		}
		if result.Completed != 90 || !strings.Contains(trouble.String(), "result saved to standard output") {
			t.Errorf("completed %d on standard output; standard error:\n%s", result.Completed, trouble.String())
		}
	})
	t.Run("with room elsewhere", func(t *testing.T) {
		t.Parallel()
		// The directory of the result turns into something else while the run is on.
		dir, state := filepath.Join(t.TempDir(), "out"), t.TempDir()
		server, letGo := held(t, 3)
		c := exec.Command(program(t),
			append([]string{"serve", "--base-url", server.url, "--num-prompts", "9", "--save-result", "--result-dir",
				dir},
				strings.Fields(shortPrompts)...)...)
		c.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
		var trouble bytes.Buffer
		c.Stderr = &trouble
		assert.Fine(t, c.Start())
		inJournal(t, dir, 1, `{"index":`)
		_ = os.RemoveAll(dir)
		assert.Fine(t, os.WriteFile(dir, nil, 0o644))
		letGo()
		_ = c.Wait()
		files, _ := filepath.Glob(filepath.Join(state, "benchtop", "*"))
		if c.ProcessState.ExitCode() != session.ExitFailed || len(files) != 2 ||
			!strings.Contains(trouble.String(), "result saved to "+files[0]) {
			t.Errorf("exit code %d, files %v; standard error:\n%s", c.ProcessState.ExitCode(), files, trouble.String())
		}
	})
}

// A signal before the first request ends the program and leaves nothing behind.
func TestSignalBeforeTheRun(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	server := recorded(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "_profile") {
			asked <- r.URL.Path
		}
		if r.URL.Path == "/start_profile" {
			<-r.Context().Done() // for ever, as far as the client can tell
		}
		return strings.HasSuffix(r.URL.Path, "_profile")
	})
	dir := t.TempDir()
	c := exec.Command(program(t), "serve", "--base-url", server.url, "--num-prompts", "5", "--profile", "--save-result",
		"--result-dir", dir)
	var trouble bytes.Buffer
	c.Stderr = &trouble
	assert.Fine(t, c.Start())
	next := func() string {
		select {
		case path := <-asked:
			return path
		case <-time.After(30 * time.Second):
			return "nothing"
		}
	}
	assert.Equal(t, next(), "/start_profile", "first it asked for")
	_ = c.Process.Signal(syscall.SIGTERM)
	_ = c.Wait()
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if c.ProcessState.ExitCode() != session.ExitTerminated || len(files) != 0 ||
		!strings.Contains(trouble.String(), "before the first request") {
		t.Errorf("exit code %d, files %v, standard error:\n%s", c.ProcessState.ExitCode(), files, trouble.String())
	}
	if path := next(); path != "/stop_profile" {
		t.Errorf("then it asked for %s, want the profiler stopped", path)
	}
}

// A signal that was ignored when the program started stays ignored.
func TestIgnoredInterrupt(t *testing.T) {
	t.Parallel()
	server, letGo := held(t, 3)
	dir := t.TempDir()
	c := exec.Command("sh", "-c",
		`trap "" INT; exec "$0" serve --base-url "$1" --num-prompts 9 --save-result --result-dir "$2" `+shortPrompts,
		program(t), server.url, dir)
	assert.Fine(t, c.Start())
	inJournal(t, dir, 1, `{"index":`)
	assert.Fine(t, c.Process.Signal(os.Interrupt))
	letGo()
	assert.Fine(t, c.Wait())
	if n := resultIn(t, dir)["completed"]; n != 9. {
		t.Errorf("completed %v, want all 9", n)
	}
}
