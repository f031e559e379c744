//go:build unix

package telemetry

import (
	"time"

	"golang.org/x/sys/unix"
)

// ProcessCPU is the time all threads spent on a core since the process began, for the program and the system; 0 where the
// system does not tell.
func ProcessCPU() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
