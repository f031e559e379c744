// Package ci tells tests of the machines that test every change.
package ci

import (
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/race"
)

// Tests make much garbage in short lives: with less frequent collections they take a fifth less of a processor.
// Benchmarks keep the usual frequency.
func init() {
	isBench := func(arg string) bool { return strings.HasPrefix(arg, "-test.bench=") }
	if os.Getenv("GOGC") == "" && !slices.ContainsFunc(os.Args, isBench) {
		debug.SetGCPercent(400)
	}
}

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
