package metrics

import (
	"testing"
	"time"
)

func TestSplit(t *testing.T) {
	const ms = time.Millisecond
	tells := func(n float64, mean time.Duration) ServerLatency { return ServerLatency{N: n, Mean: mean} }
	looks := []ServerSecond{
		{At: 1 * time.Second, Queue: tells(100, time.Hour), Prefill: tells(100, time.Hour)}, // too early
		{At: 2 * time.Second, Took: time.Second, Queue: tells(2, 40*ms), Prefill: tells(9, 10*ms)},
		{At: 3 * time.Second, Took: time.Second, Queue: tells(6, 80*ms), Prefill: tells(3, 30*ms)},             // of other clients, too
		{At: 4 * time.Second, Took: time.Second, Queue: tells(100, time.Hour), Prefill: tells(100, time.Hour)}, // too late
	}
	ten := Waits{N: 10, Held: 50 * ms, Connect: 20 * ms, TTFT: 2000 * ms}
	fewer := func(queue, prefill float64) []ServerSecond {
		return []ServerSecond{{At: 3 * time.Second, Took: 2 * time.Second, Queue: tells(queue, 70*ms), Prefill: tells(prefill, 15*ms)}}
	}
	unknown := TTFTSplit{Queue: Never, Prefill: Never, Rest: 200 * ms, Source: SplitUnknown}
	with := func(change func(*Waits)) Waits {
		w := ten
		change(&w)
		return w
	}
	for _, c := range []struct {
		name   string
		waits  Waits
		server []ServerSecond
		want   TTFTSplit
	}{
		{"nobody tells", ten, nil, unknown},
		{"the metrics page", ten, looks, TTFTSplit{Queue: 70 * ms, Prefill: 15 * ms, Rest: 115 * ms, Source: SplitByMetrics, Seen: 12}},
		{"a page that was there for a part of the time", ten, looks[:2], unknown},
		{"a page that came back late", ten, looks[2:], unknown},
		{"a page that told of few requests", ten, fewer(7, 7), unknown},
		{"a page that told of enough", ten, fewer(8, 7), TTFTSplit{Queue: 70 * ms, Prefill: Never, Rest: 130 * ms, Source: SplitByMetrics, Seen: 8}},
		// The other half waits so long that its answers are still to come: what told adds up to its own TTFT.
		{"half of the requests", with(func(w *Waits) {
			w.Told, w.ToldPrefill, w.Queue, w.Prefill = 5, 5, 250*ms, 500*ms
			w.Answered, w.AnsweredTTFT = 5, 800*ms
		}), looks, TTFTSplit{TTFT: 160 * ms, Queue: 50 * ms, Prefill: 100 * ms, Rest: 10 * ms, Source: SplitByRequests}},
		{"fewer than half", with(func(w *Waits) { w.Told, w.ToldPrefill, w.Queue, w.Prefill = 4, 4, 250*ms, 500*ms }), looks,
			TTFTSplit{Queue: 70 * ms, Prefill: 15 * ms, Rest: 115 * ms, Source: SplitByMetrics, Seen: 12}},
		{"prefill alone", with(func(w *Waits) { w.ToldPrefill, w.Prefill, w.Answered, w.AnsweredTTFT = 10, 500*ms, 10, w.TTFT }), nil,
			TTFTSplit{Queue: Never, Prefill: 50 * ms, Rest: 150 * ms, Source: SplitByRequests}},
		{"more than TTFT", with(func(w *Waits) { w.Told, w.Queue, w.Answered, w.AnsweredTTFT = 10, 3000*ms, 10, w.TTFT }), nil,
			TTFTSplit{Queue: 300 * ms, Prefill: Never, Rest: 0, Source: SplitByRequests}},
	} {
		s := Snapshot{At: time.Minute, Server: c.server, Windows: []Window{
			{Start: 0, Waits: Waits{N: 1, TTFT: time.Hour}},
			{Start: time.Second, Waits: Waits{}},
			{Start: 2 * time.Second, Waits: c.waits},
			{Start: 3 * time.Second, Waits: Waits{N: 1, TTFT: time.Hour}},
		}}
		c.want.N, c.want.Held, c.want.Connect = 10, 5*ms, 2*ms
		if c.want.TTFT == 0 {
			c.want.TTFT = 200 * ms
		}
		if got := s.SplitOver(time.Second, 3*time.Second); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	// The beginning of a run is shorter than the span that is asked for, and the last look may come after its end.
	begun := Snapshot{At: 3 * time.Second, Server: looks[1:], Windows: []Window{{Start: 2 * time.Second, Waits: ten}}}
	begun.Server[2].At = begun.At + 1
	begun.Server[0].Took = 2 * time.Second
	if got := begun.SplitOver(-time.Minute, time.Hour); got.Source != SplitByMetrics {
		t.Errorf("the beginning: %+v", got)
	}
	empty := Snapshot{Server: looks}
	want := TTFTSplit{Queue: Never, Prefill: Never, Source: SplitUnknown}
	if got := empty.SplitOver(-5, time.Hour); got != want {
		t.Errorf("no requests: %+v", got)
	}
}

// A page that was gone before the end says nothing of the whole: neither where TTFT went nor how long it was.
func TestReportOfAPageThatWasGone(t *testing.T) {
	const ms = time.Millisecond
	var all []Request
	for i := range 100 {
		all = append(all, simple(i, time.Duration(i)*100*ms, 400*ms, 10*ms, 3))
	}
	looks := func(n int) (out []ServerSecond) {
		for i := range n {
			told := ServerLatency{N: 10, Mean: 40 * ms}
			out = append(out, ServerSecond{At: time.Duration(i+1) * time.Second, Took: time.Second, TTFT: told, Queue: told, Prefill: told})
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
	}{{"to the end", looks(11), true}, {"half of it", looks(5), false}, {"half of it, of many", busy, false}, {"none", nil, false}} {
		r, err := Summarize(yield(all), Run{Plan: Plan{Rate: 10}, Ended: 10500 * ms, Server: c.server})
		if err != nil {
			t.Fatal(err)
		}
		if known := r.Split.Source == SplitByMetrics; known != c.whole || r.ComparesTTFT() != c.whole {
			t.Errorf("%s: %+v, compares %v", c.name, r.Split, r.ComparesTTFT())
		}
	}
}
