package replay

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
)

// In a long run playbacks stand ready, and what they show is the same.
func TestCheckpoints(t *testing.T) {
	const length = 40 * time.Second
	run, all := drawRun(9, 200, length)
	times := []time.Duration{12 * time.Second, 35 * time.Second, 21 * time.Second, 0}
	sorted := slices.Sorted(slices.Values(times))
	want := shownOf(t, run, all, metrics.Inspection{Rows: true}, sorted)
	synctest.Test(t, func(t *testing.T) {
		p := assert.Must(New(eventtest.Of(run, eventtest.Each(all))))(t)
		assert.Need(t, p.checkpoints, 0, "checkpoints")
		p.checkpoints = 7 // one each five seconds
		p.Pause()
		p.Inspect(metrics.Inspection{Rows: true})
		ctx, cancel := context.WithCancel(t.Context())
		shown := p.Run(ctx)
		for _, at := range append(times, times...) {
			p.Seek(at)
			synctest.Wait()
			s := <-shown
			assert.Need(t, same(want[slices.Index(sorted, at)], s), "", "at %v (-was +is)", at)
		}
		cancel()
		for range shown {
		}
	})
	r, err := record(eventtest.Of(run, eventtest.Each(all)))
	assert.Fine(t, err)
	s, never := r.checkpoints(7), func() bool { return false }
	ready := func(places ...int) {
		for _, n := range places {
			at := time.Duration(n) * time.Second
			s.ready[at] = r.playback()
			s.ready[at].advance(at, never)
		}
	}
	hand := r.playback()
	hand.advance(12*time.Second, never)
	for _, tt := range []struct {
		name  string
		ready []int
		to    int
		from  int // 12 for the one at hand
	}{
		{"back, none is ready", nil, 11, 0},
		{"back to the last before it", []int{5, 10, 15}, 11, 10},
		{"back to the very place", []int{5, 10, 15}, 10, 10},
		{"a little ahead, beyond the place of a checkpoint", []int{5, 10}, 14, 12},
		{"ahead, over one", []int{15}, 16, 15},
		{"far ahead", []int{15, 20, 25}, 24, 20},
		{"the one at hand is there", []int{5, 10}, 12, 12},
	} {
		clear(s.ready)
		ready(tt.ready...)
		f := s.nearest(time.Duration(tt.to)*time.Second, hand)
		if f.at != time.Duration(tt.from)*time.Second || (f == hand) != (tt.from == 12) {
			t.Errorf("%s: from %v, want %ds", tt.name, f.at, tt.from)
		}
		if tt.from != 0 && tt.from != 12 && len(s.ready) != len(tt.ready)-1 {
			t.Errorf("%s: a checkpoint that was taken is still there", tt.name)
		}
	}
}

// No checkpoint is made once the player has gone.
func TestCheckpointsEnd(t *testing.T) {
	run, all := drawRun(9, 20, 10*time.Second)
	r, err := record(eventtest.Of(run, eventtest.Each(all)))
	assert.Fine(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := r.checkpoints(3)
	if c.keep(ctx); len(c.ready) != 0 {
		t.Errorf("%d are ready", len(c.ready))
	}
}
