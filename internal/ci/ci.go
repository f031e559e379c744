// Package ci tells tests of the machines that test every change.
package ci

import (
	"os"
	"testing"
)

// Skip skips a test where the system lacks something, but fails in CI, where nothing may be missing.
func Skip(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("CI is set, so nothing is skipped: %s", why)
	}
	t.Skip(why)
}
