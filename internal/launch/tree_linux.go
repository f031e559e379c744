package launch

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// guardName is what the system calls the guard's process.
const guardName = "server-guard"

// start runs a command in a session of its own. Descendants that lose their parent become children of this process,
// which reaps all of them; it has no other children. The caller holds its thread, with whose end the system kills the
// command.
func start(command []string, prints *os.File) (*tree, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("taking over its descendants: %w", err)
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return nil, err
	}
	// or killing this program by its name would kill the guard too
	_ = os.WriteFile("/proc/self/comm", []byte(guardName), 0)
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer nothing.Close()
	pid, err := syscall.ForkExec(path, command, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{nothing.Fd(), prints.Fd(), prints.Fd()},
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t := &tree{pid: pid, ended: make(chan string, 1), gone: make(chan struct{})}
	go t.reap()
	return t, nil
}

// reap waits for all descendants.
func (t *tree) reap() {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil: // no children, so no descendants
			close(t.gone)
			return
		case pid == t.pid && status.Signaled():
			t.ended <- fmt.Sprintf("was ended by a signal (%s)", status.Signal())
		case pid == t.pid:
			t.ended <- fmt.Sprintf("exited with status %d", status.ExitStatus())
		}
	}
}

// ask sends SIGTERM to the group of the command, and to each descendant with a group of its own.
func (t *tree) ask() {
	_ = syscall.Kill(-t.pid, syscall.SIGTERM)
	for _, pid := range descendants(os.Getpid()) {
		if group, err := syscall.Getpgid(pid); err == nil && group != t.pid {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}
}

func (t *tree) kill() {
	_ = syscall.Kill(-t.pid, syscall.SIGKILL)
	for _, pid := range descendants(os.Getpid()) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// left names the processes that remain.
func (t *tree) left() string { return strings.Trim(fmt.Sprint(descendants(os.Getpid())), "[]") }
