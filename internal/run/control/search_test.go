package control

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// searchedServer is a made-up server under a search: at a load of at most capacity its first chunks come in time,
// beyond it one request in two waits until the arrivals have been paused for as long as it takes to drain.
type searchedServer struct {
	rig      *rig
	capacity float64
	drains   time.Duration
	endless  bool // no answer ends
	index    int
	behind   []metrics.Request
}

// serve answers what comes in a tenth of a second.
func (s *searchedServer) serve() {
	now := s.rig.now()
	if s.rig.engine.held {
		if now >= s.rig.search.began+s.drains {
			for _, q := range s.behind {
				q.FirstChunk, q.LastChunk = now, now
				s.rig.Trial.Take(&event.Event{Kind: event.Chunk, Request: &q})
				q.Done = now
				s.rig.Trial.Take(&event.Event{Kind: event.Done, Request: &q})
			}
			s.behind = nil
		}
		return
	}
	for i := range 10 {
		q := feel{due: float64(now.Milliseconds()) + float64(10*i), first: 100, done: 200, tokens: 2}
		if s.endless {
			q.done = 0
		}
		if s.index++; s.rig.engine.load > s.capacity && s.index%2 == 0 {
			q.first, q.done = 0, 0
			late := metrics.NewRequest(s.index)
			late.Due = ms(q.due)
			late.Scheduled = late.Due
			s.behind = append(s.behind, late)
		}
		q.tell(s.rig.Trial, s.index)
	}
}

// search moves a controller and its server until nothing more is sent, at most to an offset of the run.
func (s *searchedServer) search(to time.Duration) {
	for s.rig.now() < to && !s.rig.engine.spent {
		s.serve()
		s.rig.until(s.rig.now() + verdictEvery)
	}
}

// steps are all lines but for those of the load in force, of which the last stands at the end.
func (g *rig) steps() (all []string) {
	last := ""
	for _, line := range g.lines {
		if strings.Contains(line, " = ") {
			last = line
		} else {
			all = append(all, line)
		}
	}
	return append(all, last)
}

// TestSearch holds searches to testdata/search.txt, from the first load to the end of the sending.
func TestSearch(t *testing.T) {
	ci.SkipUnderRace(t)
	want := golden(t, "search.txt")
	for _, c := range []struct {
		name     string
		find     metrics.Find
		capacity float64
		drains   time.Duration
		to       time.Duration
		hand     time.Duration // a load is set by hand, 0 for not
		length   time.Duration // of the plan
		step     time.Duration
		endless  bool
	}{
		{"a rate", metrics.Find{From: 20, Most: 100}, 25, seconds(2), time.Hour, 0, 0, seconds(5), false},
		{"a queue that stays", metrics.Find{From: 20, Most: 100}, 22, time.Hour, seconds(90), 0, 0, seconds(5), false},
		{"users", metrics.Find{From: 4, Most: 5, Unit: metrics.Users}, 10, 0, time.Hour, 0, 0, seconds(5), false},
		{"nothing holds", metrics.Find{From: 1, Most: 5, Unit: metrics.Users}, 0, 0, time.Hour, 0, 0, seconds(5),
			false},
		{"a load set by hand", metrics.Find{From: 4, Most: 100}, 100, 0, seconds(30), seconds(3), 0, seconds(5), false},
		{"a load set by hand, and a clock", metrics.Find{From: 4, Most: 100}, 100, 0, seconds(30), seconds(3),
			time.Minute, seconds(5), false},
		{"the end of the run", metrics.Find{From: 4, Most: 100}, 100, 0, seconds(3), 0, 0, seconds(5), false},
		{"answers that do not end", metrics.Find{From: 4, Most: 4, Unit: metrics.Users}, 10, 0, time.Hour, 0, 0,
			seconds(5), true},
		{"answers that do not end, and long steps", metrics.Find{From: 4, Most: 4, Unit: metrics.Users}, 10, 0,
			time.Hour, 0, 0, seconds(20), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.find.Step, c.find.Hold = c.step, seconds(60)
				plan := metrics.Plan{Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}}, Find: &c.find,
					Duration: c.length}
				if c.endless {
					plan.Goodput = plan.Goodput.With(metrics.Objective{Metric: metrics.TPOT, LimitMS: 100})
				}
				s := &searchedServer{capacity: c.capacity, drains: c.drains, endless: c.endless, rig: newRig(plan)}
				s.rig.Begin()
				if c.hand > 0 {
					s.search(c.hand)
					s.rig.order(order{0, set(7)})
				}
				s.search(c.to)
				s.rig.Close()
				want.check(t, c.name, s.rig.steps())
			})
		})
	}
}
