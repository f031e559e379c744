package charts

import (
	"iter"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
)

const ms = time.Millisecond

// answered is a request with its start and its chunks at times after it.
func answered(index int, sent time.Duration, chunks ...time.Duration) metrics.Request {
	q := metrics.NewRequest(index)
	q.Scheduled, q.Due, q.Admitted, q.Sent = sent, sent, sent, sent
	q.InputTokens, q.OutputTokens = 100+index, len(chunks)
	q.Done = sent
	for _, c := range chunks {
		q.Add(metrics.Chunk{At: sent + c, Tokens: 1})
		q.Done = sent + c
	}
	return q
}

// failed is the same request, failed some time after its last chunk.
func failed(q metrics.Request, f metrics.Failure, after time.Duration) metrics.Request {
	q.Failure, q.Done = f, q.Done+after
	return q
}

func all(requests ...metrics.Request) iter.Seq2[metrics.Request, error] {
	return eventtest.Each(requests)
}

// broken yields a request and then an error.
func broken(err error) iter.Seq2[metrics.Request, error] {
	return func(yield func(metrics.Request, error) bool) {
		_ = yield(answered(0, 0, ms, 2*ms), nil) && yield(metrics.Request{}, err)
	}
}

// deaf is a writer that fails after some bytes.
type deaf struct {
	room int
	err  error
}

func (d *deaf) Write(p []byte) (int, error) {
	if len(p) > d.room {
		return 0, d.err
	}
	d.room -= len(p)
	return len(p), nil
}
