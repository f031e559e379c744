//go:build !linux

package pace

func kinds(bool) []string { return []string{"timer", "spin"} }

func newSystemSleeper(string) (sleeper, error) { return newTimerSpinSleeper(), nil }
