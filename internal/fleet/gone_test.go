//go:build fleet

package fleet

import (
	"errors"
	"strings"
	"testing"

	"benchtop/internal/fleet/link"
	"benchtop/metrics"
)

// dial connects with a server.
func dial(t *testing.T, j link.Join) *link.Conn {
	t.Helper()
	c, err := link.Dial(t.Context(), j, link.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// A machine that is gone before the run leaves its part to another; one that is there keeps it.
func TestMachineGoesBeforeRun(t *testing.T) {
	t.Parallel()
	s, err := link.Listen("", 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	j, err := s.Join("r")
	if err != nil {
		t.Fatal(err)
	}
	f, err := New(t.Context(), dial(t, j), "v1", 2, func(p metrics.Part) Setup { return Setup{Part: p} })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	var told []string
	f.Inform(func(_ metrics.Level, words string) { told = append(told, words) })
	enter := func(version string) (*Member, error) { return Join(t.Context(), dial(t, j), version, 0) }
	first, err := enter("v1")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	second, err := enter("v1")
	if err != nil {
		t.Fatal(err)
	}
	second.Close() // of the membership
	third, err := enter("v1")
	if err != nil || third.Part != second.Part {
		t.Fatalf("part %v, want %v: %v", third, second.Part, err)
	}
	defer third.Close()
	if _, err := enter("v1"); !errors.Is(err, errRefused) {
		t.Errorf("a third of two machines: %v", err)
	}
	if _, err := enter("v2"); !errors.Is(err, errRefused) || len(told) != 1 || !strings.Contains(told[0], "v2") {
		t.Errorf("another version: %v, told %q", err, told)
	}
}
