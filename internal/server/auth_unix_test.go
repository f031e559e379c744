//go:build unix

package server

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A command that takes too long ends with all that it started.
func TestTokenCommandEnds(t *testing.T) {
	alive := filepath.Join(t.TempDir(), "alive")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	from := time.Now()
	_, _, err := tokenOf("(sleep 1; touch '" + alive + "') & wait").Ask(ctx)
	if err == nil || err.Error() != "--auth-command: it printed no token within 200ms" {
		t.Error(err)
	}
	if took := time.Since(from); took > 900*time.Millisecond {
		t.Errorf("it took %s", took)
	}
	time.Sleep(1500*time.Millisecond - time.Since(from))
	if _, err := os.Stat(alive); err == nil {
		t.Error("a child lives on")
	}
}
