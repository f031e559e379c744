package telemetry

import (
	"os/exec"
	"syscall"
)

// isolate keeps a child out of our process group, so that a Ctrl-C at the terminal is for us alone, and has it killed when
// the thread that started it ends, however we end.
func isolate(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
