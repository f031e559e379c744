// Package ci tells tests of the machines that test every change.
package ci

import (
	"os"
	"testing"

	"benchtop/internal/race"
)

// Skip skips a test where the system lacks something, but fails in CI, where nothing may be missing.
func Skip(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("CI is set, so nothing is skipped: %s", why)
	}
	t.Skip(why)
}

// SkipUnderRace leaves a test to the run without the race detector, which has nothing to find in it: one goroutine
// computes for long, or shorter tests go the same way. It is the first line of a test, by which make race finds what to
// run again.
func SkipUnderRace(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector is on")
	}
}
