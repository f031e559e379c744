//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// detach keeps a child out of this process group, so that Ctrl-C at the terminal does not reach it.
func detach(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
