package event_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/live"
)

// told keeps what it hears, in order.
type told struct {
	mu  sync.Mutex // guards all
	all []event.Event
}

func (t *told) Take(e *event.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, *e)
}

func (t *told) recounts() (all []int) {
	for _, e := range t.all {
		all = append(all, e.Value.(metrics.Recount).Index)
	}
	return all
}

// Facts that many goroutines tell at once reach all sinks in one order.
func TestFactsHaveOneOrder(t *testing.T) {
	const tellers, each = 8, 200
	var a, b told
	s := event.NewStream(time.Now(), &a)
	s.Add(&b, event.Fact)
	var all sync.WaitGroup
	for i := range tellers {
		all.Go(func() {
			for k := range each {
				s.Tell(metrics.Recount{Index: i*each + k})
			}
		})
	}
	all.Wait()
	if n := len(a.all); n != tellers*each || !slices.Equal(a.recounts(), b.recounts()) {
		t.Errorf("%d facts, want %d, in the same order in both sinks", n, tellers*each)
	}
	if !slices.IsSortedFunc(a.all, func(x, y event.Event) int { return int(x.At - y.At) }) {
		t.Error("the moments of the facts go back")
	}
}

// A fact is of the moment at which it is told, to the microsecond, and a line of the log says so itself.
func TestFactsAreOfTheirMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard told
		s := event.NewStream(time.Now(), &heard)
		time.Sleep(time.Second + 600)
		s.Tell(metrics.Event{Text: "x"})
		const want = time.Second + time.Microsecond
		if e := heard.all[0]; e.At != want || e.Value != (metrics.Event{At: want, Text: "x"}) {
			t.Errorf("%+v, want it at %s", e, want)
		}
	})
}

// A sink hears of the kinds of events that it was added for.
func TestSinksOfSomeKinds(t *testing.T) {
	var every, some told
	s := event.NewStream(time.Now(), &every)
	s.Add(&some, event.Done, event.Fact)
	q := metrics.NewRequest(1)
	for _, k := range []event.Kind{event.Due, event.Sent, event.Chunk, event.Done, event.Fact} {
		s.Take(&event.Event{Kind: k, Request: &q})
	}
	var kinds []event.Kind
	for _, e := range some.all {
		kinds = append(kinds, e.Kind)
	}
	if len(every.all) != 5 || !slices.Equal(kinds, []event.Kind{event.Done, event.Fact}) {
		t.Errorf("%d of five events, and %v", len(every.all), kinds)
	}
}

// A chunk on its way through the stream takes no memory.
func TestChunkAllocatesNothing(t *testing.T) {
	plan := metrics.Plan{}
	s := event.NewStream(time.Now(), live.NewView(time.Now(), &plan))
	s.Add(&told{}, event.Done)
	q := metrics.NewRequest(0)
	q.Scheduled, q.Due, q.Admitted, q.Sent = 0, 0, 0, 0
	s.Take(&event.Event{Kind: event.Due, Request: &q})
	s.Take(&event.Event{Kind: event.Sent, Request: &q})
	q.Chunks = make([]metrics.Chunk, 0, 2000)
	at, e := time.Duration(0), event.Event{Kind: event.Chunk, Request: &q}
	if n := testing.AllocsPerRun(1000, func() {
		at += time.Microsecond
		c := metrics.Chunk{At: at, Tokens: 1, Answer: true}
		q.Add(c)
		e.At, e.Chunk = at, c
		s.Take(&e)
	}); n != 0 {
		t.Errorf("%g allocations for a chunk", n)
	}
}
