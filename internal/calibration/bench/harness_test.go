package main

import (
	"context"
	"os"
	"strings"
	"testing"
)

// A harness that cannot start leaves no folder behind.
func TestHarnessFails(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h, err := newHarness(ctx)
	if h != nil || err == nil || !strings.Contains(err.Error(), "building benchtop") {
		t.Errorf("%+v, %v; want no harness and the failed build", h, err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
