package live

import (
	"testing"
	"testing/synctest"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
)

const ms = time.Millisecond

// Each fact changes its own fields of the snapshot only.
func TestFacts(t *testing.T) {
	slo := metrics.SLO{{Metric: metrics.TTFT, LimitMS: 9}}
	set := metrics.LoadSetting{Load: metrics.Load{Value: 5}}
	for _, c := range []struct {
		name string
		fact any
		want func(*metrics.Snapshot) bool
	}{
		{"a line of the log", metrics.LogEntry{At: ms, Level: metrics.Warn, Text: "look", Mark: "m"}, func(s *metrics.Snapshot) bool {
			return len(s.Log) == 1 && s.Log[0].Text == "look" && len(s.Marks) == 1
		}},
		{"objectives", metrics.LogEntry{Objectives: &slo}, func(s *metrics.Snapshot) bool {
			return len(s.Objectives) == 1 && s.Objectives[0] == slo[0] && len(s.Log) == 1
		}},
		{"a load that was set", metrics.LogEntry{Set: &set}, func(s *metrics.Snapshot) bool { return len(s.Log) == 1 && *s.Log[0].Set == set }},
		{"the load in force", metrics.Steering{LoadSetting: set, Changes: 2}, func(s *metrics.Snapshot) bool {
			return s.Steering == metrics.Steering{LoadSetting: set, Changes: 2}
		}},
		{"draining", metrics.Phase{State: metrics.Draining, DrainBy: 7 * ms}, func(s *metrics.Snapshot) bool {
			return s.State == metrics.Draining && s.DrainBy == 7*ms
		}},
		{"saving", metrics.Saving{Path: "p", Problem: "q"}, func(s *metrics.Snapshot) bool { return s.SavePath == "p" && s.SaveError == "q" }},
		{"the server", metrics.Source{Name: metrics.ServerCounters, Kind: "vLLM", Absent: "a"}, func(s *metrics.Snapshot) bool {
			return s.ServerKind == "vLLM" && s.ServerAbsent == "a" && s.GPUsAbsent == ""
		}},
		{"accelerators", metrics.Source{Name: metrics.Accelerators, Absent: "a"}, func(s *metrics.Snapshot) bool {
			return s.ServerAbsent == "" && s.GPUsAbsent == "a"
		}},
		{"the client's second", eventtest.Client()[0], func(s *metrics.Snapshot) bool { return len(s.Client) == 1 && s.Client[0].Sent == 3 }},
		{"the server's second", eventtest.Server()[1], func(s *metrics.Snapshot) bool { return len(s.Server) == 1 && s.Server[0].KVUsage == 0.75 }},
		{"the accelerators' second", eventtest.GPUs()[0], func(s *metrics.Snapshot) bool { return len(s.GPUs) == 1 && len(s.GPUs[0].GPUs) == 2 }},
		{"the plan", metrics.Plan{ModelID: "other"}, func(s *metrics.Snapshot) bool { return s.Plan.ModelID == "" }}, // known from the start
		{"a recount", metrics.Recount{Tokens: 3}, func(s *metrics.Snapshot) bool { return s.Totals == (metrics.Counts{}) }},
		{"the end", metrics.End{Reason: "q"}, func(s *metrics.Snapshot) bool { return s.State == metrics.Running && s.Report == nil }},
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

// A request is counted at each of its events, and a chunk at its event.
func TestRequestIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := NewView(time.Now(), &metrics.Plan{})
		q := metrics.NewRequest(0)
		q.Scheduled, q.Due = 0, 0
		show := func(step string, want metrics.Counts, held, waiting, running int) {
			t.Helper()
			if s := v.SnapshotAt(q.LastChunk + 10*ms); s.Totals != want || s.Held != held || s.Waiting != waiting || s.Running != running {
				t.Errorf("%s: %+v, held %d, waiting %d, running %d", step, s.Totals, s.Held, s.Waiting, s.Running)
			}
		}
		v.Take(&event.Event{Kind: event.Due, Request: &q})
		show("due", metrics.Counts{Due: 1}, 1, 0, 0)
		q.Admitted, q.Sent = ms, ms
		v.Take(&event.Event{Kind: event.Sent, Request: &q})
		show("sent", metrics.Counts{Due: 1, Sent: 1}, 0, 1, 0)
		q.Add(metrics.Chunk{At: 3 * ms, Tokens: 2, Answer: true})
		v.Take(&event.Event{Kind: event.Chunk, Request: &q, Chunk: q.Chunks[0]})
		show("chunk", metrics.Counts{Due: 1, Sent: 1}, 0, 0, 1)
		q.Done, q.InputTokens, q.OutputTokens, q.Finish = 4*ms, 5, 2, "stop"
		v.Take(&event.Event{Kind: event.Done, Request: &q})
		s := v.SnapshotAt(10 * ms)
		if got := s.Totals; got.Completed != 1 || got.InputTokens != 5 || got.OutputTokens != 2 || s.Running != 0 || s.Histograms[metrics.TTFT].Count() != 1 {
			t.Errorf("done: %+v, running %d, %d TTFT", got, s.Running, s.Histograms[metrics.TTFT].Count())
		}
	})
}

// Taking a chunk allocates nothing.
func TestTakenChunkAllocatesNothing(t *testing.T) {
	v := NewView(time.Now(), &metrics.Plan{})
	q := metrics.NewRequest(0)
	q.Scheduled, q.Due, q.Admitted, q.Sent = 0, 0, 0, 0
	v.Take(&event.Event{Kind: event.Due, Request: &q})
	v.Take(&event.Event{Kind: event.Sent, Request: &q})
	q.Chunks = make([]metrics.Chunk, 0, 4096)
	chunk := func() {
		q.Add(metrics.Chunk{At: time.Duration(len(q.Chunks)) * 10 * time.Microsecond, Tokens: 1})
		v.Take(&event.Event{Kind: event.Chunk, Request: &q, Chunk: q.Chunks[len(q.Chunks)-1]})
	}
	for range 100 {
		chunk()
	}
	if got := testing.AllocsPerRun(1000, chunk); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
