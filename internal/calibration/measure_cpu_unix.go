//go:build unix

package calibration

import (
	"syscall"
	"time"
)

// processCPU is the time that this process has computed so far, in user and in system mode.
func processCPU() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
