package files

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/export/journal"
	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// journals are those of plans, which have no requests.
func journals(t *testing.T, plans ...metrics.Plan) (names []string) {
	t.Helper()
	dir := t.TempDir()
	for _, p := range plans {
		p.Metrics, p.Percentiles = []metrics.Latency{metrics.TTFT}, []float64{99}
		w := assert.Must(journal.NewWriter(nil, p))(t)
		var b bytes.Buffer
		_, _ = w.WriteTo(&b)
		name := filepath.Join(dir, string(rune('a'+len(names)))+JournalSuffix)
		assert.Fine(t, os.WriteFile(name, b.Bytes(), 0o600))
		names = append(names, name)
	}
	return names
}

// Parts find their runs in whatever order they are named, and only one that finds none is told of.
func TestPartsOfSeveralRuns(t *testing.T) {
	first, second := metrics.Part{K: 1, N: 2}, metrics.Part{K: 2, N: 2}
	names := journals(t, metrics.Plan{Seed: 1, Part: first}, metrics.Plan{Seed: 2, Part: second},
		metrics.Plan{Seed: 1, Part: second}, metrics.Plan{Seed: 2, Part: first})
	runs, notes := ReadRuns(names)
	want := []string{names[1] + " is not of the run of " + names[0] + ": their plans differ in seed"}
	if len(runs) != 2 || !slices.Equal(notes, want) {
		t.Errorf("%d runs, and:\n%s", len(runs), strings.Join(notes, "\n"))
	}
}

// Parts of a run that was repeated find the one of their time.
func TestPartsOfRepeatedRuns(t *testing.T) {
	at := func(hour, k int) metrics.Plan {
		return metrics.Plan{Started: time.Date(2026, 11, 29, hour, 0, k, 0, time.UTC), Part: metrics.Part{K: k, N: 3}}
	}
	runs, notes := ReadRuns(journals(t, at(1, 1), at(2, 1), at(2, 2), at(1, 2), at(2, 3), at(1, 3)))
	if len(runs) != 2 || len(notes) != 1 || !strings.Contains(notes[0], "both are part 1/3") {
		t.Fatalf("%d runs: %v", len(runs), notes)
	}
	for i, run := range runs {
		for e, err := range run.Source(event.Pick{}) {
			plan, first := e.Value.(metrics.Plan)
			log, _ := e.Value.(metrics.LogEntry)
			if err != nil || first && plan.Started.UTC().Hour() != i+1 || strings.Contains(log.Text, "h0m") {
				t.Errorf("run %d: %+v, %v", i, e, err)
			}
		}
	}
}
