package telemetry

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// endWithParent has a child killed when the thread that started it ends, however the process ends.
func endWithParent(child *syscall.SysProcAttr) { child.Pdeathsig = syscall.SIGKILL }

// suspendedNow is the time that the machine was suspended since it started, in which only one of the two clocks goes
// on. That clock is read first, so that time lost between the readings makes the result too small.
func suspendedNow() time.Duration {
	var all, awake unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &all) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &awake) != nil {
		return 0
	}
	return time.Duration(all.Nano() - awake.Nano())
}
