package loadgen

import (
	"testing"
	"testing/synctest"
	"time"

	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// slowBook keeps the dispatcher busy when a request is due.
type slowBook struct{ logbook }

func (b *slowBook) Due(q *metrics.Request) {
	time.Sleep(10 * time.Millisecond)
	b.logbook.Due(q)
}

// A delay of the client itself is no wait for a slot where there is one.
func TestOwnDelayIsNoWait(t *testing.T) {
	for _, limit := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			var book slowBook
			s := newScripted(t, pieces(true, time.Second, "", stream(text("a"), sseEvent(finish))),
				pieces(true, 0, stream(text("a"), sseEvent(finish))))
			perform(t, s, &prompts{n: 2}, &book, func(o *Options) {
				o.Schedule, o.Limit = shape.At([]time.Duration{0, 500 * time.Millisecond}), limit
			}, nil)
			first, second := &book.all[0], &book.all[1]
			if first.SlotWait() != 0 || first.OwnLateness() < 10*time.Millisecond {
				t.Errorf("limit %d: waited %s for a slot, late by %s", limit, first.SlotWait(), first.OwnLateness())
			}
			if waited := second.SlotWait() > 0; waited != (limit == 1) {
				t.Errorf("limit %d: the second waited %s for a slot", limit, second.SlotWait())
			}
		})
	}
}
