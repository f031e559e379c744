package metrics

import (
	"testing"
	"time"
)

// The log says once that the first token comes later than the first chunk, as soon as enough requests showed it.
func TestFirstTokensLater(t *testing.T) {
	for _, c := range []struct {
		name  string
		delay time.Duration
		want  int
	}{{"together", 0, 0}, {"less than a tenth", 9 * time.Millisecond, 0}, {"a fifth", 20 * time.Millisecond, 1}} {
		rec := NewRecorder(time.Now(), &Plan{})
		for i := range 3 * firstTokensEvery {
			q := NewRequest(i)
			q.Scheduled, q.Due, q.Admitted, q.Sent = 0, 0, 0, 0
			rec.Due(&q)
			rec.Sent(&q)
			q.Add(Chunk{At: 100 * time.Millisecond})
			rec.Chunk(&q)
			q.Add(Chunk{At: 100*time.Millisecond + c.delay, Tokens: 1, Answer: true})
			rec.Chunk(&q)
			q.Done = time.Second
			rec.Done(&q)
		}
		n := 0
		for _, e := range rec.Snapshot().Log {
			if e.Level == Warn {
				n++
			}
		}
		if n != c.want {
			t.Errorf("%s: %d lines, want %d", c.name, n, c.want)
		}
	}
}

// A run of few requests is told of at its end, and once.
func TestFirstTokensLaterAtTheEnd(t *testing.T) {
	rec := NewRecorder(time.Now(), &Plan{})
	rec.Finish(&Report{Statistics: Statistics{TTFT: Statistic{N: 3, Median: 100}, FirstToken: Statistic{N: 3, Median: 120}}, Ended: time.Second})
	if log := rec.Snapshot().Log; len(log) != 1 || log[0].Level != Warn || log[0].At != time.Second {
		t.Errorf("log %+v", log)
	}
}
