package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/muesli/termenv"

	"benchtop/metrics"
	liveview "benchtop/metrics/live"
	"benchtop/metrics/report"
)

// pooled is a run whose answers come in one piece: 8 requests a second of 100 tokens, 250 ms each.
func pooled(finished bool) metrics.Snapshot {
	const end = 20 * time.Second
	plan := metrics.Plan{Backend: "openai-embeddings", Pooling: true, ModelID: "org/E", Load: "8 req/s", Rate: 8, Percentiles: []float64{99},
		Goodput: metrics.SLO{{Metric: metrics.E2EL, LimitMS: 500}}}
	rec := liveview.NewView(time.Now().Add(-end), &plan)
	var all []*metrics.Request
	for i := range 150 {
		q := metrics.NewRequest(i)
		q.Scheduled = time.Duration(i) * time.Second / 8
		q.Due, q.Admitted, q.Sent = q.Scheduled, q.Scheduled, q.Scheduled
		q.InputTokens, q.InputSource = 100, metrics.TokensFromUsage
		q.Add(metrics.Chunk{At: q.Sent + 250*time.Millisecond})
		q.Done = q.LastChunk
		all = append(all, &q)
	}
	play(rec, all, end)
	if finished {
		report, err := report.Summarize(func(yield func(metrics.Request, error) bool) {
			for _, q := range all {
				if !yield(*q, nil) {
					return
				}
			}
		}, metrics.Run{Plan: plan, Ended: end})
		if err != nil {
			panic(err)
		}
		rec.Finish(&report)
	}
	return exactly(rec.Snapshot(), end)
}

// Where answers come in one piece the screen shows E2EL and the tokens of the prompts, on every page and at every size, and no
// figure of tokens that never come.
func TestPooling(t *testing.T) {
	for _, finished := range []bool{false, true} {
		for _, size := range sizes {
			m := open(pooled(finished), size[0], size[1], termenv.Ascii)
			for p := range m.pages() {
				m.turn(p)
				screen := m.View()
				for _, word := range []string{"NaN", "TTFT p99", "ITL p99", "out tok/s", "TTFT by second", "why TTFT", "p99 TTFT", "TTFT p50", "mean TTFT"} {
					if strings.Contains(screen, word) {
						t.Errorf("%v, finished %v, page %d: %q is on\n%s", size, finished, p, word, screen)
					}
				}
			}
			m.turn(0)
			if got := m.View(); size[0] >= 80 && (!strings.Contains(got, "E2EL p99") || !strings.Contains(got, "in tok/s")) {
				t.Errorf("%v:\n%s", size, got)
			}
		}
	}
	m := open(pooled(false), 120, 40, termenv.Ascii)
	if got := m.View(); !strings.Contains(got, "answers come in one piece: there is no ITL") {
		t.Errorf("the panel of ITL does not say why it is empty:\n%s", got)
	}
	m.turn(1)
	seen := map[metrics.Latency]bool{}
	for range latencies { // each that is not of a stream, and no other
		press(m, "m")
		if seen[m.latency] = true; m.latency.Streams() {
			t.Errorf("%s is shown", m.latency.Naming().Title)
		}
	}
	for _, l := range latencies {
		if seen[l] == l.Streams() {
			t.Errorf("%s: the key comes to it: %v", l.Naming().Title, seen[l])
		}
	}
	if got := m.summary(); !strings.Contains(got, "input tokens/s") || strings.Contains(got, "TTFT") {
		t.Errorf("copied:\n%s", got)
	}
}
