package metrics_test

import (
	"math"
	"testing"
	"time"

	"benchtop/internal/assert"
	. "benchtop/metrics"
)

func TestBottleneck(t *testing.T) {
	paced, loop := &Plan{Rate: 5}, &Plan{Rate: Rate(math.Inf(1)), MaxConcurrency: 4}
	split := func(slot, connect, queue, prefill, rest time.Duration) TTFTSplit {
		ttft := max(0, queue) + max(0, prefill) + rest
		return TTFTSplit{N: 1, SlotWait: slot, Connect: connect, Queue: queue, Prefill: prefill, Rest: rest, TTFT: ttft}
	}
	for _, c := range []struct {
		name  string
		plan  *Plan
		split TTFTSplit
		want  string
		part  TTFTPart
	}{
		{"queue", paced, split(0, 0, 79*ms, 20*ms, ms), "queue, 79 % of TTFT", QueuePart},
		{"prefill", paced, split(0, 0, 0, 60*ms, 40*ms), "prefill, 60 % of TTFT", PrefillPart},
		{"the network", paced, split(0, 0, 10*ms, 20*ms, 170*ms), "network and frontend, 85 % of TTFT", RestPart},
		{"all of it", paced, split(0, 0, 10*ms, 0, 0), "queue, 100 % of TTFT", QueuePart},
		{"slots of this client", paced, split(960*ms, 0, 10*ms, 20*ms, 10*ms),
			"queued here, 96 % of scheduled to first chunk", SlotPart},
		{"slots without a server's", paced, split(75*ms, 0, Never, Never, 25*ms),
			"queued here, 75 % of scheduled to first chunk", SlotPart},
		{"slots of a closed loop", loop, split(960*ms, 0, 10*ms, 30*ms, 0), "prefill, 75 % of TTFT", PrefillPart},
		{"connections", loop, split(0, 300*ms, 10*ms, 30*ms, 60*ms), "connect, 75 % of scheduled to first chunk",
			ConnectPart},
		{"answers in one piece", &Plan{Rate: 5, Pooling: true}, split(0, 0, 75*ms, 0, 25*ms), "queue, 75 % of E2EL",
			QueuePart},
		{"no server reports", paced, split(0, 0, Never, Never, 40*ms), "", NoPart},
		{"a rest that may be queue", paced, split(0, 0, Never, 40*ms, 60*ms), "", NoPart},
		{"a prefill beside no queue", paced, split(0, 0, Never, 60*ms, 40*ms), "prefill, 60 % of TTFT", PrefillPart},
		{"no request", paced, TTFTSplit{Queue: Never, Prefill: Never}, "", NoPart},
		{"no time at all", paced, split(0, 0, 0, 0, 0), "", NoPart},
		{"more than TTFT by its clock", paced, TTFTSplit{N: 1, TTFT: 100 * ms, Queue: 300 * ms, Prefill: 100 * ms},
			"queue, 75 % of TTFT", QueuePart},
	} {
		if got := c.split.Bottleneck(c.plan); got.String() != c.want || got.Part != c.part ||
			got.Known() != (c.want != "") {
			t.Errorf("%s: %+v, want %q", c.name, got, c.want)
		}
	}
}

// Past saturation the bottleneck is that of the levels there, else that of the whole run.
func TestBottleneckOfAnswer(t *testing.T) {
	s := Snapshot{Plan: &Plan{Rate: 5}, At: 40 * second}
	for i := range 40 {
		w := &Window{Start: time.Duration(i) * second, TTFTParts: TTFTParts{N: 1, TTFT: second}}
		queue := 100 * ms
		if i >= 10 && i < 30 {
			queue = 800 * ms
		}
		w.Reported = ServerTimes{TTFTParts: w.TTFTParts, Queued: 1, Queue: queue, Prefilled: 1, Prefill: second - queue}
		s.Windows = append(s.Windows, w)
	}
	whole := TTFTSplit{N: 1, TTFT: 100, Queue: 45, Prefill: 55}
	levels := []LoadLevel{{Offered: 2}, {From: 10 * second, Offered: 9}, {From: 20 * second, Offered: 6},
		{From: 30 * second, Offered: 3}}
	for _, c := range []struct {
		answer Answer
		levels []LoadLevel
		want   string
	}{
		{Answer{}, levels, "prefill, 55 % of TTFT"},
		{Answer{Saturates: true, To: 6, After: 2}, levels, "queue, 80 % of TTFT"},
		{Answer{Saturates: true, To: 9, After: 1}, levels[:2], "queue, 56 % of TTFT"}, // to the end
		{Answer{Saturates: true, After: -1, Shown: 1}, levels, "queue, 80 % of TTFT"},
		{Answer{Saturates: true, To: 2, After: 0}, levels[:1], "prefill, 55 % of TTFT"}, // all of it
	} {
		if c.answer.Complete(&s, c.levels, whole); c.answer.Bottleneck.String() != c.want {
			t.Errorf("%+v: want %s", c.answer, c.want)
		}
	}
}

