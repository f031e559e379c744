//go:build unix

package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
)

// asProgram is the variable that makes this test binary the program. Commands that start a process of their own start
// the executable they are in.
const asProgram = "BENCHTOP_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	// The tests of the real program wait most of the time, whatever the number of cores.
	flag.Parse()
	_ = os.Setenv("HF_HUB_OFFLINE", "1") // no test asks the hub
	_ = os.Setenv(asProgram, "1")
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			// As in the background of a script. Programs that are started here would ignore it too without a listener.
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	if n := flag.Lookup("test.parallel"); n.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		_ = n.Value.Set("8")
	}
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
	out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", path, "benchtop").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	built.Store(true)
	return path, nil
})

func program(t *testing.T) string {
	t.Helper()
	path := assert.Must(binary())(t)
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
		ci.Skip(t, "tmux is not installed")
	}
	path := program(t)
	x := &terminal{t: t, socket: fmt.Sprintf("benchtop-%d-%d", os.Getpid(), time.Now().UnixNano()), dir: t.TempDir()}
	t.Cleanup(func() { _ = exec.Command("tmux", "-L", x.socket, "kill-server").Run() })
	config := filepath.Join(t.TempDir(), "tmux.conf")
	assert.Fine(t, os.WriteFile(config, []byte("set -g default-terminal screen-256color\n"), 0o644))
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
	if !eventually(func() bool { return strings.Contains(x.screen(), text) }) {
		x.t.Fatalf("%q did not appear on\n%s", text, x.screen())
	}
}

// longestWait is how long a test waits for what has to come: only one that fails ever takes that long, so it may be
// long on any machine.
const longestWait = 2 * time.Minute

// eventually polls until a condition holds; false if it does not within longestWait.
func eventually(holds func() bool) bool {
	for deadline := time.Now().Add(longestWait); time.Now().Before(deadline); time.Sleep(30 * time.Millisecond) {
		if holds() {
			return true
		}
	}
	return false
}

// epilogue tells the exit status on the screen and keeps the screen there. tmux can tell it too, but now and then does
// not.
const epilogue = `; echo "ended with $?."; exec sleep 300`

var endedWith = regexp.MustCompile(`ended with (\d+)\.`)

// ended waits for the end of the program and returns its exit status.
func (x *terminal) ended() int {
	x.t.Helper()
	var told []string
	if !eventually(func() bool { told = endedWith.FindStringSubmatch(x.screen()); return told != nil }) {
		x.t.Fatalf("the program did not end; screen:\n%s", x.screen())
	}
	n, _ := strconv.Atoi(told[1])
	return n
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
	child := 0
	if !eventually(func() bool {
		out, _ := exec.Command("pgrep", "-P", parent, "-f", word).Output()
		n, err := strconv.Atoi(strings.TrimSpace(string(out)))
		child = n
		return err == nil
	}) {
		t.Fatalf("process %s has no child %q", parent, word)
	}
	return child
}

// savedResult reads the one result in the directory.
type savedResult struct {
	Completed int
	Benchtop  struct {
		Interrupted *struct {
			Reason            string
			Cancelled, Unsent int
		}
		Timeline []struct {
			TTFT *float64 `json:"ttft_p50_ms"`
		}
		Events []struct{ Text string }
	}
}

func readSaved(t *testing.T, dir string) (savedResult, []string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "benchtop-results", "*"))
	var s savedResult
	for _, f := range files {
		if !strings.HasSuffix(f, ".json") {
			continue
		}
		data := assert.Must(os.ReadFile(f))(t)
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
	}
	if len(files) != 2 {
		t.Errorf("files %v, want a result and its journal", files)
	}
	return s, files
}

// someDone waits until the journal of a run in the directory has a request.
func someDone(t *testing.T, dir string) {
	t.Helper()
	inJournal(t, filepath.Join(dir, "benchtop-results"), 1, `{"index":`)
}

// inJournal waits until the one journal in a directory, of a run that is on, has a text so many times.
func inJournal(t *testing.T, dir string, n int, text string) {
	t.Helper()
	if !eventually(func() bool {
		journals, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		if len(journals) != 1 {
			return false
		}
		data, err := os.ReadFile(journals[0])
		return err == nil && bytes.Count(data, []byte(text)) >= n
	}) {
		t.Fatalf("%s is not in the journal %d times", text, n)
	}
}

// gone waits until a process is no more. One that ended but was not waited for counts as gone.
func gone(t *testing.T, pid int) {
	t.Helper()
	if !eventually(func() bool {
		state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
		return err != nil || strings.HasPrefix(strings.TrimSpace(string(state)), "Z")
	}) {
		t.Errorf("process %d does not end", pid)
	}
}
