package conn

import (
	"io"
	"time"

	"benchtop/metrics"
)

// stamping is what the connections of a run need together to be stamped by the kernel.
type stamping struct {
	anchor time.Time // where the monotonic clock of wall begins
	wall   *wallClock
	// warm is a socket that asks for stamps all the time. The kernel begins to stamp packets some time after the first
	// socket asked for it, and stops after the last one was closed.
	warm io.Closer
}

// newStamping returns nil, for stamps of our own, unless the kernel's are wanted and to be had.
func newStamping(timestamps string) *stamping {
	if timestamps == metrics.UserStamps {
		return nil
	}
	warm, err := warmStampedSocket()
	if err != nil {
		return nil
	}
	anchor := time.Now()
	return &stamping{anchor: anchor, wall: newWallClock(systemClock(anchor)), warm: warm}
}

// close may be called more than once, and for nil.
func (s *stamping) close() {
	if s != nil {
		_ = s.warm.Close()
	}
}

// clockSteps is how often the wall clock was set so far, as far as it was noticed.
func (s *stamping) clockSteps() int {
	if s == nil {
		return 0
	}
	return s.wall.steps()
}

// KernelStamps reports whether this system's kernel notes when packets arrive, and lets us have it.
func KernelStamps() bool {
	socket, err := openStampedSocket()
	if err != nil {
		return false
	}
	_ = socket.Close()
	return true
}
