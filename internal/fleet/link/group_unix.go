//go:build unix

package link

import (
	"os/exec"
	"syscall"
)

// inGroup keeps a process out of this process group, so that Ctrl-C at the terminal does not reach it.
func inGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
