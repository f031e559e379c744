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
		{At: 2 * time.Second, Queue: tells(1, 40*ms), Prefill: tells(3, 10*ms)},
		{At: 3 * time.Second, Queue: tells(3, 80*ms), Prefill: tells(1, 30*ms)},
		{At: 4 * time.Second, Queue: tells(100, time.Hour), Prefill: tells(100, time.Hour)}, // too late
	}
	ten := Waits{N: 10, Held: 50 * ms, Connect: 20 * ms, TTFT: 2000 * ms}
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
		{"nobody tells", ten, nil, TTFTSplit{Queue: Never, Prefill: Never, Rest: 200 * ms, Source: SplitUnknown}},
		{"the metrics page", ten, looks, TTFTSplit{Queue: 70 * ms, Prefill: 15 * ms, Rest: 115 * ms, Source: SplitByMetrics}},
		// The other half waits so long that its answers are still to come: what told adds up to its own TTFT.
		{"half of the requests", with(func(w *Waits) {
			w.Told, w.ToldPrefill, w.Queue, w.Prefill = 5, 5, 250*ms, 500*ms
			w.Answered, w.AnsweredTTFT = 5, 800*ms
		}), looks, TTFTSplit{TTFT: 160 * ms, Queue: 50 * ms, Prefill: 100 * ms, Rest: 10 * ms, Source: SplitByRequests}},
		{"fewer than half", with(func(w *Waits) { w.Told, w.ToldPrefill, w.Queue, w.Prefill = 4, 4, 250*ms, 500*ms }), looks,
			TTFTSplit{Queue: 70 * ms, Prefill: 15 * ms, Rest: 115 * ms, Source: SplitByMetrics}},
		{"prefill alone", with(func(w *Waits) { w.ToldPrefill, w.Prefill, w.Answered, w.AnsweredTTFT = 10, 500*ms, 10, w.TTFT }), nil,
			TTFTSplit{Queue: Never, Prefill: 50 * ms, Rest: 150 * ms, Source: SplitByRequests}},
		{"more than TTFT", with(func(w *Waits) { w.Told, w.Queue, w.Answered, w.AnsweredTTFT = 10, 3000*ms, 10, w.TTFT }), nil,
			TTFTSplit{Queue: 300 * ms, Prefill: Never, Rest: 0, Source: SplitByRequests}},
	} {
		s := Snapshot{Server: c.server, Windows: []Window{
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
	empty := Snapshot{Server: looks}
	want := TTFTSplit{Queue: Never, Prefill: Never, Source: SplitUnknown}
	if got := empty.SplitOver(-5, time.Hour); got != want {
		t.Errorf("no requests: %+v", got)
	}
}
