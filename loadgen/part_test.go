package loadgen

import (
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// The parts of a load send together what one machine sends alone, each at its time and none twice.
func TestPartsAreTheWhole(t *testing.T) {
	type sent struct {
		scheduled          time.Duration
		conversation, turn int
	}
	for _, c := range []struct {
		name   string
		turns  int
		steps  []func(*Engine)
		timed  bool // by the schedule rather than by the answers
		change func(*Options)
	}{
		{name: "a schedule", timed: true, change: func(o *Options) { o.Schedule = every(200*time.Millisecond, 20) }},
		{name: "conversations", turns: 3, timed: true,
			change: func(o *Options) { o.Schedule = every(2*time.Second, 20) }},
		{name: "a rate that is set", steps: []func(*Engine){setRate(3), setRate(5)}, timed: true,
			change: func(o *Options) { o.Schedule, o.SteeredUntil = every(time.Second, 20), 6*time.Second }},
		{name: "users", change: func(o *Options) {
			o.Schedule, o.ClosedLoop, o.Limit = shape.Immediately(), true, 6
		}},
		{name: "fewer users than parts for a time", steps: []func(*Engine){
			func(e *Engine) { e.SetLimit(1) }, func(e *Engine) { e.SetLimit(7) },
		}, change: func(o *Options) { o.Schedule, o.ClosedLoop, o.Limit = shape.Immediately(), true, 3 }},
	} {
		run := func(part metrics.Part) map[int]sent {
			all := map[int]sent{}
			synctest.Test(t, func(t *testing.T) {
				var book logbook
				perform(t, newScripted(t, answer(100*time.Millisecond)), &prompts{n: 20, turns: max(1, c.turns)}, &book,
					func(o *Options) { c.change(o); o.Part = part },
					func(e *Engine) {
						for i, step := range c.steps {
							time.AfterFunc(2500*time.Millisecond+time.Duration(i)*time.Second, func() { step(e) })
						}
					})
				for _, q := range book.all {
					s := sent{q.Scheduled, q.Conversation, q.Turn}
					if !c.timed {
						s.scheduled = 0
					}
					all[q.Index] = s
				}
			})
			return all
		}
		whole, joined := run(metrics.Part{}), map[int]sent{}
		for k := range 3 {
			part := run(metrics.Part{K: k + 1, N: 3})
			for i, s := range part {
				if _, twice := joined[i]; twice || s.conversation%3 != k {
					t.Errorf("%s: part %d sends request %d of conversation %d", c.name, k+1, i, s.conversation)
				}
			}
			maps.Copy(joined, part)
		}
		if len(whole) == 0 || !maps.Equal(whole, joined) {
			t.Errorf("%s: the parts send %v, one machine %v", c.name, slices.Sorted(maps.Keys(joined)),
				slices.Sorted(maps.Keys(whole)))
		}
	}
}

// No part of the users is lost, and a part without any starts nothing.
func TestShareOfLimit(t *testing.T) {
	for n := 1; n < 20; n++ {
		sum := 0
		for k := range 4 {
			own := share(metrics.Part{K: k + 1, N: 4}, n)
			if sum += max(0, own); own == 0 {
				t.Errorf("part %d of %d users has no limit", k+1, n)
			}
		}
		assert.Equal(t, sum, n, "%d users in parts of %d", sum, n)
	}
	assert.Equal(t, share(metrics.Part{K: 2, N: 4}, 0), 0, "no limit is one of")
}
