package telemetry

import (
	"os"
	"testing"
)

// skip skips a test where the system lacks something, but fails in CI, where nothing may be missing.
func skip(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("CI is set, so nothing is skipped: %s", why)
	}
	t.Skip(why)
}
