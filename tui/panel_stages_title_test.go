package tui

import (
	"strings"
	"testing"

	"benchtop/metrics"
)

// Why there is no bend is said once.
func TestStagesTitleWithoutBend(t *testing.T) {
	for why, want := range map[string]string{
		"no bend up to 16 users":   "stages · no bend up to 16 users",
		"too few requests":         "stages · no bend: too few requests",
		"past the bend from 8 on":  "stages · past the bend from 8 on",
		"no \x1b[1mbend\nup to 16": "stages · no bend up to 16",
	} {
		var b strings.Builder
		for _, s := range stagesTitle(&view{s: &metrics.Snapshot{Plan: &metrics.Plan{}, Answer: &metrics.Answer{Why: why}}}, 80, 20) {
			b.WriteString(s.Text)
		}
		if got := strings.Join(strings.Fields(b.String()), " "); got != want {
			t.Errorf("%q: %q, want %q", why, got, want)
		}
	}
}
