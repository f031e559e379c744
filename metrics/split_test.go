package metrics_test

import (
	"testing"
	"time"

	"benchtop/internal/assert"
	. "benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
)

func TestSplit(t *testing.T) {
	tells := func(n float64, mean time.Duration) ServerLatency {
		return ServerLatency{N: n, Mean: mean}
	}
	ten := TTFTParts{N: 10, SlotWait: 50 * ms, Connect: 20 * ms, TTFT: 2000 * ms}
	four := TTFTParts{N: 4, SlotWait: 20 * ms, Connect: 8 * ms, TTFT: 800 * ms}
	six := TTFTParts{N: 6, SlotWait: 30 * ms, Connect: 12 * ms, TTFT: 1200 * ms}
	page := func(seen int, queue, prefill, rest, queueMost, prefillMost time.Duration) TTFTSplit {
		return TTFTSplit{Queue: queue, Prefill: prefill, Rest: rest, Source: SplitByMetrics, Seen: seen,
			QueueMost: queueMost, PrefillMost: prefillMost}
	}
	looks := []ServerSecond{
		{At: 1 * second, Queue: tells(100, time.Hour), Prefill: tells(100, time.Hour)}, // too early
		{At: 2 * second, Took: second, First: four, Queue: tells(2, 40*ms), Prefill: tells(9, 10*ms)},
		// of other clients, too
		{At: 3 * second, Took: second, First: six, Queue: tells(6, 80*ms), Prefill: tells(3, 30*ms)},
		{At: 4 * second, Took: second, Queue: tells(100, time.Hour), Prefill: tells(100, time.Hour)}, // too late
	}
	atEnd := []ServerSecond{
		looks[0],
		{At: 2 * second, Took: second, WaitsAtEnd: true, First: ten},
		{At: 3 * second, Took: second, WaitsAtEnd: true, First: ten,
			Ended: TTFTParts{N: 4, SlotWait: 8 * ms, Connect: 8 * ms, TTFT: 400 * ms},
			Queue: tells(4, 85*ms), Prefill: tells(4, 10*ms)},
	}
	fallen := []ServerSecond{looks[0], looks[1], looks[2]} // the first of them counts nothing
	no := Unsaid()
	fallen[1] = ServerSecond{At: looks[1].At, Took: looks[1].Took, First: four,
		Preemptions: no, PrefixQueries: no, PromptTokens: no, OutputTokens: no, DraftTokens: no}
	fewer := func(queue, prefill float64) []ServerSecond {
		return []ServerSecond{{At: 3 * second, Took: 2 * second, First: ten, Queue: tells(queue, 70*ms),
			Prefill: tells(prefill, 15*ms)}}
	}
	unknown := TTFTSplit{Queue: Never, Prefill: Never, Rest: 200 * ms, Source: SplitUnknown}
	half := ServerTimes{TTFTParts: TTFTParts{N: 5, SlotWait: 5 * ms, Connect: 50 * ms, TTFT: 800 * ms}, Queued: 5,
		Prefilled: 5, Queue: 250 * ms, Prefill: 500 * ms}
	for _, c := range []struct {
		name   string
		told   ServerTimes
		server []ServerSecond
		want   TTFTSplit
	}{
		{"nobody tells", ServerTimes{}, nil, unknown},
		{"the metrics page", ServerTimes{}, looks, page(12, 70*ms, 15*ms, 115*ms, 200*ms, 18*ms)},
		{"a page that was there for a part of the time", ServerTimes{}, looks[:2], unknown},
		{"a page that came back late", ServerTimes{}, looks[2:], unknown},
		{"a page that told of few requests", ServerTimes{}, fewer(7, 7), unknown},
		{"a page that told of enough", ServerTimes{}, fewer(8, 7), page(8, 70*ms, Never, 130*ms, 0, 0)},
		// The page does not count the ten requests with a first chunk before their end.
		{"a page that tells when requests end", ServerTimes{}, atEnd,
			TTFTSplit{N: 4, SlotWait: 2 * ms, Connect: 2 * ms, TTFT: 100 * ms, Queue: 85 * ms, Prefill: 10 * ms,
				Rest: 5 * ms, Source: SplitByMetrics, Seen: 4}},
		// The own requests cannot have waited longer than all of them together, nor than their TTFT.
		{"a page of twice as many requests", ServerTimes{}, fewer(20, 20),
			page(20, 70*ms, 15*ms, 115*ms, 140*ms, 30*ms)},
		{"a page of a hundred", ServerTimes{}, fewer(100, 100), page(100, 70*ms, 15*ms, 115*ms, 200*ms, 150*ms)},
		{"none has ended", ServerTimes{}, atEnd[:2], unknown},
		{"counters that fell", ServerTimes{}, fallen, TTFTSplit{N: 6, SlotWait: 5 * ms, Connect: 2 * ms, TTFT: 200 * ms,
			Queue: 80 * ms, Prefill: Never, Rest: 120 * ms,
			Source: SplitByMetrics, Seen: 6}},
		// The other half is still in flight: all means are of the requests with figures.
		{"half of the requests", half, looks,
			TTFTSplit{N: 5, SlotWait: ms, Connect: 10 * ms, TTFT: 160 * ms, Queue: 50 * ms, Prefill: 100 * ms,
				Rest: 10 * ms, Source: SplitByRequests}},
		{"fewer than half", ServerTimes{TTFTParts: half.TTFTParts, Queued: 4, Prefilled: 4, Queue: 250 * ms,
			Prefill: 500 * ms}, looks, page(12, 70*ms, 15*ms, 115*ms, 200*ms, 18*ms)},
		{"prefill alone", ServerTimes{TTFTParts: ten, Prefilled: 10, Prefill: 500 * ms}, nil,
			TTFTSplit{Queue: Never, Prefill: 50 * ms, Rest: 150 * ms, Source: SplitByRequests}},
		{"more than TTFT", ServerTimes{TTFTParts: ten, Queued: 10, Queue: 3000 * ms}, nil,
			TTFTSplit{Queue: 300 * ms, Prefill: Never, Rest: 0, Source: SplitByRequests}},
	} {
		s := Snapshot{At: minute, Telemetry: Telemetry{Server: c.server}, Windows: []*Window{
			{Start: 0, TTFTParts: TTFTParts{N: 1, TTFT: time.Hour}},
			{Start: second, TTFTParts: TTFTParts{}},
			{Start: 2 * second, TTFTParts: ten, Reported: c.told},
			{Start: 3 * second, TTFTParts: TTFTParts{N: 1, TTFT: time.Hour}},
		}}
		if c.want.N == 0 {
			c.want.N, c.want.SlotWait, c.want.Connect, c.want.TTFT = 10, 5*ms, 2*ms, 200*ms
		}
		assert.Equal(t, s.SplitOver(second, 3*second), c.want, "%s", c.name)
	}
	// The beginning of a run is shorter than the span, and the last sample may come after its end.
	begun := Snapshot{At: 3 * second, Telemetry: Telemetry{Server: looks[1:]},
		Windows: []*Window{{Start: 2 * second, TTFTParts: ten}}}
	begun.Server[2].At = begun.At + 1
	begun.Server[0].Took = 2 * second
	if got := begun.SplitOver(-minute, time.Hour); got.Source != SplitByMetrics {
		t.Errorf("the beginning: %+v", got)
	}
	empty := Snapshot{}
	want := TTFTSplit{Queue: Never, Prefill: Never, Source: SplitUnknown}
	assert.Equal(t, empty.SplitOver(-5, time.Hour), want, "no requests")
}

