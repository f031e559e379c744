package offline

import (
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// Percentiles are numpy's, computed by numpy.percentile of the same values.
func TestPercentiles(t *testing.T) {
	values := []float64{0.51, 0.32, 0.4475, 0.3901, 0.61, 0.33, 0.5202}
	want := map[float64]float64{10: 0.326, 25: 0.36005, 50: 0.4475, 75: 0.5151, 90: 0.5561200000000001,
		99: 0.6046119999999999}
	slices.Sort(values)
	for p, w := range want {
		assert.Equal(t, percentile(values, p), w, "P%g", p)
	}
	assert.Equal(t, percentile([]float64{3}, 99), 3, "of one value")
}

// The span reaches from the first request sent to the last end. Requests that could not be sent count for the end of
// the sending.
func TestSpan(t *testing.T) {
	ms := time.Millisecond
	told := 0
	s := &SpanSink{Requests: 3, AllSent: func() { told++ }}
	sent := func(q *metrics.Request, at time.Duration) {
		q.Sent = at
		s.Take(&event.Event{At: at, Kind: event.Sent, Request: q})
	}
	done := func(q *metrics.Request, at time.Duration) {
		q.Done = at
		s.Take(&event.Event{At: at, Kind: event.Done, Request: q})
	}
	a, b, c := metrics.NewRequest(0), metrics.NewRequest(1), metrics.NewRequest(2)
	sent(&a, 5*ms)
	done(&c, 6*ms) // never sent
	assert.Equal(t, told, 0, "all are said to be sent too early")
	sent(&b, 9*ms)
	done(&b, 90*ms)
	done(&a, 40*ms)
	if got, want := s.Span(), (Span{FirstSent: 5 * ms, LastSent: 9 * ms, Ended: 90 * ms}); got != want || told != 1 {
		t.Errorf("span %v, told %d times; want %v, once", got, told, want)
	}
}

// The time that a paused server is given to read the requests is not in the time of a throughput.
func TestThroughputAfterPause(t *testing.T) {
	sec := time.Second
	r := &metrics.Report{Counts: metrics.Counts{Inputs: 10, InputTokens: 100, OutputTokens: 40}}
	s := Span{FirstSent: 1 * sec, LastSent: 2 * sec, Ended: 9 * sec}
	if got := ThroughputOf(r, s, metrics.Never); got.Elapsed != 8*sec || got.Engine != 0 {
		t.Errorf("without a pause: %s, %s", got.Elapsed, got.Engine)
	}
	paused := ThroughputOf(r, s, 5*sec)
	if paused.Elapsed != 5*sec || paused.Engine != 4*sec {
		t.Errorf("with a pause: %s, %s; want 5s, 4s", paused.Elapsed, paused.Engine)
	}
	var text strings.Builder
	if err := paused.Text(&text); err != nil || !strings.HasPrefix(text.String(),
		"Throughput: 2.00 requests/s, 28.00 total tokens/s, 8.00 output tokens/s\nTotal num prompt tokens:  "+
			"100\nTotal num output tokens:  40\n") {
		t.Errorf("%v: %s", err, text.String())
	}
}

// The lines of a latency are vLLM's, with the digits that Python prints.
func TestLatencyText(t *testing.T) {
	l := Latency{Times: []time.Duration{300 * time.Millisecond, 100 * time.Millisecond}, Batch: 2, List: true}
	var text strings.Builder
	if err := l.Text(&text); err != nil ||
		!strings.HasPrefix(text.String(), "Avg latency: 0.2 seconds\n10% percentile latency: 0.12000000000000001 "+
			"seconds\n25% percentile latency: 0.15 seconds\n") {
		t.Errorf("%v: %s", err, text.String())
	}
}
