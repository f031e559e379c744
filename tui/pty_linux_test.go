package tui

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
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

// TestNoQueryAtStart starts a program that imports the dashboard on a terminal that never answers. Without the package
// noquery it would ask for the background colour and wait five seconds.
func TestNoQueryAtStart(t *testing.T) {
	master, slave := terminal(t)
	defer master.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	// The question is asked only in the foreground of one's own terminal.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	cmd.Env = slices.DeleteFunc(os.Environ(), func(s string) bool {
		return strings.HasPrefix(s, "CI=") || strings.HasPrefix(s, "TERM=") || strings.HasPrefix(s, "GOCOVERDIR=")
	})
	cmd.Env = append(cmd.Env, "TERM=xterm-256color", childEnv+"=1")
	said := make(chan []byte)
	go func() {
		var all []byte
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
			all = append(all, b[:n]...)
			if err != nil {
				said <- all
				return
			}
		}
	}()
	began := time.Now()
	err = cmd.Run()
	took := time.Since(began)
	slave.Close()
	all := <-said
	if err != nil {
		t.Fatalf("%v, said %q", err, all)
	}
	if took > 2*time.Second {
		t.Errorf("took %s to start", took)
	}
	if !bytes.Contains(all, []byte("ready")) || bytes.Contains(all, []byte("\x1b]1")) || bytes.Contains(all, []byte("\x1b[6n")) {
		t.Errorf("said %q, want only \"ready\"", all)
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
