package panels

import (
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// A title names every line before it gives figures, and none of these without their time.
func TestRunLegend(t *testing.T) {
	items := []legendItem{{name: "running", value: "12, max 23", brief: "12"},
		{name: "waiting", value: "2, max 7", brief: "2"},
		{name: "queued here", value: "3, max 4", brief: "3", short: "queued"}}
	over := &View{Snapshot: &metrics.Snapshot{State: metrics.Finished, Report: &metrics.Report{}}}
	for w, want := range map[int]string{
		90: "requests ━ running 12, max 23 ━ waiting 2, max 7 ━ queued here 3, max 4 · mean",
		63: "requests ━ running 12 ━ waiting 2 ━ queued here 3 · mean",
		55: "requests ━ running 12 ━ waiting 2 ━ queued · mean",
		44: "requests ━ running ━ waiting ━ queued", 36: "requests ━ running ━ waiting", 12: "requests",
	} {
		var got strings.Builder
		for _, s := range over.runLegend(w, "requests", items...) {
			got.WriteString(s.Text)
		}
		assert.Equal(t, got.String(), want, "%d columns", w)
	}
}
