package report

import (
	"iter"
	"time"

	"benchtop/metrics"
)

// simple is a success that is sent at a moment, with a TTFT and equal gaps.
func simple(index int, sent, ttft, gap time.Duration, tokens int) metrics.Request {
	q := metrics.NewRequest(index)
	q.Scheduled, q.Due, q.Admitted, q.Sent = sent, sent, sent, sent
	for i := range tokens {
		q.Add(metrics.Chunk{At: sent + ttft + gap*time.Duration(i), Tokens: 1})
	}
	q.InputTokens, q.OutputTokens, q.Done = 10, tokens, q.LastChunk
	return q
}

func yield(all []metrics.Request) iter.Seq2[metrics.Request, error] {
	return func(yield func(metrics.Request, error) bool) {
		for _, q := range all {
			if !yield(q, nil) {
				return
			}
		}
	}
}

func refused(index int, sent time.Duration, words string) metrics.Request {
	q := metrics.NewRequest(index)
	q.Scheduled, q.Due, q.Admitted, q.Sent = sent, sent, sent, sent
	q.Failure, q.Status, q.Error, q.Done = metrics.FailedStatus, 503, words, sent+time.Millisecond
	return q
}
