package metrics_test

import (
	"math"
	"testing"
	"time"

	"benchtop/metrics"
)

func TestBottleneck(t *testing.T) {
	const ms = time.Millisecond
	paced, loop := &metrics.Plan{Rate: 5}, &metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 4}
	split := func(slot, connect, queue, prefill, rest time.Duration) metrics.TTFTSplit {
		return metrics.TTFTSplit{N: 1, SlotWait: slot, Connect: connect, Queue: queue, Prefill: prefill, Rest: rest, TTFT: max(0, queue) + max(0, prefill) + rest}
	}
	for name, c := range map[string]struct {
		plan  *metrics.Plan
		split metrics.TTFTSplit
		want  string
		part  metrics.TTFTPart
	}{
		"queue":                       {paced, split(0, 0, 79*ms, 20*ms, ms), "queue, 79 % of TTFT", metrics.QueuePart},
		"prefill":                     {paced, split(0, 0, 0, 60*ms, 40*ms), "prefill, 60 % of TTFT", metrics.PrefillPart},
		"the network":                 {paced, split(0, 0, 10*ms, 20*ms, 170*ms), "network and frontend, 85 % of TTFT", metrics.RestPart},
		"all of it":                   {paced, split(0, 0, 10*ms, 0, 0), "queue, 100 % of TTFT", metrics.QueuePart},
		"slots of this client":        {paced, split(960*ms, 0, 10*ms, 20*ms, 10*ms), "queued here, 96 % of scheduled to first chunk", metrics.SlotPart},
		"slots without a server's":    {paced, split(75*ms, 0, metrics.Never, metrics.Never, 25*ms), "queued here, 75 % of scheduled to first chunk", metrics.SlotPart},
		"slots of a closed loop":      {loop, split(960*ms, 0, 10*ms, 30*ms, 0), "prefill, 75 % of TTFT", metrics.PrefillPart},
		"connections":                 {loop, split(0, 300*ms, 10*ms, 30*ms, 60*ms), "connect, 75 % of scheduled to first chunk", metrics.ConnectPart},
		"answers in one piece":        {&metrics.Plan{Rate: 5, Pooling: true}, split(0, 0, 75*ms, 0, 25*ms), "queue, 75 % of E2EL", metrics.QueuePart},
		"no server reports":           {paced, split(0, 0, metrics.Never, metrics.Never, 40*ms), "", metrics.NoPart},
		"a rest that may be queue":    {paced, split(0, 0, metrics.Never, 40*ms, 60*ms), "", metrics.NoPart},
		"a prefill beside no queue":   {paced, split(0, 0, metrics.Never, 60*ms, 40*ms), "prefill, 60 % of TTFT", metrics.PrefillPart},
		"no request":                  {paced, metrics.TTFTSplit{Queue: metrics.Never, Prefill: metrics.Never}, "", metrics.NoPart},
		"no time at all":              {paced, split(0, 0, 0, 0, 0), "", metrics.NoPart},
		"more than TTFT by its clock": {paced, metrics.TTFTSplit{N: 1, TTFT: 100 * ms, Queue: 300 * ms, Prefill: 100 * ms}, "queue, 75 % of TTFT", metrics.QueuePart},
	} {
		if got := c.split.Bottleneck(c.plan); got.String() != c.want || got.Part != c.part || got.Known() != (c.want != "") {
			t.Errorf("%s: %+v, want %q", name, got, c.want)
		}
	}
}

// Past saturation the bottleneck is that of the levels there, else that of the whole run.
func TestBottleneckOfAnswer(t *testing.T) {
	s := metrics.Snapshot{Plan: &metrics.Plan{Rate: 5}, At: 40 * time.Second}
	for i := range 40 {
		w := metrics.Window{Start: time.Duration(i) * time.Second, TTFTParts: metrics.TTFTParts{N: 1, TTFT: time.Second}}
		queue := 100 * time.Millisecond
		if i >= 10 && i < 30 {
			queue = 800 * time.Millisecond
		}
		w.Reported = metrics.Reported{TTFTParts: w.TTFTParts, Queued: 1, Queue: queue, Prefilled: 1, Prefill: time.Second - queue}
		s.Windows = append(s.Windows, w)
	}
	whole := metrics.TTFTSplit{N: 1, TTFT: 100, Queue: 45, Prefill: 55}
	levels := []metrics.LoadLevel{{Offered: 2}, {From: 10 * time.Second, Offered: 9}, {From: 20 * time.Second, Offered: 6}, {From: 30 * time.Second, Offered: 3}}
	for _, c := range []struct {
		answer metrics.Answer
		levels []metrics.LoadLevel
		want   string
	}{
		{metrics.Answer{}, levels, "prefill, 55 % of TTFT"},
		{metrics.Answer{Saturates: true, To: 6, After: 2}, levels, "queue, 80 % of TTFT"},
		{metrics.Answer{Saturates: true, To: 9, After: 1}, levels[:2], "queue, 56 % of TTFT"}, // to the end
		{metrics.Answer{Saturates: true, After: -1, Shown: 1}, levels, "queue, 80 % of TTFT"},
		{metrics.Answer{Saturates: true, To: 2, After: 0}, levels[:1], "prefill, 55 % of TTFT"}, // all of it
	} {
		if c.answer.Complete(&s, c.levels, whole); c.answer.Bottleneck.String() != c.want {
			t.Errorf("%+v: want %s", c.answer, c.want)
		}
	}
}

