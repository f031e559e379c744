package live

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// recorded is a view after so many requests of ten chunks.
func recorded(n int) *View {
	rec := NewView(time.Now(), &metrics.Plan{Ramp: &metrics.Ramp{Strategy: "linear", From: 1, To: 2000, Over: minute},
		Rate: 1, Goodput: ttft(50)})
	for i := range n {
		oneRequest(rec, i, time.Duration(i)*100*time.Microsecond)
	}
	return rec
}

func oneRequest(rec *View, i int, at time.Duration) {
	q := metrics.NewRequest(i)
	q.Scheduled, q.Due, q.Admitted, q.Sent = at, at, at, at
	rec.Take(&event.Event{Kind: event.Due, Request: &q})
	rec.Take(&event.Event{Kind: event.Sent, Request: &q})
	q.Chunks = make([]metrics.Chunk, 0, 10)
	for k := range 10 {
		q.Add(metrics.Chunk{At: at + time.Duration(i%100+20*k)*ms, Tokens: 1, Answer: true})
		rec.Take(&event.Event{Kind: event.Chunk, Request: &q})
	}
	q.Done, q.OutputTokens = q.LastChunk, 10
	rec.Take(&event.Event{Kind: event.Done, Request: &q})
}

// A whole request of ten chunks.
func BenchmarkRecorderRequest(b *testing.B) {
	rec := NewView(time.Now(), &metrics.Plan{})
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		oneRequest(rec, i, time.Duration(i%600)*second)
		i++
	}
}

// The answer of a run of 200,000 requests. The metric is the part under the lock.
func BenchmarkJudge(b *testing.B) {
	rec := recorded(200_000)
	var locked time.Duration
	for b.Loop() {
		rec.restUntil = time.Time{}
		rec.JudgeAt(minute)
		from := time.Now()
		rec.mu.Lock()
		_, _ = rec.index.arrived.from(0), rec.index.ended.from(0)
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
		rec.setObjectives(ttft(float64(i)))
	}
}

// A snapshot with the rows of 10,000 streams. The metric is the part under the lock.
func BenchmarkSnapshotOfRows(b *testing.B) {
	rec := recorded(2000)
	for i := range 10_000 {
		q := metrics.NewRequest(i)
		q.Due, q.Sent = 0, 0
		rec.Take(&event.Event{Kind: event.Due, Request: &q})
		rec.Take(&event.Event{Kind: event.Sent, Request: &q})
	}
	rec.Inspect(metrics.Inspection{Rows: true, Open: 5})
	b.ReportAllocs()
	var locked time.Duration
	for b.Loop() {
		_ = rec.SnapshotAt(minute)
		from := time.Now()
		_, _, _, _ = rec.capture(minute)
		locked += time.Since(from)
	}
	b.ReportMetric(float64(locked.Nanoseconds())/float64(b.N), "ns-locked/op")
}

// The hot path allocates nothing once a histogram has its width.
func TestChunkAllocatesNothing(t *testing.T) {
	rec := NewView(time.Now(), &metrics.Plan{})
	q := metrics.NewRequest(0)
	q.Due, q.Sent = 0, 0
	rec.Take(&event.Event{Kind: event.Due, Request: &q})
	rec.Take(&event.Event{Kind: event.Sent, Request: &q})
	q.Chunks = make([]metrics.Chunk, 0, 10_000)
	at, piece := time.Duration(0), []byte("word ")
	chunk := func() {
		at += 20 * time.Microsecond
		q.Add(metrics.Chunk{At: at, Tokens: 1, Answer: true})
		q.Piece = piece
		rec.Take(&event.Event{Kind: event.Chunk, Request: &q})
	}
	rec.Inspect(metrics.Inspection{Rows: true, Open: 1})
	chunk()
	chunk()
	assert.Equal(t, testing.AllocsPerRun(1000, chunk), 0, "allocations a chunk")
}

func BenchmarkRecorderChunk(b *testing.B) {
	rec := NewView(time.Now(), &metrics.Plan{})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		q := metrics.NewRequest(0)
		q.Due, q.Sent = 0, 0
		rec.Take(&event.Event{Kind: event.Due, Request: &q})
		rec.Take(&event.Event{Kind: event.Sent, Request: &q})
		q.Chunks = make([]metrics.Chunk, 0, 1024)
		for pb.Next() {
			if len(q.Chunks) == 1000 {
				q.Chunks = q.Chunks[:1]
			}
			q.Add(metrics.Chunk{At: q.LastChunk + 20*time.Microsecond, Tokens: 1})
			rec.Take(&event.Event{Kind: event.Chunk, Request: &q})
		}
	})
}

// BenchmarkDay is a run of a day with all that is sampled each second. The metrics are the memory that its live view
// keeps, with a snapshot, and of it that of single requests.
func BenchmarkDay(b *testing.B) {
	for _, rate := range []int{1, 50} {
		b.Run(fmt.Sprintf("%d a second", rate), func(b *testing.B) {
			for b.Loop() {
				before := liveHeap()
				rec, s := day(rate)
				b.ReportMetric(liveHeap()-before, "MB")
				b.ReportMetric(float64(rec.index.bytes())/1e6, "MB-requests")
				runtime.KeepAlive(s)
			}
		})
	}
}

func liveHeap() (mb float64) {
	runtime.GC()
	runtime.GC() // what finalizers let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / 1e6
}

// day is a run of a day, and its last snapshot.
func day(rate int) (*View, metrics.Snapshot) {
	rec := NewView(time.Now(), &metrics.Plan{Rate: metrics.Rate(rate), Goodput: ttft(500)})
	r := rand.New(rand.NewPCG(1, 2))
	var s metrics.Snapshot
	for i := range 24 * 3600 {
		now := time.Duration(i) * second
		for k := range rate {
			at := now + time.Duration((float64(k)+r.Float64())*float64(second)/float64(rate))
			x := begun(rec, i*rate+k, at)
			at += time.Duration(r.IntN(100_000)) // of the client's own
			x.sent(at)
			at += time.Duration(float64(100*ms) * (1 + r.ExpFloat64()))
			for range 10 {
				x.chunk(at, "")
				at += time.Duration(float64(20*ms) * (1 + 0.1*r.NormFloat64()))
			}
			x.done(at, "")
		}
		now += second
		rec.fact(now, metrics.ClientSecond{At: now, Took: second, Cores: 2})
		rec.fact(now, metrics.ServerSecond{At: now, Took: second})
		rec.fact(now, metrics.GPUSecond{At: now, Took: second, GPUs: []metrics.GPU{{}}})
		if i%60 == 59 {
			s = rec.SnapshotAt(now)
			rec.join(s)
		}
	}
	return rec, s
}
