package loadgen

import (
	"testing"
	"testing/synctest"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// faulty is a listener with a bug: it panics at the chunks of the first request.
type faulty struct{ logbook }

func (f *faulty) Chunk(q *metrics.Request) {
	if q.Index == 0 {
		panic("out of cheese")
	}
}

// A bug fails one request and leaves the run alone.
func TestPanicFailsOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var book faulty
		perform(t, newScripted(t, answer(0)), &prompts{n: 3}, &book, func(o *Options) { o.Limit = 1 }, nil)
		ends(t, &book.all[0], metrics.FailedInternal, "out of cheese")
		ends(t, &book.all[0], metrics.FailedInternal, "panic_test.go")
		for _, q := range book.all[1:] {
			assert.Equal(t, q.Failure, "", "request %d: %q", q.Index, q.Error)
		}
	})
}
