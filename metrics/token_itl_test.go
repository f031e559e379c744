package metrics_test

import (
	"testing"
	"time"

	. "benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
)

// chunked is a request from offset 0 whose chunks come 60 ms apart from 100 ms on, each with so many tokens, of which
// the first are counted.
func chunked(index, counted int, tokens ...int32) Request {
	q := eventtest.Simple(index, 0, ms, ms, 2)
	q.Chunks, q.FirstChunk, q.FirstToken, q.FirstAnswer, q.OutputTokens = nil, Never, Never, Never, 0
	for i, n := range tokens {
		q.Add(Chunk{At: 100*ms + time.Duration(i)*60*ms, Tokens: n, Answer: true})
		q.OutputTokens += int(n)
	}
	q.CountedChunks, q.Done = counted, q.LastChunk
	return q
}

// Each token of a chunk took its part of the gap before it. Chunks count as before.
func TestTokenITL(t *testing.T) {
	all := []Request{
		chunked(0, 4, 2, 3, 1, 2),    // 3 of 20 ms, 1 of 60 ms, 2 of 30 ms
		chunked(1, 4, 0, 1, 0, 4, 0), // 4 of 120/4 ms
		chunked(2, 0, 1, 1, 1),       // assumed
		chunked(3, 2, 1, 6, 1),       // 6 of 10 ms, then assumed
		chunked(4, 2, 1, 5),          // failed
	}
	all[4].Failure = FailedTruncated
	plan := Plan{Percentiles: []float64{99}}
	view := live.NewView(time.Now(), &plan)
	eventtest.Play(view, all)
	s := view.Snapshot()
	r := summarize(t, all, runOf(plan, second))
	got, chunks := r.Statistics[TokenITL], r.Statistics[ITL]
	if mean := (3*20 + 60 + 2*30 + 4*30 + 6*10) / 16.0; got.N != 16 || !near(got.Mean, mean) || got.Median != 20 ||
		got.Min != 10 || got.Max != 60 {
		t.Errorf("%+v, want 16 with a mean of %v ms, a median of 20 ms, from 10 ms to 60 ms", got, mean)
	}
	if chunks.N != 3+4+2+2 || !near(chunks.Mean, 60) {
		t.Errorf("ITL of chunks: %d with a mean of %v ms", chunks.N, chunks.Mean)
	}
	h, w := s.Histograms[TokenITL], s.Windows[0].Histograms[TokenITL]
	if h.Count() != 16 || h.Mean() != 22500*time.Microsecond || w.Count() != 16 {
		t.Errorf("live %d with a mean of %s, %d in the second", h.Count(), h.Mean(), w.Count())
	}
}

// A journal may hold any counts.
func TestTokenITLOfOddCounts(t *testing.T) {
	q := chunked(0, 9, 1, -5, 1<<31-1, -1<<31, 2)
	var all Histogram
	for i := range 9 {
		each, n := q.TokenGap(i)
		for range min(n, 3) {
			all.Add(each)
		}
	}
	if all.Count() != 5 { // of two chunks
		t.Errorf("%d", all.Count())
	}
}