// A server counts each prompt of a batch.
func TestSplitOfBatches(t *testing.T) {
	q := NewRequest(0)
	q.Inputs, q.Sent, q.FirstChunk = 4, 0, 100*ms
	var first TTFTParts
	for range 10 {
		first.Count(&q, 1)
	}
	page := ServerLatency{N: 40, Mean: 20 * ms}
	look := ServerSecond{At: second, Took: second, First: first, TTFT: page, Queue: page, Prefill: page}
	s := Snapshot{At: second, Telemetry: Telemetry{Server: []ServerSecond{look}},
		Windows: []*Window{{TTFTParts: first}}}
	if got := s.SplitOver(0, second); got.N != 10 || got.Seen != 40 || got.OfOthers() || got.Rest != 60*ms {
		t.Errorf("got %+v", got)
	}
	page.N = 12 // too few of the prompts, though more than there were requests
	s.Server[0].Queue, s.Server[0].Prefill = page, page
	if got := s.SplitOver(0, second); got.Source != SplitUnknown {
		t.Errorf("12 of 40 prompts: %+v", got)
	}
	first.Count(&q, -1)
	if first.N != 9 || first.Prompts() != 36 {
		t.Errorf("one taken out: %+v", first)
	}
}

// A queue grows at a server whose answers take five seconds, and whose page counts the wait of a request at its end, as
// vLLM's does. The live split is of the requests that the page has counted, and the report has the same split of all.
func TestSplitOfAGrowingQueue(t *testing.T) {
	var all []Request
	for i := range 100 {
		q := NewRequest(i)
		q.Scheduled = time.Duration(i) * 100 * ms
		q.Due, q.Admitted, q.Sent = q.Scheduled, q.Scheduled, q.Scheduled
		first := q.Sent + 20*ms + time.Duration(i)*80*ms // of which all but 20 ms was the queue
		for k := range 6 {
			q.Add(Chunk{At: first + time.Duration(k)*second, Tokens: 1})
		}
		q.OutputTokens, q.Done = 6, q.LastChunk
		all = append(all, q)
	}
	const end = 24 * second
	plan := Plan{Rate: 10}
	r := live.NewView(time.Now(), &plan)
	var run Run
	for at := second; at <= end; at += second {
		look := ServerSecond{At: at, Took: second, WaitsAtEnd: true}
		for i := range all {
			q := &all[i]
			now := func(m time.Duration) bool { return m > at-second && m <= at }
			if now(q.Sent) || i == 0 && at == second {
				eventtest.Step(r, event.Due, q)
				eventtest.Step(r, event.Sent, q)
			}
			for k := range q.Chunks {
				if now(q.Chunks[k].At) {
					told := *q
					q.Chunks = q.Chunks[:k+1]
					eventtest.Step(r, event.Chunk, q)
					q.Chunks = told.Chunks
				}
			}
			if now(q.Done) {
				eventtest.Step(r, event.Done, q)
				look.Queue = joined(look.Queue, q.TTFT()-20*ms)
				look.Prefill = joined(look.Prefill, 10*ms)
			}
		}
		eventtest.Tell(r, look)
		run.Server = append(run.Server, look)
		s := r.SnapshotAt(at)
		split := s.SplitOver(0, at)
		if at <= 5*second {
			if split.Source != SplitUnknown || split.N == 0 {
				t.Errorf("at %s nothing has ended: %+v", at, split)
			}
			continue
		}
		if split.Source != SplitByMetrics || (split.Rest-10*ms).Abs() > ms || split.Seen != split.N ||
			split.N != s.Totals.Completed {
			t.Errorf("at %s: %+v, want a rest of 10 ms, of the %d that ended", at, split, s.Totals.Completed)
		}
	}
	run.Plan, run.Ended = plan, end
	summary := summarize(t, all, run)
	s := r.SnapshotAt(end)
	if got := s.SplitOver(0, end); got != summary.Split || got.N != 100 {
		t.Errorf("at the end %+v, the report has %+v", got, summary.Split)
	}
}

