package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/export/journal"
	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

func TestRedrawFigures(t *testing.T) {
	const text = `goos: linux
BenchmarkFullRedraw/80x24/Load-2         	     100	   1500000 ns/op	   90000 B/op	     700 allocs/op
BenchmarkFullRedraw/120x40/Load          	     100	   3500000 ns/op	  120000 B/op	     900 allocs/op
BenchmarkFullRedraw/120x40/Latency-2     	     100	   9000000 ns/op	  120000 B/op	     900 allocs/op
PASS
`
	got, err := redrawFigures([]byte(text), "Load")
	want := map[string]float64{"80x24 ms": 1.5, "80x24 MB": 0.09, "120x40 ms": 3.5, "120x40 MB": 0.12}
	if err != nil || len(got) != len(want) {
		t.Fatalf("%v: got %v, want %v", err, got, want)
	}
	for k, v := range want {
		if math.Abs(got[k]-v) > 1e-9 {
			t.Errorf("%s: got %v, want %v", k, got[k], v)
		}
	}
	assert.Complains(t, assert.Failure(redrawFigures([]byte("PASS\n"), "Load")), "Load")
	if _, err := redrawFigures([]byte("BenchmarkFullRedraw/80x24/Load 1 x ns/op\n"), "Load"); err == nil {
		t.Error("a figure that is none was taken")
	}
}

// runFolder has the journal of a run of four requests and two changes of the load, one of them by a search; its last
// line is incomplete.
func runFolder(t *testing.T) string {
	t.Helper()
	f := assert.Must(os.Create(filepath.Join(t.TempDir(), "run.jsonl")))(t)
	defer f.Close()
	w := assert.Must(journal.NewWriter(f, metrics.Plan{Started: time.Date(2026, 11, 21, 22, 0, 0, 500e6, time.UTC)}))(t)
	const ms, us = time.Millisecond, time.Microsecond
	for _, e := range []metrics.LogEntry{
		{At: 250 * ms, Text: "load set by hand",
			Set: &metrics.LoadSetting{Load: metrics.Load{Value: 11}, By: metrics.ByUser}},
		{At: 300 * ms, Text: "a stage"},
		{At: 350 * ms, Text: "tried", Set: &metrics.LoadSetting{Load: metrics.Load{Value: 12}, By: metrics.BySearch}},
	} {
		w.Take(&event.Event{At: e.At, Kind: event.Fact, Value: e})
	}
	for i, q := range []metrics.Request{
		{Scheduled: ms, Due: 1100 * us, Admitted: 1200 * us, Sent: 2 * ms, Connect: 600 * us, Done: 9 * ms},
		{Scheduled: 5 * ms, Due: 5100 * us, Admitted: 7100 * us, Sent: 7200 * us, Done: 12 * ms,
			Failure: metrics.FailedStatus},
		{Scheduled: 6 * ms, Due: 6 * ms, Sent: metrics.Never, Done: 6 * ms, Failure: metrics.Cancelled},
	} {
		q.Index = i
		w.Take(&event.Event{At: q.Done, Kind: event.Done, Request: &q})
	}
	assert.Fine(t, w.Close())
	assert.Must(f.WriteString(`{"index":3,"sched`))(t)
	return filepath.Dir(f.Name())
}

func TestRunFigures(t *testing.T) {
	folder := runFolder(t)
	s := assert.Must(runFigures(folder, 0))(t)
	// The first was 1 ms late, 0.6 of it for its connection and 0.1 held; the second, which failed, does not count.
	want := map[string]float64{"p50": 300, "p90": 300, "p99": 300, "open": 0}
	if diff := cmp.Diff(want, s.Figures, cmpopts.EquateApprox(0, 1e-6)); diff != "" || len(s.Remarks) != 1 {
		t.Errorf("%s, remarks %v", diff, s.Remarks)
	}
	changed, err := manualChanges(t.Context(), folder, 1)
	if want := time.Date(2026, 11, 21, 22, 0, 0, 750e6, time.UTC); err != nil || !changed[0].Equal(want) {
		t.Errorf("changes by hand at %v, want %v: %v", changed, want, err)
	}
	if _, err := manualChanges(t.Context(), folder, 0); err == nil {
		t.Error("a change too many was taken")
	}
	folder = t.TempDir()
	if _, err := readRun(folder); err == nil {
		t.Error("no journal was taken for one")
	}
	for _, broken := range []string{"", "{}\n", "not JSON\n"} {
		assert.Fine(t, os.WriteFile(filepath.Join(folder, "run.jsonl"), []byte(broken), 0o600))
		if _, err := readRun(folder); err == nil {
			t.Errorf("%q was taken for a journal", broken)
		}
	}
}

// The number of open streams is that of the arrivals during an answer.
func TestBusyLoad(t *testing.T) {
	b := usualLoad(false)
	if b.lasts() != 2*time.Second || b.rate() != 500 {
		t.Errorf("%s at %v a second", b.lasts(), b.rate())
	}
	args := strings.Join(b.serve("http://h", 5*time.Second, "--exit"), " ")
	assert.Has(t, args, "serve --base-url http://h ", " --request-rate 500 ", " --num-prompts 2500 ",
		" --random-output-len 100 ", " --exit")
}

func TestOnlyTakesTablesOfAWord(t *testing.T) {
	for only, want := range map[string]string{"stamps": "stamps", "dashboard-redraw": "dashboard-redraw"} {
		assert.Equal(t, names(named(tables(true), only)), want, "%s", only)
	}
	if got := named(tables(true), dashboardTables); len(got) != len(dashboards(true)) {
		t.Errorf("%s: %q", dashboardTables, names(got))
	}
	if got := named(tables(true), "dash"); len(got) != 0 {
		t.Errorf("half a word: %q", names(got))
	}
}
