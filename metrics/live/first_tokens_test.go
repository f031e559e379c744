package live

import (
	"testing"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

// The log reports once that the first token comes later than the first chunk, after enough requests.
func TestFirstTokensLater(t *testing.T) {
	for _, c := range []struct {
		name  string
		delay time.Duration
		want  int
	}{{"together", 0, 0}, {"less than a tenth", 9 * time.Millisecond, 0}, {"a fifth", 20 * time.Millisecond, 1}} {
		rec := NewView(time.Now(), &metrics.Plan{})
		for i := range 3 * firstTokensEvery {
			q := metrics.NewRequest(i)
			q.Scheduled, q.Due, q.Admitted, q.Sent = 0, 0, 0, 0
			rec.Take(&event.Event{Kind: event.Due, Request: &q})
			rec.Take(&event.Event{Kind: event.Sent, Request: &q})
			q.Add(metrics.Chunk{At: 100 * time.Millisecond})
			rec.Take(&event.Event{Kind: event.Chunk, Request: &q})
			q.Add(metrics.Chunk{At: 100*time.Millisecond + c.delay, Tokens: 1, Answer: true})
			rec.Take(&event.Event{Kind: event.Chunk, Request: &q})
			q.Done = time.Second
			rec.Take(&event.Event{Kind: event.Done, Request: &q})
		}
		n := 0
		for _, e := range rec.Snapshot().Log {
			if e.Level == metrics.Warn {
				n++
			}
		}
		if n != c.want {
			t.Errorf("%s: %d lines, want %d", c.name, n, c.want)
		}
	}
}

// A run of few requests logs it once, at its end.
func TestFirstTokensLaterAtTheEnd(t *testing.T) {
	rec := NewView(time.Now(), &metrics.Plan{})
	rec.Finish(&metrics.Report{Statistics: metrics.Statistics{metrics.TTFT: metrics.Statistic{N: 3, Median: 100}, metrics.FirstToken: metrics.Statistic{N: 3, Median: 120}}, Ended: time.Second})
	if log := rec.Snapshot().Log; len(log) != 1 || log[0].Level != metrics.Warn || log[0].At != time.Second {
		t.Errorf("log %+v", log)
	}
}