// joined adds a value to a mean.
func joined(l ServerLatency, d time.Duration) ServerLatency {
	return ServerLatency{N: l.N + 1, Mean: (l.Mean*time.Duration(l.N) + d) / time.Duration(l.N+1)}
}

// A page that was gone before the end is no source for the whole run.
func TestReportOfAPageThatWasGone(t *testing.T) {
	var all []Request
	for i := range 100 {
		all = append(all, eventtest.Simple(i, time.Duration(i)*100*ms, 400*ms, 10*ms, 3))
	}
	looks := func(n int) (out []ServerSecond) {
		for i := range n {
			told := ServerLatency{N: 10, Mean: 40 * ms}
			out = append(out,
				ServerSecond{At: time.Duration(i+1) * second, Took: second, TTFT: told, Queue: told, Prefill: told})
		}
		return out
	}
	busy := looks(5)
	for i := range busy {
		busy[i].TTFT.N, busy[i].Queue.N, busy[i].Prefill.N = 100, 100, 100 // other clients' do not make up for the time
	}
	for _, c := range []struct {
		name   string
		server []ServerSecond
		whole  bool
	}{{"to the end", looks(11), true}, {"half of it", looks(5), false}, {"half of it, of many", busy, false},
		{"none", nil, false}} {
		r := summarize(t, all,
			Run{Plan: Plan{Rate: 10}, End: End{Ended: 10500 * ms}, Telemetry: Telemetry{Server: c.server}})
		if known := r.Split.Source == SplitByMetrics; known != c.whole || r.ComparesTTFT() != c.whole {
			t.Errorf("%s: %+v, compares %v", c.name, r.Split, r.ComparesTTFT())
		}
	}
}
