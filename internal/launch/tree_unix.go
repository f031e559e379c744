//go:build unix && !linux

package launch

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// start runs a command in a session of its own. Descendants in another session are beyond reach.
func start(command []string, prints *os.File) (*tree, error) {
	c := exec.Command(command[0], command[1:]...)
	c.Stdout, c.Stderr = prints, prints
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		return nil, err
	}
	t := &tree{pid: c.Process.Pid, ended: make(chan string, 1), gone: make(chan struct{})}
	go func() {
		_ = c.Wait()
		if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			t.ended <- fmt.Sprintf("was ended by a signal (%s)", status.Signal())
		} else {
			t.ended <- fmt.Sprintf("exited with status %d", c.ProcessState.ExitCode())
		}
		for syscall.Kill(-t.pid, 0) == nil {
			time.Sleep(20 * time.Millisecond)
		}
		close(t.gone)
	}()
	return t, nil
}

func (t *tree) ask()  { _ = syscall.Kill(-t.pid, syscall.SIGTERM) }
func (t *tree) kill() { killGroup(t.pid) }

// left names the processes that remain.
func (t *tree) left() string { return fmt.Sprintf("of group %d", t.pid) }
