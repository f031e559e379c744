//go:build !unix

package launch

import (
	"fmt"
	"os"
	"os/exec"
)

// start runs a command. It cannot be asked to end here, and its descendants are beyond reach.
func start(command []string, prints *os.File) (*tree, error) {
	c := exec.Command(command[0], command[1:]...)
	c.Stdout, c.Stderr = prints, prints
	if err := c.Start(); err != nil {
		return nil, err
	}
	t := &tree{pid: c.Process.Pid, ended: make(chan string, 1), gone: make(chan struct{})}
	go func() {
		_ = c.Wait()
		t.ended <- fmt.Sprintf("exited with status %d", c.ProcessState.ExitCode())
		close(t.gone)
	}()
	return t, nil
}

func (t *tree) ask()  { t.kill() }
func (t *tree) kill() { killGroup(t.pid) }

// left names the processes that remain.
func (t *tree) left() string { return fmt.Sprint(t.pid) }

// apart has no meaning here.
func apart(*exec.Cmd) {}

// killGroup ends the process.
func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}
