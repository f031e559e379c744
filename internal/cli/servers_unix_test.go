//go:build unix

package cli

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"benchtop/internal/session"
)

// A server in a process of its own is reached at the address that it names, has no part in this process group, and ends
// with its standard input.
func TestChild(t *testing.T) {
	c, err := startChild("the simulated server", "simulate", "--port", "0", "--exit-with-stdin")
	if err != nil {
		t.Fatal(err)
	}
	defer c.stop()
	r, err := http.Get(c.url + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusOK {
		t.Errorf("status %s", r.Status)
	}
	pid := c.process.Process.Pid
	if group, err := syscall.Getpgid(pid); err != nil || group == syscall.Getpgrp() {
		t.Errorf("process group %d (%v), the same as here", group, err)
	}
	c.stop()
	if state := c.process.ProcessState; state == nil || !state.Exited() || state.ExitCode() != session.ExitFine {
		t.Errorf("it ended with %v", state)
	}
	c.stop() // as the run may end on two ways
}

// A server that does not come up is an error with its words.
func TestChildFails(t *testing.T) {
	_, err := startChild("the simulated server", "--version")
	if err == nil || !strings.HasPrefix(err.Error(), `starting the simulated server: its first line was "benchtop `) {
		t.Errorf("got %v", err)
	}
}

// The exit code of a command that a signal ends is the signal's.
func TestStopped(t *testing.T) {
	codes := map[syscall.Signal]int{
		syscall.SIGINT: session.ExitAborted, syscall.SIGQUIT: session.ExitAborted,
		syscall.SIGTERM: session.ExitTerminated, syscall.SIGHUP: session.ExitHangup,
	}
	for sig, want := range codes {
		var said strings.Builder
		if code := (&session.Environment{Stderr: &said}).Failed(session.StoppedError{By: sig}); code != want ||
			said.String() != "benchtop: stopped ("+sig.String()+")\n" {
			t.Errorf("%v: exit code %d, %q; want %d", sig, code, said.String(), want)
		}
	}
}
