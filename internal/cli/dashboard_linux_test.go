package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"benchtop/internal/attach"
	"benchtop/internal/session"
)

// shown is a command line of this process on a pseudo-terminal.
type shown struct {
	t      *testing.T
	screen screenOf
	keys   *os.File
	stderr heard
	code   chan int
}

// onScreen performs a command line on a terminal. The dashboards draw on the standard streams, so that no test that
// uses it may run beside others.
func onScreen(t *testing.T, args ...string) *shown {
	t.Helper()
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("LC_ALL", "C.UTF-8")
	t.Setenv("CI", "")
	t.Setenv(asProgram, "1")
	master, slave := pseudoTerminal(t)
	x := &shown{t: t, keys: master, code: make(chan int, 1)}
	stdin, stdout := os.Stdin, os.Stdout
	os.Stdin, os.Stdout = slave, slave
	go x.screen.read(master)
	// The terminal itself is left to the garbage collector: Bubble Tea may ask for its size when the command is over.
	t.Cleanup(func() { os.Stdin, os.Stdout = stdin, stdout })
	go func() { x.code <- Main(args, slave, slave, &x.stderr) }()
	return x
}

func (x *shown) wait(text string) { x.t.Helper(); x.screen.wait(x.t, text) }

func (x *shown) press(keys string) { _, _ = x.keys.WriteString(keys) }

// ended waits for the end of the command.
func (x *shown) ended(want int) {
	x.t.Helper()
	select {
	case code := <-x.code:
		if code != want {
			x.t.Errorf("exit code %d, want %d: %s", code, want, x.stderr.String())
		}
	case <-time.After(longestWait):
		x.t.Fatalf("it does not end: %s", x.stderr.String())
	}
}

// says expects words on standard error.
func (x *shown) says(words ...string) {
	x.t.Helper()
	for _, w := range words {
		if said := x.stderr.String(); !strings.Contains(said, w) {
			x.t.Errorf("%q is missing in %q", w, said)
		}
	}
}

// A demo runs against a server of its own, records its screen, saves its result, and can be played again.
func TestDemoAndReplay(t *testing.T) {
	t.Chdir(t.TempDir())
	ownRuns(t)
	x := onScreen(t, strings.Fields("demo --duration 1s --exit --quiet --no-plots --record run.cast")...)
	x.wait("Serving Benchmark Result")
	x.ended(session.ExitFine)
	x.says("result saved to ")
	cast, err := os.ReadFile("run.cast")
	if err != nil || !bytes.HasPrefix(cast, []byte(`{"version"`)) || !bytes.Contains(cast, []byte("Overview")) {
		t.Errorf("the recording (%v) is %.200q", err, cast)
	}
	_, file, _ := strings.Cut(x.stderr.String(), "result saved to ")
	file, _, _ = strings.Cut(file, "\n")
	x = onScreen(t, "report", "--no-plots", "--baseline", file, file)
	x.wait("REPLAY")
	x.press("q")
	x.wait("Serving Benchmark Result")
	x.ended(session.ExitFine)

	x = onScreen(t, "report", "none.json")
	x.ended(session.ExitFailed)
	x.says("none.json", "no such file")
}

// A dashboard can be left before the first request: by q, by a signal, and by what goes wrong.
func TestLeftInThePreparation(t *testing.T) {
	for _, c := range []struct {
		name  string
		leave func(x *shown)
		code  int
		words string
	}{
		{"q", func(x *shown) { x.press("q") }, session.ExitAborted, "stopped before the first request (interrupt)"},
		{"SIGTERM", func(*shown) { _ = syscall.Kill(os.Getpid(), syscall.SIGTERM) }, session.ExitTerminated,
			"stopped before the first request (terminated)"},
		{"no model", nil, session.ExitFailed, "it lists none; name the model with --model"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server, asked, letGo := undecided(t)
			if c.leave == nil {
				server = recorded(t, func(w http.ResponseWriter, _ *http.Request) bool {
					fmt.Fprint(w, `{"data": []}`)
					return true
				})
			}
			x := onScreen(t,
				strings.Fields("serve --no-save --base-url "+server.url+" --num-prompts 9 "+shortPrompts)...)
			if c.leave != nil {
				x.wait("PREPARING")
				<-asked
				c.leave(x)
			}
			x.ended(c.code)
			letGo()
			x.says(c.words)
		})
	}
	x := onScreen(t, "serve", "--no-save", "--record", filepath.Join("no", "such", "run.cast"))
	x.ended(session.ExitUsage)
	x.says("--record: ", "choose another file")
}

// A run is drained by q. Warnings of the preparation are held while the dashboard stands, and come before the report.
func TestDrainedOnScreen(t *testing.T) {
	ownRuns(t)
	t.Chdir(t.TempDir())
	const answered = 3
	server, letGo := held(t, answered)
	x := onScreen(t,
		strings.Fields(
			heldRun(server)+" --request-rate 20 --num-prompts 9000 --max-concurrency 5 --no-plots --model other")...)
	x.wait("RUN")
	if !eventually(func() bool { return len(server.all()) > answered }) {
		t.Fatal("no request is in flight: there is nothing to drain")
	}
	x.press("q")
	x.wait("DRAINING")
	letGo()
	x.wait("DONE")
	x.press("q")
	x.wait("Serving Benchmark Result")
	x.ended(session.ExitFine)
	x.says("WARNING: --model other: ", "result saved to ")
}

// The form makes a command line of serve, which it shows for the shell's history, and can be left without a run.
func TestFormOnScreen(t *testing.T) {
	x := onScreen(t)
	x.wait("Server")
	x.press("\x1b")
	x.ended(session.ExitFine)

	server, asked, letGo := undecided(t)
	defer letGo()
	x = onScreen(t)
	x.wait("Server")
	x.press("\x15" + server.url) // Ctrl-U
	x.press("\x12")              // Ctrl-R
	<-asked
	x.wait("PREPARING")
	x.press("q")
	x.ended(session.ExitAborted)
	x.says("benchtop serve --base-url "+server.url+" ", "stopped before the first request")
}

// Another terminal sees a run, and leaves it alone.
func TestAttachOnScreen(t *testing.T) {
	ownRuns(t)
	h, err := attach.Listen(joinableRun{}, session.Version())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	x := onScreen(t, "attach", "--list")
	x.wait("a:1     m n    8 users")
	x.ended(session.ExitFine)

	x = onScreen(t, "attach")
	x.wait("8 users")
	x.press("q")
	x.ended(session.ExitFine)

	x = onScreen(t, "attach", filepath.Join(t.TempDir(), "x.sock"))
	x.ended(session.ExitFailed)
	x.says("cannot join the run at ")
}

// A calibration that a signal ends shows what it has so far. On a terminal its progress is one line, cleared at the
// end.
func TestCalibrateOnScreen(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	x := onScreen(t, "calibrate", "--quick")
	if !eventually(func() bool { return strings.Contains(x.stderr.String(), "[1/5]") }) {
		t.Fatalf("it does not get on: %s", x.stderr.String())
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
	x.wait("INCOMPLETE")
	x.ended(session.ExitTerminated)
	x.says("not saved")

	show, done := calibrationProgress(os.Stdout)
	show(2, 5, strings.Repeat("wide", 40))
	done()
	x.wait("\r\x1b[K[2/5] " + strings.Repeat("wide", 18) + "w\r\x1b[K")
}
