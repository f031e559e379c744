//go:build unix

package telemetry

import (
	"time"

	"golang.org/x/sys/unix"
)

// processCPU is the time all threads spent on a core since the process began.
func processCPU() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
