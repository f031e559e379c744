//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// detach keeps a child out of our process group: a Ctrl-C at the terminal is for us alone.
func detach(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
