//go:build unix && !linux

package telemetry

import (
	"os/exec"
	"syscall"
)

// isolate keeps a child out of our process group, so that a Ctrl-C at the terminal is for us alone. If we are killed, the
// child ends with the next line it cannot write.
func isolate(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
