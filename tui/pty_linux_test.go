package tui

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/tui/tuitest"
)

// terminal opens a pseudo-terminal whose other side is silent.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	fd := assert.Must(unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0))(t)
	master = os.NewFile(uintptr(fd), "ptmx")
	assert.Fine(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n := assert.Must(unix.IoctlGetInt(fd, unix.TIOCGPTN))(t)
	slave = assert.Must(os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	assert.Fine(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	return master, slave
}

// questions are the beginnings of queries of a terminal: of its colours, its cursor, its kind and its abilities. Bubble
// Tea would ask for the background colour before main if it were not for the package noquery, and wait five seconds for
// the answer.
var questions = []string{"\x1b]1", "\x1b]4;", "\x1b[6n", "\x1b[5n", "\x1b[?6n", "\x1b[c", "\x1b[0c", "\x1b[>", "\x1b[=",
	"\x1b[?u", "\x1bP"}

// startOnTerminal starts a command on a terminal of 80 by 24 of its own.
func startOnTerminal(t *testing.T, cmd *exec.Cmd) (master, slave *os.File) {
	t.Helper()
	master, slave = terminal(t)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	// The question is asked only in the foreground of one's own terminal.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	env := slices.DeleteFunc(os.Environ(), func(s string) bool {
		name, _, _ := strings.Cut(s, "=")
		return slices.Contains([]string{"CI", "TERM", "TMUX", "NO_COLOR", "COLORTERM", "COLORFGBG", "GOCOVERDIR"}, name)
	})
	cmd.Env = append(env, append(cmd.Env, "TERM=xterm-256color")...)
	assert.Fine(t, cmd.Start())
	return master, slave
}

// silent runs a command on a terminal of 80 by 24 that never answers. It must say the words and end in order without
// having asked anything. One that would go on is interrupted when it has said them.
func silent(t *testing.T, cmd *exec.Cmd, words string, goesOn bool) {
	t.Helper()
	master, slave := startOnTerminal(t, cmd)
	defer master.Close()
	var said []byte
	read := make(chan struct{})
	go func() {
		defer close(read)
		b := make([]byte, 4096)
		for seen := false; ; {
			n, err := master.Read(b)
			said = append(said, b[:n]...)
			if !seen && bytes.Contains(said, []byte(words)) {
				seen = true
				if goesOn {
					_ = cmd.Process.Signal(os.Interrupt)
				}
			}
			if err != nil {
				return
			}
		}
	}()
	err := cmd.Wait()
	slave.Close()
	<-read
	said = bytes.Replace(said, []byte("\x1b]11;?\x1b\\"), nil, 1) // the dashboard asks once, and does not wait
	for _, q := range questions {
		if bytes.Contains(said, []byte(q)) {
			t.Fatalf("asked the terminal %q: %.80q", q, said)
		}
	}
	if err != nil || !bytes.Contains(said, []byte(words)) {
		t.Fatalf("%v, said %q, want %q", err, said, words)
	}
}

// TestNoQueryAtStart starts a program that imports the dashboard, and one that draws it.
func TestNoQueryAtStart(t *testing.T) {
	self := assert.Must(os.Executable())(t)
	for what, words := range map[string]string{"ready": "ready", "dashboard": "2348"} {
		cmd := exec.Command(self)
		// On a busy machine the terminal library closes its input while it still reads it, which the race detector
		// would report onto the terminal. This test is about queries of the terminal only.
		cmd.Env = []string{childEnv + "=" + what, "GORACE=exitcode=0 log_path=" + filepath.Join(t.TempDir(), "race")}
		silent(t, cmd, words, what == "dashboard")
	}
}

// A terminal with a white background says so in the middle of what is typed: the colours change, and the keys arrive.
func TestLightTerminal(t *testing.T) {
	self := assert.Must(os.Executable())(t)
	cmd := exec.Command(self)
	cmd.Env = []string{childEnv + "=dashboard", "GORACE=exitcode=0 log_path=" + filepath.Join(t.TempDir(), "race")}
	master, slave := startOnTerminal(t, cmd)
	defer master.Close()
	var said []byte
	until := func(words string) {
		b := make([]byte, 4096)
		for !bytes.Contains(said, []byte(words)) {
			n, err := master.Read(b)
			if err != nil {
				t.Fatalf("%v before %q in %q", err, words, said)
			}
			said = append(said, b[:n]...)
		}
	}
	until("\x1b]11;?\x1b\\")
	said = nil
	assert.Must(master.WriteString("3\x1b]11;rgb:ffff/ffff/ffff\x1b\\5"))(t)
	until("[5 Requests]")
	if labels := "\x1b[38;5;241m"; !bytes.Contains(said, []byte(labels)) || bytes.Contains(said, []byte("rgb")) {
		t.Errorf("no dark labels, or the answer as text, in %q", said)
	}
	_ = cmd.Process.Signal(os.Interrupt)
	go func() { _, _ = io.Copy(io.Discard, master) }()
	assert.Fine(t, cmd.Wait())
	slave.Close()
}

// A dashboard that is over at once still takes the answer, which would be echoed, and typed into the shell, once it has
// left.
func TestAnswerAfterTheEnd(t *testing.T) {
	self := assert.Must(os.Executable())(t)
	for _, answers := range []bool{true, false} {
		cmd := exec.Command(self)
		cmd.Env = []string{childEnv + "=over", "GORACE=exitcode=0 log_path=" + filepath.Join(t.TempDir(), "race")}
		master, slave := startOnTerminal(t, cmd)
		left := make(chan error, 1)
		go func() {
			left <- cmd.Wait()
			time.Sleep(300 * time.Millisecond) // for the echo of what came too late
			slave.Close()
		}()
		var said []byte
		b := make([]byte, 4096)
		for asked := false; ; {
			n, err := master.Read(b)
			if said = append(said, b[:n]...); err != nil {
				break
			}
			if answers && !asked && bytes.Contains(said, []byte("\x1b]11;?\x1b\\")) {
				asked = true
				time.AfterFunc(200*time.Millisecond,
					func() { _, _ = master.WriteString("\x1b]11;rgb:ffff/ffff/ffff\x1b\\") })
			}
		}
		if err := <-left; err != nil || bytes.Contains(said, []byte("rgb:")) {
			t.Errorf("answers %v: %v, said %q", answers, err, said)
		}
		master.Close()
	}
}

// TestHangup takes the terminal away from a dashboard.
func TestHangup(t *testing.T) {
	master, slave := terminal(t)
	defer slave.Close()
	snapshots := make(chan metrics.Snapshot, 1)
	snapshots <- tuitest.Mid()
	left := make(chan error, 1)
	go func() {
		left <- Run(context.Background(), Options{
			Snapshots: snapshots, Control: &control{}, Input: slave, Output: slave, HeaderEvery: 20 * time.Millisecond,
		})
	}()
	seen := make([]byte, 0, 1<<16)
	for !bytes.Contains(seen, []byte("2348")) {
		n, err := master.Read(seen[len(seen):cap(seen)])
		if err != nil || n == 0 {
			t.Fatalf("%v after %q", err, seen)
		}
		seen = seen[:len(seen)+n]
	}
	master.Close()
	snapshots <- tuitest.Bad()
	select {
	case err := <-left:
		if err == nil {
			t.Error("Run returned as if the user had left")
		}
	case <-time.After(time.Minute):
		t.Fatal("Run went on without a terminal")
	}
}
