package live

import (
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
)

// shown is a snapshot, by the shorter name that tables of tests need.
type shown = metrics.Snapshot

// Each fact changes its own fields of the snapshot only.
func TestFacts(t *testing.T) {
	slo := ttft(9)
	set := metrics.LoadSetting{Load: metrics.Load{Value: 5}}
	for _, c := range []struct {
		name string
		fact any
		want func(*shown) bool
	}{
		{"a line of the log", metrics.LogEntry{At: ms, Level: metrics.Warn, Text: "look", Mark: "m"},
			func(s *shown) bool {
				return len(s.Log) == 1 && s.Log[0].Text == "look" && len(s.Marks) == 1
			}},
		{"objectives", metrics.LogEntry{Objectives: &slo}, func(s *shown) bool {
			return len(s.Objectives) == 1 && s.Objectives[0] == slo[0] && len(s.Log) == 1
		}},
		{"a load that was set", metrics.LogEntry{Set: &set},
			func(s *shown) bool { return len(s.Log) == 1 && *s.Log[0].Set == set }},
		{"the load in force", metrics.Steering{LoadSetting: set, Changes: 2}, func(s *shown) bool {
			return s.Steering == metrics.Steering{LoadSetting: set, Changes: 2}
		}},
		{"draining", metrics.Phase{State: metrics.Draining, DrainBy: 7 * ms}, func(s *shown) bool {
			return s.State == metrics.Draining && s.DrainBy == 7*ms
		}},
		{"saving", metrics.Saving{Path: "p", Problem: "q"},
			func(s *shown) bool { return s.SavePath == "p" && s.SaveError == "q" }},
		{"the server", metrics.Source{Name: metrics.ServerCounters, Kind: "vLLM", Absent: "a"}, func(s *shown) bool {
			return s.ServerKind == "vLLM" && s.ServerAbsent == "a" && s.GPUsAbsent == ""
		}},
		{"accelerators", metrics.Source{Name: metrics.Accelerators, Absent: "a"}, func(s *shown) bool {
			return s.ServerAbsent == "" && s.GPUsAbsent == "a"
		}},
		{"the client's second", eventtest.Client()[0],
			func(s *shown) bool { return len(s.Client) == 1 && s.Client[0].Sent == 3 }},
		{"the server's second", eventtest.Server()[1],
			func(s *shown) bool { return len(s.Server) == 1 && s.Server[0].KVUsage == 0.75 }},
		{"the accelerators' second", eventtest.GPUs()[0],
			func(s *shown) bool { return len(s.GPUs) == 1 && len(s.GPUs[0].GPUs) == 2 }},
		// known from the start
		{"the plan", metrics.Plan{ModelID: "other"}, func(s *shown) bool { return s.Plan.ModelID == "" }},
		{"a recount", metrics.Recount{Tokens: 3}, func(s *shown) bool { return s.Totals == (metrics.Counts{}) }},
		{"the end", metrics.End{Reason: "q"},
			func(s *shown) bool { return s.State == metrics.Running && s.Report == nil }},
	} {
		synctest.Test(t, func(t *testing.T) {
			v := NewView(time.Now(), &metrics.Plan{})
			before := v.SnapshotAt(10 * ms)
			shows := c.want(&before)
			v.Take(&event.Event{At: ms, Kind: event.Fact, Value: c.fact})
			if s := v.SnapshotAt(10 * ms); !c.want(&s) {
				t.Errorf("%s: %+v is shown as %+v", c.name, c.fact, s)
			}
			switch c.fact.(type) {
			case metrics.Plan, metrics.Recount, metrics.End: // which change nothing
			default:
				if shows {
					t.Errorf("%s: it is shown before it is told", c.name)
				}
			}
		})
	}
}

// The log reports once that the first token comes later than the first chunk, after enough successes without the
// warm-up.
func TestFirstTokensLater(t *testing.T) {
	for _, c := range []struct {
		name          string
		delay, warmup time.Duration
		failure       metrics.Failure
		want          int
	}{
		{"together", 0, 0, "", 0}, {"less than a tenth", 9 * ms, 0, "", 0}, {"a fifth", 20 * ms, 0, "", 1},
		{"in the warm-up", 20 * ms, second, "", 0}, {"of failures", 20 * ms, 0, metrics.FailedTruncated, 0},
	} {
		rec := NewView(time.Now(), &metrics.Plan{Warmup: c.warmup})
		var all []metrics.Request
		for i := range 3 * firstTokensEvery {
			q := eventtest.Simple(i, 0, 100*ms, c.delay, 2)
			q.Chunks[0].Tokens, q.FirstToken, q.Failure = 0, q.LastChunk, c.failure
			all = append(all, q)
		}
		eventtest.Again(rec, all, second)
		n := 0
		for _, e := range rec.Snapshot().Log {
			if e.Level == metrics.Warn {
				n++
			}
		}
		assert.Equal(t, n, c.want, "%s: lines", c.name)
	}
}

// A run of few requests logs it once, at its end.
func TestFirstTokensLaterAtTheEnd(t *testing.T) {
	rec := NewView(time.Now(), &metrics.Plan{})
	rec.Finish(&metrics.Report{Statistics: metrics.Statistics{metrics.TTFT: metrics.Statistic{N: 3, Median: 100},
		metrics.FirstToken: metrics.Statistic{N: 3, Median: 120}}, Ended: second})
	if log := rec.Snapshot().Log; len(log) != 1 || log[0].Level != metrics.Warn || log[0].At != second {
		t.Errorf("log %+v", log)
	}
}
