//go:build !linux

package loadgen

func pacerKinds(bool) []string { return []string{"timer", "spin"} }

func newSystemSleeper(string) (sleeper, error) { return newTimerSpinSleeper(), nil }