func TestPeakOutput(t *testing.T) {
	windows := Each([]int{900, 10, 20, 30, 40, 50, 60, 0, 0, 700}, func(n int) *Window {
		return &Window{TokensOut: n}
	})
	for _, c := range []struct {
		from, to time.Duration
		want     float64
	}{
		{0, 10 * second, 200}, {0, 9900 * ms, 200}, // the last second is open
		{500 * ms, 9 * second, 40}, {second, 10 * second, 162},
		{second, 3 * second, 15}, {0, second, 900}, {0, 900 * ms, 0}, {time.Hour, minute, 0}, {0, 1 << 62, 200},
	} {
		assert.Equal(t, PeakOutput(windows, c.from, c.to), c.want, "from %s to %s", c.from, c.to)
	}
}

// The peak of a second is of tokens, after the warm-up, and the last second counts as far as it goes.
func TestPeakSecond(t *testing.T) {
	windows := Each([]int{900, 10, 20, 60, 0, 700}, func(n int) *Window { return &Window{TokensOut: n} })
	for _, c := range []struct {
		from, to time.Duration
		want     int
	}{
		{0, 6 * second, 900}, {0, 300 * ms, 900}, {500 * ms, 6 * second, 700},
		{second, 5 * second, 60}, {second, 5001 * ms, 700}, {time.Hour, minute, 0}, {0, 1 << 62, 900},
	} {
		assert.Equal(t, PeakSecond(windows, c.from, c.to), c.want, "from %s to %s", c.from, c.to)
	}
}

// A mean of others' requests names no bottleneck, unless what it can be at most leaves one.
func TestBottleneckBesideOthers(t *testing.T) {
	paced, users := Plan{Rate: 5}, Plan{Rate: Rate(math.Inf(1)), MaxConcurrency: 4}
	split := func(seen int, slot, queueMost, prefillMost time.Duration) TTFTSplit {
		return TTFTSplit{N: 100, SlotWait: slot, TTFT: 100 * ms, Queue: 60 * ms, Prefill: 30 * ms, Rest: 10 * ms,
			Source: SplitByMetrics, Seen: seen, QueueMost: queueMost, PrefillMost: prefillMost}
	}
	few := split(200, 0, 100*ms, 60*ms)
	few.Prefill, few.PrefillMost = Never, 0
	for _, c := range []struct {
		name  string
		plan  Plan
		split TTFTSplit
		want  string
	}{
		{"its own requests", paced, split(100, 0, 0, 0), "queue, 60 % of TTFT"},
		{"a few probes", paced, split(105, 0, 0, 0), "queue, 60 % of TTFT"},
		{"as many others", paced, split(200, 0, 100*ms, 60*ms), ""},
		{"too short for them", paced, split(200, 0, 20*ms, 10*ms), "network and frontend, 70 % of TTFT"},
		{"queue alone known", paced, few, ""},
		{"the wait here", paced, split(200, 300*ms, 100*ms, 60*ms), "queued here, 75 % of scheduled to first chunk"},
		{"closed loop", users, split(200, 300*ms, 100*ms, 60*ms), ""},
	} {
		assert.Equal(t, c.split.Bottleneck(&c.plan).String(), c.want, "%s", c.name)
	}
}
