package cli

import (
	"slices"
	"strings"
	"testing"

	"benchtop/internal/telemetry"
)

// Restarts are told a few times; that several processes answer in turn is said once, and after it no restart any more.
func TestRestartsInWords(t *testing.T) {
	fell, back := telemetry.ErrRestarted, telemetry.ErrReturned
	for _, c := range []struct {
		name  string
		errs  []error
		marks []string // "" where nothing is told
	}{
		{"restarts", []error{fell, fell, fell, fell, fell, fell}, []string{"restart", "restart", "restart", "restart", "restart", ""}},
		{"two in turn", []error{fell, back, fell, back, fell, back}, []string{"restart", "restart", "restart", "in turn", "", ""}},
		{"it took long to see", []error{fell, fell, fell, fell, fell, back, fell, back, fell}, []string{"restart", "restart", "restart", "restart", "restart", "", "", "in turn", ""}},
	} {
		var r restarts
		var got []string
		for _, err := range c.errs {
			text, mark := r.words(err)
			if (text == "") != (mark == "") || (mark == "in turn") != strings.Contains(text, "totals are missing") {
				t.Errorf("%s: %q is marked %q", c.name, text, mark)
			}
			got = append(got, mark)
		}
		if !slices.Equal(got, c.marks) {
			t.Errorf("%s: marks %q, want %q", c.name, got, c.marks)
		}
	}
}
