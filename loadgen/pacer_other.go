//go:build !linux

package loadgen

var systemPacers []string

func newSystemSleeper() (sleeper, error) { return newTimerSleeper(), nil }
