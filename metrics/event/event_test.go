package event

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// heard is a sink that records its events, as a word for each.
type heard struct {
	mu    sync.Mutex
	words []string
	times []time.Duration
}

func (h *heard) Take(e *Event) {
	runtime.Gosched() // others get in between if they may
	h.mu.Lock()
	defer h.mu.Unlock()
	h.words, h.times = append(h.words, word(*e)), append(h.times, e.At)
}

func word(e Event) string {
	if e.Kind == Fact {
		return fmt.Sprint(e.Value)
	}
	return [...]string{"due", "sent", "chunk", "done"}[e.Kind]
}

// All sinks take the same facts in the same order, at times that do not decrease, from any number of goroutines.
func TestFactsHaveOneOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const tellers, each = 8, 50
		sinks := []*heard{{}, {}, {}}
		s := NewStream(time.Now())
		for _, sink := range sinks {
			s.Add(sink)
		}
		var all sync.WaitGroup
		for n := range tellers {
			all.Go(func() {
				for i := range each {
					time.Sleep(time.Duration(i%3) * time.Millisecond)
					s.Tell(n*each + i)
				}
			})
		}
		all.Wait()
		for _, h := range sinks {
			if !slices.Equal(h.words, sinks[0].words) || !slices.IsSorted(h.times) {
				t.Errorf("heard %v at %v, another sink %v", h.words, h.times, sinks[0].words)
			}
		}
		assert.Equal(t, len(slices.Compact(slices.Sorted(slices.Values(sinks[0].words)))), tellers*each, "facts")
	})
}

// A sink takes the kinds that it was added for, in the order of the sinks.
func TestKindsOfASink(t *testing.T) {
	for _, c := range []struct {
		name  string
		kinds []Kind
		want  string
	}{
		{"all", nil, "due sent chunk done plan"},
		{"facts", []Kind{Fact}, "plan"},
		{"requests", []Kind{Sent, Done}, "sent done"},
		{"one twice", []Kind{Chunk, Chunk}, "chunk"},
	} {
		var h heard
		s := NewStream(time.Now())
		s.Add(&h, c.kinds...)
		for k := range kinds {
			s.Take(&Event{Kind: k, Value: "plan"})
		}
		assert.Equal(t, strings.Join(h.words, " "), c.want, "%s: heard", c.name)
	}
}

// A fact and its log entry have the moment of the emission, to the microsecond.
func TestTellSaysWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var last Event
		s := NewStream(time.Now(), sink(func(e Event) { last = e }))
		time.Sleep(3*time.Millisecond + 1600*time.Nanosecond)
		const want = 3002 * time.Microsecond
		if s.Tell(metrics.Phase{}); last.At != want {
			t.Errorf("a fact at %s, want %s", last.At, want)
		}
		s.Tell(metrics.LogEntry{At: time.Hour, Text: "x"})
		if e := last.Value.(metrics.LogEntry); last.At != want || e.At != want || e.Text != "x" {
			t.Errorf("a line of the log at %s: %+v, want %s", last.At, e, want)
		}
	})
}

type sink func(Event)

func (f sink) Take(e *Event) { f(*e) }

// The stream allocates nothing for a chunk.
func TestTakeAllocatesNothing(t *testing.T) {
	n := 0
	s := NewStream(time.Now(), sink(func(Event) { n++ }), sink(func(e Event) { n += int(e.Chunk.Tokens) }))
	q := metrics.NewRequest(0)
	e := Event{Kind: Chunk, Request: &q, Chunk: metrics.Chunk{Tokens: 1}}
	if got := testing.AllocsPerRun(100, func() { s.Take(&e) }); got != 0 || n == 0 {
		t.Errorf("%v allocations, %d heard", got, n)
	}
}

// events yields words as facts, "!" as an error, and a number as a finished request.
func events(words ...string) Events {
	return func(yield func(Event, error) bool) {
		for i, w := range words {
			e, err := Event{Kind: Fact, Value: w}, error(nil)
			switch w {
			case "!":
				e, err = Event{}, errors.New("broken")
			case "done":
				q := metrics.NewRequest(i)
				e = Event{Kind: Done, Request: &q}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// told lists events as words, at most so many.
func told(all Events, most int) (words []string) {
	for e, err := range all {
		if err != nil {
			words = append(words, "!")
		} else {
			words = append(words, word(e))
		}
		if len(words) == most {
			break
		}
	}
	return words
}

// Facts follow the events, unless these end with an error.
func TestFollowed(t *testing.T) {
	for _, c := range []struct {
		name, events, facts, want string
		most                      int
	}{
		{"facts behind", "a b", "x y", "a b x y", 9},
		{"no events", "", "x", "x", 9},
		{"no facts", "a", "", "a", 9},
		{"an error", "a !", "x", "a !", 9},
		{"left early", "a b", "x", "a", 1},
		{"left among the facts", "a", "x y", "a x", 2},
	} {
		facts := metrics.Each(strings.Fields(c.facts), func(f string) any { return f })
		all := Followed(events(strings.Fields(c.events)...), facts...)
		for range 2 { // events can be ranged over again
			assert.Equal(t, strings.Join(told(all, c.most), " "), c.want, "%s", c.name)
		}
	}
}

// Requests are the finished ones in their order, and then the error.
func TestRequests(t *testing.T) {
	var got []string
	for q, err := range Requests(events("plan", "done", "x", "done", "!")) {
		got = append(got, fmt.Sprint(q.Index, " ", err))
	}
	if want := []string{"1 <nil>", "3 <nil>", "0 broken"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for q := range Requests(events("done", "done")) {
		assert.Equal(t, q.Index, 0, "it goes on after the first")
		break
	}
}
