//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// skip leaves a test out where something is missing, but never where everything has to be there.
func skip(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("CI is set, so nothing is skipped: %s", why)
	}
	t.Skip(why)
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.Load() {
		path, _ := binary()
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// built says that there is something to remove.
var built atomic.Bool

// binary builds the real program once.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "benchtop-test")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "benchtop")
	out, err := exec.Command("go", "build", "-o", path, "benchtop").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	built.Store(true)
	return path, nil
})

func program(t *testing.T) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// terminal is a tmux session with one program in it.
type terminal struct {
	t      *testing.T
	socket string
	dir    string // where the program runs
}

// open starts a command line in a terminal of its own. $BENCHTOP in it is the program.
func open(t *testing.T, width, height int, command string) *terminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		skip(t, "tmux is not installed")
	}
	path := program(t)
	x := &terminal{t: t, socket: fmt.Sprintf("benchtop-%d-%d", os.Getpid(), time.Now().UnixNano()), dir: t.TempDir()}
	t.Cleanup(func() { _ = exec.Command("tmux", "-L", x.socket, "kill-server").Run() })
	config := filepath.Join(t.TempDir(), "tmux.conf")
	if err := os.WriteFile(config, []byte("set -g default-terminal screen-256color\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("tmux", "-L", x.socket, "-f", config, "new-session", "-d",
		"-x", strconv.Itoa(width), "-y", strconv.Itoa(height), "-c", x.dir, "exec sh -c "+shellQuote(command+epilogue))
	// In CI's environment terminal programs believe that there is no terminal.
	c.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "CI=") || strings.HasPrefix(v, "TMUX=") || strings.HasPrefix(v, "NO_COLOR=")
	}), "BENCHTOP="+path, "LC_ALL=C.UTF-8")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v\n%s", err, out)
	}
	return x
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (x *terminal) tmux(args ...string) string {
	x.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-L", x.socket}, args...)...).CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (x *terminal) screen() string { return x.tmux("capture-pane", "-p") }

// history is the screen with what scrolled off it.
func (x *terminal) history() string { return x.tmux("capture-pane", "-p", "-S", "-300") }

func (x *terminal) press(keys ...string) { x.tmux(append([]string{"send-keys"}, keys...)...) }

// wait polls until the screen shows a text.
func (x *terminal) wait(text string) {
	x.t.Helper()
	deadline := time.Now().Add(40 * time.Second)
	for !strings.Contains(x.screen(), text) {
		if time.Now().After(deadline) {
			x.t.Fatalf("%q did not appear on\n%s", text, x.screen())
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// epilogue tells the exit status on the screen and keeps the screen there. tmux can tell it too, but now and then does not.
const epilogue = `; echo "ended with $?."; exec sleep 300`

var endedWith = regexp.MustCompile(`ended with (\d+)\.`)

// ended waits for the end of the program and returns its exit status.
func (x *terminal) ended() int {
	x.t.Helper()
	for deadline := time.Now().Add(40 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if m := endedWith.FindStringSubmatch(x.screen()); m != nil {
			n, _ := strconv.Atoi(m[1])
			return n
		}
		if time.Now().After(deadline) {
			x.t.Fatalf("the program did not end; screen:\n%s", x.screen())
		}
	}
}

// pid of the program, a child of the shell in the terminal.
func (x *terminal) pid() int {
	x.t.Helper()
	shell := strings.TrimSpace(x.tmux("display-message", "-p", "#{pane_pid}"))
	return childOf(x.t, shell, "benchtop")
}

// childOf waits for a child of a process whose command line has a word, and returns it.
func childOf(t *testing.T, parent, word string) int {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		out, _ := exec.Command("pgrep", "-P", parent, "-f", word).Output()
		if n, err := strconv.Atoi(strings.TrimSpace(string(out))); err == nil {
			return n
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %s has no child %q", parent, word)
		}
	}
}

// saved reads the one result in the directory.
type saved struct {
	Completed int
	Benchtop  struct {
		Interrupted *struct {
			Reason            string
			Cancelled, Unsent int
		}
		Timeline []struct {
			TTFT *float64 `json:"ttft_p50_ms"`
		}
	}
}

func readSaved(t *testing.T, dir string) (saved, []string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "benchtop-results", "*"))
	var s saved
	for _, f := range files {
		if !strings.HasSuffix(f, ".json") {
			continue
		}
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
	}
	if len(files) != 2 {
		t.Errorf("files %v, want a result and its journal", files)
	}
	return s, files
}

// gone waits until a process is no more.
func gone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); syscall.Kill(pid, 0) == nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("the simulated server, process %d, outlived the program", pid)
			return
		}
	}
}

