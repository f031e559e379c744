// Package tuitest has the runs that tests of the screen make up, and how they compare screens.
package tuitest

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"benchtop/internal/assert/golden"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	liveview "benchtop/metrics/live"
	"benchtop/metrics/report"
)

// Modes are the ways to draw.
var Modes = []struct {
	Name  string
	Color string
	ASCII bool
}{
	{"mono", "none", false}, {"ascii", "none", true}, {"16", "16", false}, {"256", "256", false},
	{"true", "true", false},
	{"ascii in colour", "256", true},
}

// Golden compares got with a file below testdata, or writes it with -update.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	golden.Same(t, filepath.Join("testdata", name), got)
}

// SnapshotAt is the ramp at a moment, exactly.
func SnapshotAt(at time.Duration, failures bool) metrics.Snapshot {
	rec := liveview.NewView(time.Now().Add(-at), RampPlan())
	eventtest.Tell(rec, metrics.Saving{Path: "benchtop-results/2026-11-21-1230.json"})
	eventtest.Tell(rec,
		metrics.LogEntry{Level: metrics.Info, Text: "GET /v1/models ok: Qwen/Qwen3-32B, max_model_len 32768"})
	if at > 20*time.Second {
		eventtest.Tell(rec, metrics.LogEntry{At: 20 * time.Second, Level: metrics.Warn,
			Text: "held grew 5 s in a row (12): past saturation?"})
	}
	Play(rec, RampRequests(at, failures), at)
	return Sampled(rec.SnapshotAt(at), nil, nil)
}

var (
	Young = sync.OnceValue(func() metrics.Snapshot { return SnapshotAt(7200*time.Millisecond, false) })
	Mid   = sync.OnceValue(func() metrics.Snapshot { return SnapshotAt(62400*time.Millisecond, false) })
	Bad   = sync.OnceValue(func() metrics.Snapshot { return SnapshotAt(62400*time.Millisecond, true) })
	Done  = sync.OnceValue(func() metrics.Snapshot {
		const end = 71700 * time.Millisecond
		all := RampRequests(60*time.Second, true)
		rec := liveview.NewView(time.Now().Add(-end), RampPlan())
		eventtest.Tell(rec, metrics.Saving{Path: "benchtop-results/2026-11-21-1230.json"})
		Play(rec, all, end)
		report, err := report.Summarize(each(all), metrics.Run{Plan: *RampPlan(), End: metrics.End{Ended: end}})
		if err != nil {
			panic(err)
		}
		rec.Finish(&report)
		return Sampled(rec.SnapshotAt(end), nil, nil)
	})
)

// Exact fails unless the screen is w columns by h lines.
func Exact(t *testing.T, shown string, w, h int, what string) {
	t.Helper()
	if w == 0 || h == 0 {
		return
	}
	lines := strings.Split(shown, "\n")
	if len(lines) != h {
		t.Fatalf("%s at %dx%d: %d lines", what, w, h, len(lines))
	}
	for i, l := range lines {
		if got := ansi.StringWidth(l); got != w {
			t.Fatalf("%s at %dx%d: line %d is %d columns wide: %q", what, w, h, i+1, got, l)
		}
	}
}
