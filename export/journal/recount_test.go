package journal

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
)

// Counts that came after the run are those of its requests, for the run itself and for a reader of its journal.
func TestRecount(t *testing.T) {
	run, qs := eventtest.Sample()
	for i := range qs {
		qs[i].OutputSource, qs[i].Text = metrics.TokensFromChunks, "a text"
	}
	qs[1].TextPart = true
	f := journalFile(t)
	j := newJournal(t, f, run.Plan)
	for i := range qs {
		j.Done(&qs[i])
	}
	first := qs[0].Index
	before := collect(t, j.Records())
	j.Recount(first, 77, metrics.TokensFromServer)
	j.Recount(12345, 5, metrics.TokensFromServer) // of no request
	j.End(metrics.Run{Ended: time.Second})
	j.Recount(qs[1].Index, 99, metrics.TokensFromServer) // too late for the file
	want := slices.Clone(before)
	want[0].OutputTokens, want[0].OutputSource = 77, metrics.TokensFromServer
	read, requests, err := readRun(f.Name())
	if err != nil || read.Damaged > 0 {
		t.Fatalf("%v, %d damaged lines: %v", err, read.Damaged, read.Events)
	}
	for name, got := range map[string][]metrics.Request{"live": collect(t, j.Records()), "read": collect(t, requests), "read again": collect(t, requests)} {
		if diff := cmp.Diff(want, got, sameRequest); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
