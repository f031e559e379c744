package panels

import (
	"flag"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"benchtop/internal/race"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	liveview "benchtop/metrics/live"
	"benchtop/metrics/report"
)

// modes are the ways to draw.
var modes = []struct {
	name  string
	color string
	ascii bool
}{
	{"mono", "none", false}, {"ascii", "none", true}, {"16", "16", false}, {"256", "256", false}, {"true", "true", false},
	{"ascii in colour", "256", true},
}

// monstrous is a snapshot with everything a chart could choke on.
func monstrous() metrics.Snapshot {
	s := mid()
	s.Plan = &metrics.Plan{
		BaseURL: "http://\x1b[31mevil\x07\u202e/", ModelID: strings.Repeat("模型🤖", 40), Load: "\x00\xff\xfe",
		Dataset: "👨‍👩‍👧‍👦 e\u0301\u0301\u0301\u0301",
		Rate:    metrics.Rate(math.NaN()), Duration: -5, Requests: math.MinInt, Warmup: math.MaxInt64 - 1,
		Goodput: metrics.SLO{
			{Metric: metrics.TTFT, LimitMS: math.NaN()}, {Metric: metrics.TPOT, LimitMS: math.Inf(1)}, {Metric: metrics.E2EL, LimitMS: -1},
			{Metric: 255},
		},
		Gates: []metrics.Gate{
			{Metric: "goodput", Op: "<", Limit: math.NaN(), Percent: true}, {Metric: "p99_ttft_ms", Op: ">", Limit: 1e300},
			{Metric: strings.Repeat("漢\x07", 200), Op: "\x1b[2J", Limit: math.Inf(-1), Percent: true},
		},
		Stages: []metrics.Stage{
			{Start: math.MinInt64, Length: math.MaxInt64, Rate: math.Inf(1)}, {Start: math.MaxInt64, Users: math.MinInt},
		},
	}
	s.Marks = []metrics.LogEntry{
		{At: math.MinInt64, Mark: "a"}, {At: math.MaxInt64, Mark: "b"},
		{At: 40 * time.Second, Mark: strings.Repeat("漢🤖\u202e", 100)},
		{At: 30 * time.Second, Mark: "\x1b[2J\n"}, {At: 50 * time.Second, Mark: "e\u0301\u0301\u0301"},
	}
	s.At = 70 * time.Second
	s.Windows = append([]metrics.Window(nil), s.Windows...)
	for i := range s.Windows {
		w := &s.Windows[i]
		switch i % 4 {
		case 0:
			w.OutputTokens, w.InputTokens, w.Held = math.MaxInt, math.MinInt, math.MaxInt
			w.Good, w.Met[metrics.TTFT], w.Met[metrics.TPOT], w.Failed = math.MaxInt, math.MinInt, -1, math.MinInt
		case 1:
			w.Running, w.Waiting, w.Done = math.MinInt, -1, math.MaxInt
		}
		var h metrics.Histogram
		h.Add(0)
		h.Add(math.MaxInt64)
		w.Histograms[metrics.TTFT], w.Histograms[metrics.ITL] = h, h
		s.Histograms[metrics.TTFT], s.Histograms[metrics.ITL], s.Histograms[metrics.TPOT], s.Histograms[metrics.E2EL] = h, h, h, h
	}
	s.Totals = metrics.Totals{
		Done: math.MaxInt, Failed: math.MinInt, Cancelled: -3, WarmedUp: math.MinInt, MetCount: metrics.MetCount{Good: math.MaxInt, Met: metrics.MetObjectives{metrics.E2EL: -7}},
	}
	s.Failures = []metrics.FailureCount{
		{Kind: "\x1b]0;x\x07", Status: -1, Count: math.MaxInt, Last: -time.Hour, Examples: []string{"\x9b31m\u2028\u202e漢字漢字漢字", ""}},
		{Kind: metrics.FailedStatus, Count: math.MinInt},
	}
	s.Log = []metrics.LogEntry{{At: math.MinInt64, Level: "?", Text: strings.Repeat("漢", 2000), Count: math.MaxInt}, {At: math.MaxInt64, Text: "\n\r\t\x1b[2J"}}
	s.SaveError = strings.Repeat("🚫", 300)
	s.Report = &metrics.Report{Statistics: metrics.Statistics{metrics.TTFT: metrics.Statistic{N: 1, Mean: math.NaN(), Median: math.Inf(1), Max: 1e300}}, OutputThroughput: math.Inf(1), RequestThroughput: math.NaN()}
	for i, g := range s.Plan.Gates {
		value := []float64{math.NaN(), math.Inf(1), -1e300}[i]
		s.Report.Gates = append(s.Report.Gates, metrics.GateResult{Gate: g, Value: value, Known: i != 1, Missed: i == 0})
	}
	return s
}

var update = flag.Bool("update", false, "write golden files")

// golden compares got with a file, or writes it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; write it with -update", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-want +got), look and run with -update:\n%s", file, diff)
	}
}

// snapshotAt is the ramp at a moment, exactly.
func snapshotAt(at time.Duration, failures bool) metrics.Snapshot {
	rec := liveview.NewView(time.Now().Add(-at), rampPlan())
	eventtest.Tell(rec, metrics.Saving{Path: "benchtop-results/2026-11-21-1230.json"})
	eventtest.Tell(rec, metrics.LogEntry{Level: metrics.Info, Text: "GET /v1/models ok: Qwen/Qwen3-32B, max_model_len 32768"})
	if at > 20*time.Second {
		eventtest.Tell(rec, metrics.LogEntry{At: 20 * time.Second, Level: metrics.Warn, Text: "held grew 5 s in a row (12): past saturation?"})
	}
	play(rec, rampRequests(at, failures), at)
	return sampled(exactly(rec.Snapshot(), at), nil, nil)
}

// exactly takes back the moments that passed while a snapshot was made.
func exactly(s metrics.Snapshot, at time.Duration) metrics.Snapshot {
	s.At = at
	s.Windows = slices.Clip(s.Windows[:min(len(s.Windows), int(at/time.Second)+1)])
	return s
}

var (
	young = sync.OnceValue(func() metrics.Snapshot { return snapshotAt(7200*time.Millisecond, false) })
	mid   = sync.OnceValue(func() metrics.Snapshot { return snapshotAt(62400*time.Millisecond, false) })
	bad   = sync.OnceValue(func() metrics.Snapshot { return snapshotAt(62400*time.Millisecond, true) })
	done  = sync.OnceValue(func() metrics.Snapshot {
		const end = 71700 * time.Millisecond
		all := rampRequests(60*time.Second, true)
		rec := liveview.NewView(time.Now().Add(-end), rampPlan())
		eventtest.Tell(rec, metrics.Saving{Path: "benchtop-results/2026-11-21-1230.json"})
		play(rec, all, end)
		var seq iter.Seq2[metrics.Request, error] = func(yield func(metrics.Request, error) bool) {
			for _, q := range all {
				if !yield(*q, nil) {
					return
				}
			}
		}
		report, err := report.Summarize(seq, metrics.Run{Plan: *rampPlan(), End: metrics.End{Ended: end}})
		if err != nil {
			panic(err)
		}
		rec.Finish(&report)
		return sampled(exactly(rec.Snapshot(), end), nil, nil)
	})
)

// leftOut reports whether a long loop leaves a turn out: under the race detector all but one in so many. One goroutine draws there, by
// itself, so that there is nothing to find.
func leftOut(turn, every int) bool { return race.Enabled && turn%every != 0 }

// exact fails unless the screen is w columns by h lines.
func exact(t *testing.T, shown string, w, h int, what string) {
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
