package cli

import (
	"context"
	"strings"
	"testing"

	"benchtop/internal/session"
	"benchtop/internal/spec"
)

// A bug in the preparation is an error with a line that tells where, so that the screen above it is left in order.
func TestBugInThePreparation(t *testing.T) {
	var said strings.Builder
	env := &session.Environment{Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said}
	code := env.Perform(&spec.Screen{}, nil, func(context.Context) (*session.Run, error) { panic("no such thing") })
	if words := said.String(); code != session.ExitFailed ||
		!strings.Contains(words, "benchtop failed while preparing the run: no such thing") ||
		!strings.Contains(words, "display_test.go") {
		t.Errorf("exit code %d: %s", code, words)
	}
}
