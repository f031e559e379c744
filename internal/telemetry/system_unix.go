//go:build unix

package telemetry

import (
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ProcessCPU is the time that all threads spent on a core since the process began, for the program and the system; 0
// where the system does not report it.
func ProcessCPU() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// fileLimits are the soft and the hard limit of open files. The Go runtime raises the first to the
// second when it starts.
func fileLimits() (soft, hard uint64, known bool) {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return 0, 0, false
	}
	most := mostFiles()
	return min(uint64(l.Cur), most), min(uint64(l.Max), most), true
}

// isolate keeps a child out of our process group, so that a Ctrl-C at the terminal reaches this process alone. A child
// that outlives this process ends with the next line that it cannot write, if endWithParent does not end it before.
func isolate(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(c.SysProcAttr)
}

// kill ends a child that was not waited for yet, with its process group.
func kill(c *exec.Cmd) {
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // it may have ended by itself
}
