package cli

import (
	"context"
	"strings"
	"testing"
)

// A bug in the preparation is an error with a line that tells where, so that the screen above it is left in order.
func TestBugInThePreparation(t *testing.T) {
	var said strings.Builder
	env := &environment{stdin: strings.NewReader(""), stdout: &said, stderr: &said}
	code := env.perform(&screenOptions{}, nil, func(context.Context) (*prepared, error) { panic("no such thing") })
	if words := said.String(); code != exitFailed || !strings.Contains(words, "benchtop failed while preparing the run: no such thing") ||
		!strings.Contains(words, "display_test.go") {
		t.Errorf("exit code %d: %s", code, words)
	}
}