// Every way out of a run on a real terminal: the result is saved, the terminal restored, nothing left running.
func TestExits(t *testing.T) {
	for _, c := range []struct {
		name   string
		leave  func(x *terminal, pid int)
		code   int
		reason string
	}{
		{"q drains, q leaves", func(x *terminal, _ int) {
			x.press("q")
			x.wait("DONE")
			x.press("q")
		}, exitFine, "stopped by the user"},
		{"ctrl+c is q", func(x *terminal, _ int) {
			x.press("C-c")
			x.wait("DONE")
			x.press("C-c")
		}, exitFine, "stopped by the user"},
		{"q q aborts", func(x *terminal, _ int) {
			x.press("q")
			x.wait("DRAINING")
			x.press("q")
			x.wait("DONE")
			x.press("q")
		}, exitAborted, "aborted by the user"},
		{"SIGINT is q", func(x *terminal, pid int) {
			_ = syscall.Kill(pid, syscall.SIGINT)
			x.wait("DONE")
			x.press("q")
		}, exitFine, "stopped by the user"},
		{"SIGTERM", func(_ *terminal, pid int) { _ = syscall.Kill(pid, syscall.SIGTERM) }, exitTerminated, "SIGTERM"},
		{"SIGHUP", func(_ *terminal, pid int) { _ = syscall.Kill(pid, syscall.SIGHUP) }, exitHangup, "the terminal was lost"},
		{"SIGTERM after q", func(x *terminal, pid int) {
			x.press("q")
			x.wait("DRAINING")
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}, exitTerminated, "SIGTERM"},
		{"SIGTERM at the end changes nothing but the screen", func(x *terminal, pid int) {
			x.press("q")
			x.wait("DONE")
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}, exitFine, "stopped by the user"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// The shell tells what the program leaves of the terminal's settings.
			x := open(t, 120, 40, `"$BENCHTOP" demo --duration 25s; code=$?; stty -a; (exit $code)`)
			x.wait("RUN")
			pid := x.pid()
			server := childOf(t, strconv.Itoa(pid), "simulate")
			time.Sleep(3 * time.Second) // some requests have to be over
			c.leave(x, pid)
			if code := x.ended(); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			gone(t, server)
			s, files := readSaved(t, x.dir)
			if i := s.Benchtop.Interrupted; i == nil || i.Reason != c.reason || i.Unsent == 0 || s.Completed == 0 {
				t.Errorf("completed %d, interrupted %+v; want reason %q and unsent requests", s.Completed, i, c.reason)
			}
			shown := x.history()
			for _, want := range []string{
				"============ Serving Benchmark Result ============", "result saved to " + strings.TrimPrefix(files[0], x.dir+"/"), " icanon", " echo ",
			} {
				if !strings.Contains(shown, want) {
					t.Errorf("%q is not on the normal screen afterwards:\n%s", want, shown)
				}
			}
			if n := strings.Count(shown, "Serving Benchmark Result"); n != 1 {
				t.Errorf("the report was printed %d times", n)
			}
		})
	}
}

// A terminal that stops taking output changes nothing for the load, and cannot keep the program from ending.
func TestStalledTerminal(t *testing.T) {
	t.Parallel()
	// The pane's own terminal is not read either: tmux is stopped in its tracks.
	x := open(t, 120, 40, `"$BENCHTOP" demo --duration 4s`)
	x.wait("RUN")
	pid := x.pid()
	server := childOf(t, strconv.Itoa(pid), "simulate")
	tmux, err := strconv.Atoi(strings.TrimSpace(x.tmux("display-message", "-p", "#{pid}")))
	if err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(tmux, syscall.SIGSTOP)
	defer syscall.Kill(tmux, syscall.SIGCONT)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if packed, _ := filepath.Glob(filepath.Join(x.dir, "benchtop-results", "*.gz")); len(packed) == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the run did not end by itself")
		}
	}
	_ = syscall.Kill(pid, syscall.SIGTERM)
	gone(t, server)
	for deadline := time.Now().Add(10 * time.Second); alive(pid); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the program waits for the terminal")
		}
	}
	if s, _ := readSaved(t, x.dir); s.Completed == 0 || s.Benchtop.Interrupted != nil {
		t.Errorf("completed %d, interrupted %+v", s.Completed, s.Benchtop.Interrupted)
	}
}

// alive reports whether a process still runs; one that ended but was not waited for does not.
func alive(pid int) bool {
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(state)), "Z")
}

// With --exit nobody has to press a key.
func TestExitByItself(t *testing.T) {
	t.Parallel()
	x := open(t, 80, 24, `"$BENCHTOP" demo --duration 3s --exit`)
	x.wait("RUN")
	if code := x.ended(); code != exitFine {
		t.Errorf("exit code %d", code)
	}
	if s, _ := readSaved(t, x.dir); s.Completed == 0 || s.Benchtop.Interrupted != nil {
		t.Errorf("completed %d, interrupted %+v", s.Completed, s.Benchtop.Interrupted)
	}
}

