package loadgen

import (
	"testing"
	"testing/synctest"
	"time"

	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// steeredRun is a run in virtual time that is steered at 2.5 s and, if there is more, each second after.
type steeredRun struct {
	name   string
	n      []int // conversations of the flow, and of its More
	server script
	change func(*Options)
	steps  []func(*Engine)
	want   []want
}

func (c *steeredRun) run(t *testing.T) []metrics.Request {
	t.Helper()
	var book logbook
	from := &prompts{n: c.n[0]}
	if len(c.n) > 1 {
		from.more = &prompts{n: c.n[1]}
	}
	e := perform(t, newScripted(t, c.server), from, &book, c.change, func(e *Engine) {
		for i, step := range c.steps {
			time.AfterFunc(2500*time.Millisecond+time.Duration(i)*time.Second, func() { step(e) })
		}
	})
	if e.SetRate(1) || e.Pause() || e.Resume() {
		t.Error("a run that is over can be steered")
	}
	return book.all
}

func setRate(perSecond float64) func(*Engine) { return func(e *Engine) { e.SetRate(perSecond) } }
func pause(e *Engine)                         { e.Pause() }
func resume(e *Engine)                        { e.Resume() }

// The effect of steering on a run is exact to the microsecond. Gaps are even, so at a rate of 2 an arrival follows
// every half second.
func TestSteeredRuns(t *testing.T) {
	second := time.Second
	open := func(until time.Duration) func(*Options) {
		return func(o *Options) { o.Schedule, o.SteeredUntil = every(10*second, 9), until }
	}
	closed := func(limit int, until time.Duration) func(*Options) {
		return func(o *Options) {
			o.Schedule, o.ClosedLoop, o.Limit, o.Until, o.SteeredUntil = shape.Immediately(), true, limit, until, until
		}
	}
	for _, c := range []steeredRun{
		{"a rate replaces the plan", []int{9}, answer(second), open(4 * second), []func(*Engine){setRate(2)},
			[]want{{0, 0, 1, ""}, {3, 3, 4, ""}, {3.5, 3.5, 4.5, ""}, {4, 4, 5, ""}}},
		{"and ends with the source where no moment ends it", []int{3}, answer(second), open(0),
			[]func(*Engine){setRate(2)},
			[]want{{0, 0, 1, ""}, {3, 3, 4, ""}, {3.5, 3.5, 4.5, ""}}},
		{"a lower rate stretches the gap that is under way", []int{9}, answer(second), open(8 * second),
			[]func(*Engine){setRate(1), setRate(.5)},
			[]want{{0, 0, 1, ""}, {3.5, 3.5, 4.5, ""}, {5.5, 5.5, 6.5, ""}, {7.5, 7.5, 8.5, ""}}},
		{"a higher one shortens it", []int{9}, answer(second), open(5 * second),
			[]func(*Engine){setRate(.5), setRate(1)},
			[]want{{0, 0, 1, ""}, {4, 4, 5, ""}, {5, 5, 6, ""}}},
		{"many small changes add up", []int{9}, answer(second), open(4500 * time.Millisecond),
			[]func(*Engine){func(e *Engine) {
				for i := range 11 { // from 1 to 2 in a second: 1.5 arrivals less half a step
					time.AfterFunc(time.Duration(i)*100*time.Millisecond, func() { e.SetRate(1 + float64(i)/10) })
				}
			}},
			// Expected arrivals after k tenths are 0.1k + 0.01k(k-1)/2: 0.92 after 7, then 0.17 in the eighth.
			[]want{{0, 0, 1, ""}, {3.252941, 3.252941, 4.252941, ""}, {3.775, 3.775, 4.775, ""},
				{4.275, 4.275, 5.275, ""}}},
		{"no rate stops the arrivals", []int{9}, answer(second), open(5 * second),
			[]func(*Engine){setRate(1.6), setRate(0)},
			[]want{{0, 0, 1, ""}, {3.125, 3.125, 4.125, ""}}},
		{"a pause of the plan moves what follows, and nothing comes at once", []int{9}, answer(second),
			func(o *Options) { o.Schedule = every(second, 5) }, []func(*Engine){pause, nothing, resume},
			[]want{{0, 0, 1, ""}, {1, 1, 2, ""}, {2, 2, 3, ""}, {5, 5, 6, ""}, {6, 6, 7, ""}}},
		{"a pause at a rate does so, too", []int{9}, answer(second), open(6 * second),
			[]func(*Engine){setRate(1.6), pause, nothing, resume},
			[]want{{0, 0, 1, ""}, {3.125, 3.125, 4.125, ""}, {5.75, 5.75, 6.75, ""}}},
		{"a rate set in a pause waits for its end", []int{9}, answer(second), open(6 * second),
			[]func(*Engine){pause, setRate(2), resume},
			[]want{{0, 0, 1, ""}, {5, 5, 6, ""}, {5.5, 5.5, 6.5, ""}, {6, 6, 7, ""}}},
		{"a pause that is never over ends with the duration", []int{9}, answer(second), open(6 * second),
			[]func(*Engine){pause},
			[]want{{0, 0, 1, ""}}},
		{"what is held still goes out in a pause", []int{9}, answer(4 * second),
			func(o *Options) { o.Schedule, o.Limit, o.SteeredUntil = every(second, 5), 1, 9*second },
			[]func(*Engine){pause},
			[]want{{0, 0, 4, ""}, {1, 4, 8, ""}, {2, 8, 12, ""}}},
		{"unless it is to stay", []int{9}, answer(4 * second), func(o *Options) {
			o.Schedule, o.Limit, o.HoldPaused = every(0, 3), 1, true
		}, []func(*Engine){pause, nothing, nothing, resume},
			[]want{{0, 0, 4, ""}, {0, 5.5, 9.5, ""}, {0, 9.5, 13.5, ""}}},
		{"users take nothing new in a pause", []int{9}, answer(2 * second), closed(2, 7*second),
			[]func(*Engine){pause, nothing, resume},
			[]want{{0, 0, 2, ""}, {0, 0, 2, ""}, {2, 2, 4, ""}, {2, 2, 4, ""}, {4.5, 4.5, 6.5, ""}, {4.5, 4.5, 6.5, ""},
				{6.5, 6.5, 8.5, ""}, {6.5, 6.5, 8.5, ""}}},
		{"a pause of users that is never over ends with the duration", []int{9}, answer(2 * second),
			closed(1, 9*second), []func(*Engine){pause},
			[]want{{0, 0, 2, ""}, {2, 2, 4, ""}}},
		{"a rate says nothing to users", []int{4}, answer(2 * second), closed(1, 5*second),
			[]func(*Engine){func(e *Engine) {
				if e.SetRate(5) {
					panic("a closed loop took a rate")
				}
			}},
			[]want{{0, 0, 2, ""}, {2, 2, 4, ""}, {4, 4, 6, ""}}},
		{"more of the data set where the clock ends the run", []int{2, 9}, answer(second), func(o *Options) {
			o.Schedule, o.SteeredUntil = every(10*second, 9), 4*second
		}, []func(*Engine){setRate(2)},
			[]want{{0, 0, 1, ""}, {3, 3, 4, ""}, {3.5, 3.5, 4.5, ""}, {4, 4, 5, ""}}},
		{"a run that goes on after its plan", []int{2, 9}, answer(second), func(o *Options) {
			o.Schedule, o.GoesOn = every(second, 2), true
		}, []func(*Engine){setRate(1.6), (*Engine).StopSending},
			[]want{{0, 0, 1, ""}, {1, 1, 2, ""}, {3.125, 3.125, 4.125, ""}}},
		{"users who go on after their plan", []int{1, 9}, answer(1600 * time.Millisecond), func(o *Options) {
			o.Schedule, o.ClosedLoop, o.Limit, o.GoesOn = shape.Immediately(), true, 1, true
		}, []func(*Engine){(*Engine).LeavePlan, nothing, (*Engine).StopSending},
			[]want{{0, 0, 1.6, ""}, {2.5, 2.5, 4.1, ""}, {4.1, 4.1, 5.7, ""}}},
		{"a run that goes on until it is stopped", []int{2}, answer(second),
			func(o *Options) { o.Schedule, o.GoesOn = every(second, 2), true },
			[]func(*Engine){func(e *Engine) {
				if !e.PlanSent() || !e.Sending() {
					panic("the plan is over, and the run is not")
				}
			}, (*Engine).StopSending},
			[]want{{0, 0, 1, ""}, {1, 1, 2, ""}}},
		{"more that is empty ends it", []int{2, 0}, answer(second), func(o *Options) {
			o.Schedule, o.SteeredUntil = every(10*second, 9), 4*second
		}, []func(*Engine){setRate(2)}, []want{{0, 0, 1, ""}, {3, 3, 4, ""}}},
		{"no more than was planned where the number ends it", []int{2, 9}, answer(second), func(o *Options) {
			o.Schedule = every(10*second, 9)
		}, []func(*Engine){setRate(2)}, []want{{0, 0, 1, ""}, {3, 3, 4, ""}}},
		{"a drain ends a steered run", []int{9}, answer(second), open(0),
			[]func(*Engine){setRate(1.6), func(e *Engine) { e.Drain(second) }, setRate(100)},
			[]want{{0, 0, 1, ""}, {3.125, 3.125, 4.125, ""}}},
		{"a drain ends a pause", []int{9}, answer(2 * second), closed(1, 0),
			[]func(*Engine){pause, func(e *Engine) { e.Drain(9 * second) }},
			[]want{{0, 0, 2, ""}, {2, 2, 4, ""}}},
	} {
		bubble(t, c.name, func(t *testing.T) { check(t, c.run(t), c.want) })
	}
}

func nothing(*Engine) {}

// A rate that is set before the run is in force from its start, also with a schedule without arrivals.
func TestSteeredFromTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var book logbook
		perform(t, newScripted(t, answer(time.Second)), &prompts{n: 9}, &book,
			func(o *Options) { o.Schedule, o.SteeredUntil = shape.At(nil), 1500*time.Millisecond }, setRate(2))
		check(t, book.all, []want{{.5, .5, 1.5, ""}, {1, 1, 2, ""}, {1.5, 1.5, 2.5, ""}})
	})
}

// Steering from many goroutines at once while requests come and go: for the race detector.
func TestSteeringRace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := steeredRun{n: []int{5000}, server: answer(100 * time.Millisecond), change: func(o *Options) {
			o.Schedule, o.Limit, o.Until, o.SteeredUntil = every(10*time.Millisecond, 5000), 8, 6*time.Second,
				6*time.Second
		}}
		for i := range 3 {
			c.steps = append(c.steps, func(e *Engine) {
				for k := range 20 {
					go e.SetRate(float64(10 * (i + k)))
					go e.SetLimit(k % 7)
					go e.Pause()
					go e.Resume()
				}
				time.AfterFunc(time.Millisecond, func() { e.Resume() })
			})
		}
		if all := c.run(t); len(all) < 250 {
			t.Errorf("%d requests", len(all))
		}
	})
}
