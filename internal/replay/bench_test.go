package replay

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
)

// anHour is a load of 30 requests a second with answers of 64 tokens, for an hour: 108,000 requests and 6.9 million
// chunks.
func anHour(b *testing.B) *recording {
	draws := rand.New(rand.NewPCG(1, 1))
	run := metrics.Run{End: metrics.End{Ended: time.Hour}}
	for at := time.Second; at <= time.Hour; at += time.Second {
		run.Client = append(run.Client,
			metrics.ClientSecond{At: at, Took: time.Second, DelayP50: 1000, DelayP99: 2000, DelayMax: 3000})
		run.Server = append(run.Server, metrics.ServerSecond{At: at, Took: time.Second})
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r, err := record(eventtest.Of(run, func(yield func(metrics.Request, error) bool) {
		for i := range 108_000 {
			q := metrics.NewRequest(i)
			q.Scheduled = time.Duration(i) * time.Hour / 108_000
			q.Due, q.Admitted, q.Sent = q.Scheduled, q.Scheduled, q.Scheduled+100*time.Microsecond
			at := q.Sent + 50*time.Millisecond
			for range 64 {
				q.Add(metrics.Chunk{At: at.Round(time.Microsecond), Tokens: 1, Answer: true})
				at += 15*time.Millisecond + time.Duration(draws.IntN(10_000_000))
			}
			q.Done, q.OutputTokens, q.InputTokens = q.LastChunk, 64, 256
			if !yield(q, nil) {
				return
			}
		}
	}))
	assert.Fine(b, err)
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.Logf("%.0f MB in memory", float64(after.HeapAlloc-before.HeapAlloc)/1e6)
	return r
}

// BenchmarkRebuild is what it takes to come to the last second of an hour from its beginning.
func BenchmarkRebuild(b *testing.B) {
	r := anHour(b)
	b.ReportAllocs()
	for b.Loop() {
		f := r.playback()
		f.advance(time.Hour-time.Second, func() bool { return false })
		f.snapshot(time.Hour - time.Second)
	}
}

// BenchmarkBack is going back by ten seconds near the end of an hour.
func BenchmarkBack(b *testing.B) {
	const at = time.Hour - 10*time.Second
	r := anHour(b)
	s := r.checkpoints(mostCheckpoints)
	hand := r.playback()
	hand.advance(time.Hour, func() bool { return false })
	var checkpoint *playback
	for b.Loop() {
		b.StopTimer()
		place := s.places[mostCheckpoints-1]
		checkpoint = r.playback()
		checkpoint.advance(place, func() bool { return false })
		s.ready[place] = checkpoint
		b.StartTimer()
		f := s.nearest(at, hand)
		f.advance(at, func() bool { return false })
		f.snapshot(at)
	}
}

// BenchmarkPlay is a quarter of a second of an hour that is played in a minute, at its end.
func BenchmarkPlay(b *testing.B) {
	r := anHour(b)
	const from = 50 * time.Minute
	var f *playback
	at := time.Hour
	for b.Loop() {
		if at += 15 * time.Second; at > time.Hour {
			b.StopTimer()
			f, at = r.playback(), from
			f.advance(from, func() bool { return false })
			b.StartTimer()
		}
		f.advance(at, func() bool { return false })
		f.snapshot(at)
	}
}