// The third q leaves at once, and the journal has what was measured.
func TestThirdTimeLeavesAtOnce(t *testing.T) {
	t.Parallel()
	// All at once, as an impatient user's keys arrive over a slow line.
	x := open(t, 100, 30, `"$BENCHTOP" demo --duration 25s`)
	x.wait("RUN")
	server := childOf(t, strconv.Itoa(x.pid()), "simulate")
	time.Sleep(2 * time.Second)
	x.press("q", "q", "q", "q")
	if code := x.ended(); code != exitAborted {
		t.Errorf("exit code %d, want %d", code, exitAborted)
	}
	gone(t, server)
	if shown := x.history(); !strings.Contains(shown, "what was measured is in") && !strings.Contains(shown, "result saved to") {
		t.Errorf("nothing says where the measurements are:\n%s", shown)
	}
}

// The terminal itself goes away, as when an SSH connection drops: the run ends in order and is saved.
func TestHangUp(t *testing.T) {
	t.Parallel()
	x := open(t, 100, 30, `"$BENCHTOP" demo --duration 25s`)
	x.wait("RUN")
	pid := x.pid()
	server := childOf(t, strconv.Itoa(pid), "simulate")
	time.Sleep(2 * time.Second)
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
	dir := t.TempDir()
	c := exec.Command("nohup", program(t), "demo", "--no-tui", "--duration", "4s", "--result-dir", filepath.Join(dir, "benchtop-results"))
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	childOf(t, strconv.Itoa(c.Process.Pid), "simulate")
	time.Sleep(time.Second)
	_ = c.Process.Signal(syscall.SIGHUP)
	if err := c.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
	if s, _ := readSaved(t, dir); s.Benchtop.Interrupted != nil || s.Completed == 0 {
		t.Errorf("completed %d, interrupted %+v", s.Completed, s.Benchtop.Interrupted)
	}
}

// After kill -9 the journal gives every request that was over a second before, and no server is left.
func TestKillNine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := exec.Command(program(t), "demo", "--no-tui", "--progress", "100ms", "--duration", "20s", "--result-dir", dir)
	lines, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	server := childOf(t, strconv.Itoa(c.Process.Pid), "simulate")
	type report struct {
		at   time.Time
		done int
	}
	var reports []report
	for text := bufio.NewScanner(lines); text.Scan(); {
		m := regexp.MustCompile(`done (\d+) `).FindStringSubmatch(text.Text())
		if m == nil {
			continue
		}
		n, _ := strconv.Atoi(m[1])
		reports = append(reports, report{time.Now(), n})
		if time.Since(reports[0].at) > 5*time.Second {
			break
		}
	}
	killed := time.Now()
	_ = c.Process.Kill()
	_ = c.Wait()
	gone(t, server)
	atLeast := 0
	for _, r := range reports {
		if killed.Sub(r.at) >= time.Second {
			atLeast = r.done
		}
	}
	if atLeast == 0 {
		t.Fatalf("nothing was done a second before the kill: %v", reports)
	}
	journals, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if len(journals) != 1 {
		t.Fatalf("journals %v", journals)
	}
	for _, file := range []string{journals[0], strings.TrimSuffix(journals[0], "l")} {
		r := run("report", file)
		r.expect(t, exitFine, "the process was killed")
		m := regexp.MustCompile(`Successful requests: +(\d+)`).FindStringSubmatch(r.stdout)
		if m == nil {
			t.Fatalf("no report from %s", file)
		}
		if n, _ := strconv.Atoi(m[1]); n < atLeast {
			t.Errorf("report %s has %d requests, %d were over a second before the kill", file, n, atLeast)
		}
	}
}

// The command of the README, without a terminal: a report on standard output, and a result whose timeline shows how time
// to first token takes off.
func TestDemoBends(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var out, progress bytes.Buffer
	c := exec.Command(program(t), "demo", "--no-tui", "--duration", "20s", "--result-dir", filepath.Join(dir, "benchtop-results"))
	c.Stdout, c.Stderr = &out, &progress
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, progress.String())
	}
	if !strings.Contains(out.String(), "Serving Benchmark Result") || strings.Count(progress.String(), "in flight") < 3 {
		t.Errorf("stdout:\n%s\nstderr:\n%s", out.String(), progress.String())
	}
	s, _ := readSaved(t, dir)
	median := func(from, to int) float64 {
		var all []float64
		for _, w := range s.Benchtop.Timeline[from:to] {
			if w.TTFT != nil {
				all = append(all, *w.TTFT)
			}
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	if early, late := median(1, 8), median(18, 20); late < 3*early {
		t.Errorf("median TTFT %v ms early, %v ms late: it did not take off", early, late)
	}
	if s.Benchtop.Interrupted != nil {
		t.Errorf("interrupted: %+v", s.Benchtop.Interrupted)
	}
}
