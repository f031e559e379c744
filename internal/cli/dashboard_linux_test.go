package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"benchtop/internal/assert"
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
	t.Setenv("LC_ALL", "C.UTF-8")
	return onPlainScreen(t, args...)
}

// onPlainScreen is onScreen in the locale of the test.
func onPlainScreen(t *testing.T, args ...string) *shown {
	t.Helper()
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("COLORTERM", "")
	t.Setenv("NO_COLOR", "")
	t.Setenv("CI", "")
	master, slave := pseudoTerminal(t)
	x := &shown{t: t, keys: master, code: make(chan int, 1)}
	stdin, stdout := os.Stdin, os.Stdout
	os.Stdin, os.Stdout = slave, slave
	go x.screen.read(master)
	// The terminal itself is left to the garbage collector: Bubble Tea may ask for its size when the command is over.
	t.Cleanup(func() { os.Stdin, os.Stdout = stdin, stdout })
	go func() { x.code <- Main(args, slave, slave, io.MultiWriter(&x.stderr, slave)) }()
	return x
}

func (x *shown) wait(text string) { x.t.Helper(); x.screen.wait(x.t, text) }

func (x *shown) press(keys string) { _, _ = x.keys.WriteString(keys) }

// written is what was written to the terminal so far.
func (x *shown) written() string {
	x.screen.mu.Lock()
	defer x.screen.mu.Unlock()
	return string(x.screen.all)
}

// ended waits for the end of the command, which restores the terminal.
func (x *shown) ended(want int) {
	x.t.Helper()
	select {
	case code := <-x.code:
		assert.Equal(x.t, code, want, "exit code: %s", x.stderr.String())
		settings, err := unix.IoctlGetTermios(int(x.keys.Fd()), unix.TCGETS)
		if err != nil || settings.Lflag&unix.ICANON == 0 || settings.Lflag&unix.ECHO == 0 {
			x.t.Errorf("the terminal is left as %+v, %v", settings, err)
		}
	case <-time.After(longestWait):
		x.t.Fatalf("it does not end: %s", x.stderr.String())
	}
}

// says expects words on standard error, each once.
func (x *shown) says(words ...string) {
	x.t.Helper()
	for _, w := range words {
		if said := x.stderr.String(); strings.Count(said, w) != 1 {
			x.t.Errorf("%q is not once in %q", w, said)
		}
	}
}

var colours = map[string]*regexp.Regexp{
	"true": regexp.MustCompile(`\x1b\[[0-9;]*[34]8;2;[0-9;]*m`),
	"256":  regexp.MustCompile(`\x1b\[[0-9;]*[34]8;5;[0-9;]*m`),
	"16":   regexp.MustCompile(`\x1b\[(?:\d;)*(?:[349]|10)[0-7](?:;[0-9]+)*m`),
}

