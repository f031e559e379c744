//go:build unix

package server

import (
	"os/exec"
	"syscall"
)

// inGroup gives a command a process group of its own, which its context ends with it.
func inGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
