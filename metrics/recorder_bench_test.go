package metrics

import (
	"testing"
	"time"
)

// recorded is a recorder after so many requests of ten chunks.
func recorded(n int) *Recorder {
	rec := NewRecorder(time.Now(), &Plan{Ramp: &Ramp{Strategy: "linear", From: 1, To: 2000, Over: time.Minute}, Rate: 1, Goodput: SLO{{TTFT, 50}}})
	for i := range n {
		oneRequest(rec, i, time.Duration(i)*100*time.Microsecond)
	}
	return rec
}

func oneRequest(rec *Recorder, i int, at time.Duration) {
	q := NewRequest(i)
	q.Scheduled, q.Due, q.Admitted, q.Sent = at, at, at, at
	rec.Due(&q)
	rec.Sent(&q)
	q.Chunks = make([]Chunk, 0, 10)
	for k := range 10 {
		q.Add(Chunk{At: at + time.Duration(i%100+20*k)*time.Millisecond, Tokens: 1, Answer: true})
		rec.Chunk(&q)
	}
	q.Done, q.OutputTokens = q.LastChunk, 10
	rec.Done(&q)
}

// A whole request of ten chunks.
func BenchmarkRecorderRequest(b *testing.B) {
	rec := NewRecorder(time.Now(), &Plan{})
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		oneRequest(rec, i, time.Duration(i%600)*time.Second)
		i++
	}
}

// The answer of a run of 200,000 requests; what of it is under the lock is in the metric.
func BenchmarkJudge(b *testing.B) {
	rec := recorded(200_000)
	var locked time.Duration
	for b.Loop() {
		rec.restUntil = time.Time{}
		rec.JudgeAt(time.Minute)
		from := time.Now()
		rec.mu.Lock()
		_, _ = rec.ledger.came.from(0), rec.ledger.ended.from(0)
		rec.mu.Unlock()
		locked += time.Since(from)
	}
	b.ReportMetric(float64(locked.Nanoseconds())/float64(b.N), "ns-locked/op")
}

// Judging 200,000 requests anew.
func BenchmarkSetObjectives(b *testing.B) {
	rec := recorded(200_000)
	i := 0
	for b.Loop() {
		i++
		rec.SetObjectives(SLO{{TTFT, float64(i)}})
	}
}

// A snapshot with the rows of 10,000 streams; what of it is under the lock is in the metric.
func BenchmarkSnapshotOfRows(b *testing.B) {
	rec := recorded(2000)
	for i := range 10_000 {
		q := NewRequest(i)
		q.Due, q.Sent = 0, 0
		rec.Due(&q)
		rec.Sent(&q)
	}
	rec.Look(Look{Rows: true, Open: 5})
	b.ReportAllocs()
	var locked time.Duration
	for b.Loop() {
		_ = rec.SnapshotAt(time.Minute)
		from := time.Now()
		_, _, _, _ = rec.look(time.Minute)
		locked += time.Since(from)
	}
	b.ReportMetric(float64(locked.Nanoseconds())/float64(b.N), "ns-locked/op")
}