func TestPeakOutput(t *testing.T) {
	var windows []metrics.Window
	for _, n := range []int{900, 10, 20, 30, 40, 50, 60, 0, 0, 700} {
		windows = append(windows, metrics.Window{TokensOut: n})
	}
	for _, c := range []struct {
		from, to time.Duration
		want     float64
	}{
		{0, 10 * time.Second, 200}, {0, 9900 * time.Millisecond, 200}, // the last second is open
		{500 * time.Millisecond, 9 * time.Second, 40}, {time.Second, 10 * time.Second, 162},
		{time.Second, 3 * time.Second, 15}, {0, time.Second, 900}, {0, 900 * time.Millisecond, 0}, {time.Hour, time.Minute, 0}, {0, 1 << 62, 200},
	} {
		if got := metrics.PeakOutput(windows, c.from, c.to); got != c.want {
			t.Errorf("from %s to %s: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}

// The peak of a second is of tokens, after the warm-up, and the last second counts as far as it goes.
func TestPeakSecond(t *testing.T) {
	var windows []metrics.Window
	for _, n := range []int{900, 10, 20, 60, 0, 700} {
		windows = append(windows, metrics.Window{TokensOut: n})
	}
	for _, c := range []struct {
		from, to time.Duration
		want     int
	}{
		{0, 6 * time.Second, 900}, {0, 300 * time.Millisecond, 900}, {500 * time.Millisecond, 6 * time.Second, 700},
		{time.Second, 5 * time.Second, 60}, {time.Second, 5001 * time.Millisecond, 700}, {time.Hour, time.Minute, 0}, {0, 1 << 62, 900},
	} {
		if got := metrics.PeakSecond(windows, c.from, c.to); got != c.want {
			t.Errorf("from %s to %s: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}

// A mean of others' requests names no bottleneck, unless what it can be at most leaves one.
func TestBottleneckBesideOthers(t *testing.T) {
	const ms = time.Millisecond
	paced, users := metrics.Plan{Rate: 5}, metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 4}
	split := func(seen int, slot, queueMost, prefillMost time.Duration) metrics.TTFTSplit {
		return metrics.TTFTSplit{N: 100, SlotWait: slot, TTFT: 100 * ms, Queue: 60 * ms, Prefill: 30 * ms, Rest: 10 * ms,
			Source: metrics.SplitByMetrics, Seen: seen, QueueMost: queueMost, PrefillMost: prefillMost}
	}
	few := split(200, 0, 100*ms, 60*ms)
	few.Prefill, few.PrefillMost = metrics.Never, 0
	for name, c := range map[string]struct {
		plan  metrics.Plan
		split metrics.TTFTSplit
		want  string
	}{
		"its own requests":   {paced, split(100, 0, 0, 0), "queue, 60 % of TTFT"},
		"a few probes":       {paced, split(105, 0, 0, 0), "queue, 60 % of TTFT"},
		"as many others":     {paced, split(200, 0, 100*ms, 60*ms), ""},
		"too short for them": {paced, split(200, 0, 20*ms, 10*ms), "network and frontend, 70 % of TTFT"},
		"queue alone known":  {paced, few, ""},
		"the wait here":      {paced, split(200, 300*ms, 100*ms, 60*ms), "queued here, 75 % of scheduled to first chunk"},
		"closed loop":        {users, split(200, 300*ms, 100*ms, 60*ms), ""},
	} {
		if got := c.split.Bottleneck(&c.plan).String(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
