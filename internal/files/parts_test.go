package files

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"benchtop/export/journal"
	"benchtop/metrics"
)

// Parts find their runs in whatever order they are named, and only one that finds none is told of.
func TestPartsOfSeveralRuns(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for _, p := range []metrics.Plan{
		{Seed: 1, Part: metrics.Part{K: 1, N: 2}}, {Seed: 2, Part: metrics.Part{K: 2, N: 2}},
		{Seed: 1, Part: metrics.Part{K: 2, N: 2}}, {Seed: 2, Part: metrics.Part{K: 1, N: 2}},
	} {
		p.Metrics, p.Percentiles = []metrics.Latency{metrics.TTFT}, []float64{99}
		w, err := journal.NewWriter(nil, p)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		_, _ = w.WriteTo(&b)
		name := filepath.Join(dir, string(rune('a'+len(names)))+JournalSuffix)
		if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	runs, notes := ReadRuns(names)
	want := []string{names[1] + " is not of the run of " + names[0] + ": their plans differ in seed"}
	if len(runs) != 2 || !slices.Equal(notes, want) {
		t.Errorf("%d runs, and:\n%s", len(runs), strings.Join(notes, "\n"))
	}
}
