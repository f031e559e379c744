package tui

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"benchtop/metrics"
)

// terminal opens a pseudo-terminal whose other side says nothing.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	master = os.NewFile(uintptr(fd), "ptmx")
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// silent runs a command on a terminal of 80 by 24 that never answers, and returns what it said and when the words came. The
// question for the background colour, which Bubble Tea would ask before main if it were not for the package noquery, costs
// five seconds there.
func silent(t *testing.T, cmd *exec.Cmd, words string) (said []byte, after time.Duration) {
	t.Helper()
	master, slave := terminal(t)
	defer master.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	// The question is asked only in the foreground of one's own terminal.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	env := slices.DeleteFunc(os.Environ(), func(s string) bool {
		name, _, _ := strings.Cut(s, "=")
		return slices.Contains([]string{"CI", "TERM", "TMUX", "NO_COLOR", "COLORTERM", "GOCOVERDIR"}, name)
	})
	cmd.Env = append(env, append(cmd.Env, "TERM=xterm-256color")...)
	read := make(chan struct{})
	began := time.Now()
	go func() {
		defer close(read)
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
			said = append(said, b[:n]...)
			if after == 0 && bytes.Contains(said, []byte(words)) {
				after = time.Since(began)
			}
			if err != nil {
				return
			}
		}
	}()
	err := cmd.Run()
	slave.Close()
	<-read
	if err != nil {
		t.Fatalf("%v, said %q", err, said)
	}
	return said, after
}

// atOnce runs a command until it says the words within a second: of five tries on a busy machine one will, while a program
// that waits for an answer never does.
func atOnce(t *testing.T, command func() *exec.Cmd, words string) {
	t.Helper()
	for try := 1; ; try++ {
		said, after := silent(t, command(), words)
		switch {
		case bytes.Contains(said, []byte("\x1b]1")) || bytes.Contains(said, []byte("\x1b[6n")):
			t.Fatalf("asked the terminal a question: %.80q", said)
		case after == 0:
			t.Fatalf("said %q, want %q", said, words)
		case after < time.Second:
			return
		case try == 5:
			t.Fatalf("%s until %q", after, words)
		}
	}
}

// TestNoQueryAtStart starts a program that imports the dashboard, and one that draws it.
func TestNoQueryAtStart(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for what, words := range map[string]string{"ready": "ready", "dashboard": "2151"} {
		atOnce(t, func() *exec.Cmd {
			cmd := exec.Command(self)
			// On a busy machine the terminal library closes its input while it still reads it, which the race detector
			// would report onto the terminal. What is looked at here is what the program asks the terminal.
			cmd.Env = []string{childEnv + "=" + what, "GORACE=exitcode=0 log_path=" + filepath.Join(t.TempDir(), "race")}
			return cmd
		}, words)
	}
}

// TestHelpAtOnce asks the real program for help.
func TestHelpAtOnce(t *testing.T) {
	program := filepath.Join(t.TempDir(), "benchtop")
	if out, err := exec.Command("go", "build", "-o", program, "benchtop").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for words, args := range map[string][]string{"usage:": {"--help"}, "--request-rate": {"serve", "--help"}} {
		atOnce(t, func() *exec.Cmd { return exec.Command(program, args...) }, words)
	}
}

// TestHangup takes the terminal away from a dashboard.
func TestHangup(t *testing.T) {
	master, slave := terminal(t)
	defer slave.Close()
	snapshots := make(chan metrics.Snapshot, 1)
	snapshots <- mid()
	left := make(chan error, 1)
	go func() {
		left <- Run(context.Background(), Options{
			Snapshots: snapshots, Control: &control{}, Input: slave, Output: slave, HeaderEvery: 20 * time.Millisecond,
		})
	}()
	seen := make([]byte, 0, 1<<16)
	for !bytes.Contains(seen, []byte("2151")) {
		n, err := master.Read(seen[len(seen):cap(seen)])
		if err != nil || n == 0 {
			t.Fatalf("%v after %q", err, seen)
		}
		seen = seen[:len(seen)+n]
	}
	master.Close()
	snapshots <- bad()
	select {
	case err := <-left:
		if err == nil {
			t.Error("Run returned as if the user had left")
		}
	case <-time.After(3 * time.Second):
		t.Fatal("Run went on without a terminal")
	}
}
