package metronome

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSchedule(t *testing.T) {
	var a schedule
	var want []int64
	streams := map[int64]*stream{}
	for range 1000 {
		due := rand.Int64N(500)
		s := streams[due]
		if s == nil {
			s = &stream{due: due}
			streams[due] = s
		}
		a.add(due, s)
		want = append(want, due)
	}
	for i := 0; len(a) > 0; i++ {
		slices.Sort(want)
		top := a[0]
		if top.due != want[0] || top.s.due != top.due {
			t.Fatalf("the top is due at %d (its stream at %d), want %d", top.due, top.s.due, want[0])
		}
		if i%3 == 0 {
			later := top.due + rand.Int64N(100)
			if streams[later] == nil {
				streams[later] = &stream{due: later}
			}
			a[0].s = streams[later]
			a.postpone(later)
			want[0] = later
			continue
		}
		a.drop()
		want = want[1:]
	}
}