// isColoured expects colours of one kind. How it is chosen is tested in tui/screen.
func (x *shown) isColoured(mode string) {
	x.t.Helper()
	for kind, pattern := range colours {
		if found := pattern.FindString(x.written()); (found != "") != (kind == mode) {
			x.t.Errorf("colours of mode %s: %q, want mode %s", kind, found, mode)
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
	x.isColoured("256")
	cast, err := os.ReadFile("run.cast")
	if err != nil || !bytes.HasPrefix(cast, []byte(`{"version"`)) || !bytes.Contains(cast, []byte("Overview")) {
		t.Errorf("the recording (%v) is %.200q", err, cast)
	}
	_, file, _ := strings.Cut(x.stderr.String(), "result saved to ")
	file, _, _ = strings.Cut(file, "\n")
	if s, _ := readSaved(t, "."); s.Completed == 0 || s.Benchtop.Interrupted != nil {
		t.Errorf("completed %d, interrupted %+v", s.Completed, s.Benchtop.Interrupted)
	}
	x = onScreen(t, "report", "--no-plots", "--baseline", file, file)
	x.wait("REPLAY")
	x.press(" ")
	x.wait("‖ REPLAY")
	x.press("\x1b[F") // End
	x.wait("whole run · exact")
	x.press("\x1b[H") // Home
	x.wait("00:00/")
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
		{"ctrl+c", func(x *shown) { x.press("\x03") }, session.ExitAborted,
			"stopped before the first request (interrupt)"},
		{"SIGINT", func(*shown) { _ = syscall.Kill(os.Getpid(), syscall.SIGINT) }, session.ExitAborted,
			"stopped before the first request (interrupt)"},
		{"SIGTERM", func(*shown) { _ = syscall.Kill(os.Getpid(), syscall.SIGTERM) }, session.ExitTerminated,
			"stopped before the first request (terminated)"},
		{"SIGHUP", func(*shown) { _ = syscall.Kill(os.Getpid(), syscall.SIGHUP) }, session.ExitHangup,
			"stopped before the first request (hangup)"},
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
}

// What cannot be written is found before anything is asked of the server where that can be, and leaves no profiler
// running on it.
func TestNoPlaceForWhatIsSaved(t *testing.T) {
	t.Chdir(t.TempDir())
	server := recorded(t, func(_ http.ResponseWriter, r *http.Request) bool {
		_ = os.WriteFile("gone", nil, 0o600) // after the command line was checked
		return strings.HasSuffix(r.URL.Path, "_profile")
	})
	args := strings.Fields("serve --num-prompts 2 --profile --base-url " + server.url + " " + shortPrompts)
	x := onScreen(t, append(args, "--no-save", "--record", "no/such/place.cast")...)
	x.ended(session.ExitUsage)
	x.says("--record: ", "choose another file")
	if len(server.paths) > 0 {
		t.Errorf("requests %v, want none", server.paths)
	}

	x = onScreen(t, append(args, "--save-result", "--result-dir", "gone")...)
	x.ended(session.ExitUsage)
	x.says("benchtop: ")
	if stop := slices.Index(server.paths, "POST /stop_profile"); stop < 0 ||
		stop < slices.Index(server.paths, "POST /start_profile") {
		t.Errorf("requests %v, want the profiler stopped", server.paths)
	}

	// A recording that has no room changes nothing else, and is not cut short in silence.
	ownRuns(t)
	const full = "--record /dev/full: no space left on device"
	x = onScreen(t,
		append(args, "--save-result", "--result-dir", "benchtop-results", "--exit", "--record", "/dev/full")...)
	x.ended(session.ExitFine)
	x.says(full)
	if s, _ := readSaved(t, "."); s.Completed != 2 || strings.Count(fmt.Sprint(s.Benchtop.Events), full) != 1 {
		t.Errorf("%d requests completed, log: %v", s.Completed, s.Benchtop.Events)
	}
}

// A run is drained by a signal, and one at its end leaves the screen and changes nothing. Warnings of the preparation
// are held while the dashboard stands, and come before the report. Without UTF-8 in the locale everything is ASCII.
func TestDrainedOnScreen(t *testing.T) {
	ownRuns(t)
	t.Chdir(t.TempDir())
	const answered = 3
	server, letGo := held(t, answered)
	t.Setenv("LC_ALL", "C")
	x := onPlainScreen(t,
		strings.Fields(
			heldRun(server)+" --request-rate 20 --num-prompts 9000 --max-concurrency 5 --no-plots --model other "+
				"--color 16")...)
	x.wait("RUN")
	if !eventually(func() bool { return len(server.all()) > answered }) {
		t.Fatal("no request is in flight: there is nothing to drain")
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
	x.wait("DRAINING")
	letGo()
	x.wait("DONE")
	_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
	x.wait("Serving Benchmark Result")
	x.ended(session.ExitFine)
	x.says("WARNING: --model other: ", "result saved to ")
	x.isColoured("16")
	all := x.written()
	if strings.Index(all, "WARNING: --model other: ") > strings.Index(all, "Serving Benchmark Result") {
		t.Error("the warning comes behind the report")
	}
	all = regexp.MustCompile("\x1b\\][^\a\x1b]*").ReplaceAllString(all, "") // the title
	if i := strings.IndexFunc(all, func(r rune) bool { return r > '~' }); i >= 0 {
		t.Errorf("%q is not ASCII", all[max(0, i-20):min(len(all), i+20)])
	}
	if s, _ := readSaved(t, "."); s.Benchtop.Interrupted == nil ||
		s.Benchtop.Interrupted.Reason != "stopped by the user" || s.Completed <= answered {
		t.Errorf("completed %d, interrupted %+v", s.Completed, s.Benchtop.Interrupted)
	}
}

// The form makes a command line of serve, which it shows for the shell's history and runs, and can be left without.
func TestFormOnScreen(t *testing.T) {
	ownRuns(t)
	t.Chdir(t.TempDir())
	x := onScreen(t)
	x.wait("Server")
	x.press("\x1b")
	x.ended(session.ExitFine)
	for sig, want := range map[syscall.Signal]int{
		syscall.SIGTERM: session.ExitTerminated, syscall.SIGINT: session.ExitAborted,
		syscall.SIGHUP: session.ExitHangup,
	} {
		x := onScreen(t)
		x.wait("Server")
		_ = syscall.Kill(os.Getpid(), sig)
		x.ended(want)
	}

	server, asked, letGo := undecided(t)
	x = onScreen(t)
	x.wait("Server")
	x.press("\x15" + server.url) // Ctrl-U
	x.press("\x12")              // Ctrl-R
	<-asked
	x.wait("PREPARING")
	letGo()
	x.wait("RUN")
	x.press("q")
	x.wait("DONE")
	x.press("q")
	x.ended(session.ExitFine)
	x.says("benchtop serve --base-url "+server.url+" ", "result saved to ")
}

// Another terminal sees a run, and leaves it alone.
func TestAttachOnScreen(t *testing.T) {
	ownRuns(t)
	h := assert.Must(attach.Listen(joinableRun{}, session.Version()))(t)
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
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	x := onScreen(t, "calibrate", "--quick")
	if !eventually(func() bool { return strings.Contains(x.stderr.String(), "[1/5]") }) {
		t.Fatalf("it does not get on: %s", x.stderr.String())
	}
	server := childOf(t, strconv.Itoa(os.Getpid()), "metronome")
	_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
	x.wait("INCOMPLETE")
	x.ended(session.ExitTerminated)
	x.says("not saved")
	gone(t, server)
	if files, _ := os.ReadDir(state); len(files) != 0 {
		t.Errorf("kept: %v", files)
	}

	show, done := calibrationProgress(os.Stdout)
	show(2, 5, strings.Repeat("wide", 40))
	done()
	x.wait("\r\x1b[K[2/5] " + strings.Repeat("wide", 18) + "w\r\x1b[K")
}
