//go:build unix

package launch

import (
	"os/exec"
	"syscall"
)

// apart puts a guard into a session of its own, so that neither Ctrl-C nor the loss of the terminal reaches it.
func apart(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// killGroup ends the group of processes that a process leads.
func killGroup(pid int) {
	if pid > 1 {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
}
