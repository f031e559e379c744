package control

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// heldServer is a made-up server under loads that are held: up to a capacity all requests are in time, beyond it one in
// two is never answered.
type heldServer struct {
	rig      *rig
	capacity float64
	index    int
	due      float64 // requests that are due and were not sent
}

// serve answers the requests of a tenth of a second.
func (s *heldServer) serve() {
	e := s.rig.engine
	e.planSent = s.rig.Plan.Duration == 0 && s.rig.now() >= seconds(1.9)
	if e.held || s.rig.now() < seconds(2) {
		return
	}
	if s.due += e.load / 10; s.rig.inUsers() {
		s.due = e.load
	}
	late := e.load > s.capacity
	for n := int(s.due); n > 0; n-- {
		s.due--
		s.index++
		q := feel{due: float64(s.rig.now().Milliseconds()), first: 100 + float64(s.index%7), done: 150, tokens: 2}
		if late && s.index%2 == 0 {
			q.first, q.done = 0, 0
		}
		s.tell(q)
	}
}

func (s *heldServer) tell(f feel) {
	q := metrics.NewRequest(s.index)
	q.Due = ms(f.due)
	q.Scheduled, q.Admitted, q.Sent, q.OutputTokens = q.Due, q.Due, q.Due, f.tokens
	take := func(kind event.Kind) { s.rig.Looks.Take(&event.Event{Kind: kind, Request: &q}) }
	take(event.Due)
	if f.first > 0 {
		q.FirstChunk = q.Due + ms(f.first)
		q.LastChunk = q.FirstChunk
		take(event.Chunk)
		q.LastChunk, q.Done = q.Due+ms(f.done), q.Due+ms(f.done)
		take(event.Done)
	}
}

// run moves a controller and its server until nothing more is sent, at most to an offset of the run.
func (s *heldServer) run(to time.Duration) {
	for s.rig.now() < to && !s.rig.engine.spent {
		s.serve()
		s.rig.until(s.rig.now() + verdictEvery)
	}
}

// ttftSLO is what the server meets up to its capacity.
var ttftSLO = metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}}

// TestConfirm holds confirmations to testdata/confirm.txt, from the end of the plan at two seconds to that of the
// sending.
func TestConfirm(t *testing.T) {
	ci.SkipUnderRace(t)
	want := golden(t, "confirm.txt")
	about := func(load, high float64) metrics.Answer {
		a := metrics.Answer{}
		a.Estimate = metrics.Range{Load: load, Low: load * .9, High: high}
		return a
	}
	capacity := func(a metrics.Answer, load float64) metrics.Answer {
		a.Saturates, a.Capacity = true, metrics.Range{Load: load, Low: load * .97, High: load * 1.03}
		return a
	}
	proven := func(a metrics.Answer, load float64) metrics.Answer { a.Proven = load; return a }
	none := metrics.Answer{LowestTried: 3}
	none.None = true
	level := func(users float64, standing metrics.Standing) metrics.LoadLevel {
		return metrics.LoadLevel{Offered: users, Unit: metrics.Users,
			LevelVerdict: metrics.LevelVerdict{Requests: 9, Good: 8, Standing: standing}}
	}
	ramp := metrics.Plan{Ramp: planRamp("linear", 1, 40, 2), Duration: 2 * time.Second}
	overRequests := metrics.Plan{Ramp: &metrics.Ramp{Strategy: "linear", From: 1, To: 40, Requests: 100}, Requests: 100}
	users := metrics.Plan{Stages: stagesOf(true, 4, 8), Duration: 2 * time.Second}
	sessions := ramp
	sessions.Conversations = &metrics.Conversations{Turns: 4}
	for _, c := range []struct {
		name     string
		plan     metrics.Plan
		answer   metrics.Answer
		levels   []metrics.LoadLevel
		capacity float64
		budget   time.Duration
		to       time.Duration
		then     metrics.Command // at that moment; none closes the run
	}{
		{"below the border, and higher", ramp, about(30, 34), nil, 100, 3 * time.Minute, time.Hour, metrics.Command{}},
		{"an estimate without a bound", ramp, about(20, 0), nil, 100, 2 * time.Minute, time.Hour, metrics.Command{}},
		{"no higher than the capacity", ramp, capacity(about(30, 40), 24), nil, 100, 5 * time.Minute, time.Hour,
			metrics.Command{}},
		{"an estimate that is too high", ramp, about(40, 44), nil, 20, 3 * time.Minute, time.Hour, metrics.Command{}},
		{"too high for its whole budget", ramp, about(40, 44), nil, 1, 90 * time.Second, time.Hour, metrics.Command{}},
		{"a load that is proven already", ramp, proven(about(20, 24), 20), nil, 100, time.Minute, time.Hour,
			metrics.Command{}},
		{"a budget too short for a proof", ramp, about(20, 24), nil, 100, 40 * time.Second, time.Hour,
			metrics.Command{}},
		{"no estimate", ramp, metrics.Answer{Why: "too few requests"}, nil, 100, time.Minute, time.Hour,
			metrics.Command{}},
		{"nothing within", ramp, none, nil, 100, time.Minute, time.Hour, metrics.Command{}},
		{"a ramp over the requests", overRequests, about(20, 24), nil, 100, time.Minute, time.Hour, metrics.Command{}},
		{"users", users, metrics.Answer{Unit: metrics.Users}, []metrics.LoadLevel{level(4, metrics.LevelWithin),
			level(8, metrics.LevelMissed)}, 100, 3 * time.Minute, time.Hour, metrics.Command{}},
		{"a single user", users, metrics.Answer{Unit: metrics.Users}, []metrics.LoadLevel{level(1, metrics.LevelWithin),
			level(2, metrics.LevelMissed)}, 100, time.Minute, time.Hour, metrics.Command{}},
		{"conversations", sessions, about(80, 96), nil, 100, time.Minute, time.Hour, metrics.Command{}},
		{"a load set by hand", ramp, about(20, 24), nil, 100, time.Minute, 20 * time.Second, set(7)},
		{"a load set by hand before", ramp, about(20, 24), nil, 100, time.Minute, time.Second, set(7)},
		{"a load set by hand before, without a clock", overRequests, about(20, 24), nil, 100, time.Minute, time.Second,
			set(7)},
		{"a pause before", overRequests, about(20, 24), nil, 100, time.Minute, time.Second,
			metrics.Command{Do: metrics.Pause}},
		{"held by hand", ramp, about(20, 24), nil, 100, time.Minute, 20 * time.Second,
			metrics.Command{Do: metrics.HoldLoad}},
		{"the end of the run", ramp, about(20, 24), nil, 100, time.Minute, 20 * time.Second, metrics.Command{}},
		{"the end of the run after a proof", ramp, about(20, 24), nil, 100, 3 * time.Minute, 70 * time.Second,
			metrics.Command{}},
		{"the end of the run before", ramp, about(20, 24), nil, 100, time.Minute, time.Second, metrics.Command{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.plan.Goodput, c.plan.Confirm, c.plan.Burstiness = ttftSLO, c.budget, 1
				s := &heldServer{capacity: c.capacity, rig: newRig(c.plan)}
				s.rig.answer, s.rig.levels = c.answer, c.levels
				s.rig.Begin()
				s.run(c.to)
				if c.then.Do != "" {
					s.rig.order(order{s.rig.now().Seconds(), c.then})
					s.run(c.to + 90*time.Second)
				}
				s.rig.Close()
				want.check(t, c.name, s.rig.steps())
			})
		})
	}
}

// A load that is held by hand is judged at the looks, and the run goes on.
func TestHold(t *testing.T) {
	want := golden(t, "confirm.txt")
	hold := metrics.Command{Do: metrics.HoldLoad}
	steady := metrics.Plan{Rate: 20, Goodput: ttftSLO}
	closed := metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 3, Goodput: ttftSLO}
	ramp := metrics.Plan{Ramp: planRamp("linear", 10, 50, 40), Duration: time.Hour, Goodput: ttftSLO}
	for _, c := range []struct {
		name     string
		plan     metrics.Plan
		capacity float64
		orders   []order
		to       float64
	}{
		{"hold: proven", steady, 100, []order{{3, hold}}, 90},
		{"hold: missed", steady, 10, []order{{3, hold}}, 300},
		{"hold: a ramp", ramp, 100, []order{{10, hold}}, 90},
		{"hold: users", closed, 100, []order{{3, hold}}, 90},
		{"hold: another load", steady, 100, []order{{3, hold}, {20, set(30)}}, 90},
		{"hold: a pause ends", steady, 100, []order{{3, metrics.Command{Do: metrics.Pause}}, {5, hold}}, 20},
		{"hold: no objectives", metrics.Plan{Rate: 20}, 100, []order{{3, hold}}, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &heldServer{capacity: c.capacity, rig: newRig(c.plan)}
				s.rig.engine.load = s.rig.state.Value
				s.rig.Begin()
				for _, o := range c.orders {
					s.run(seconds(o.at))
					s.rig.order(o)
				}
				s.run(seconds(c.to))
				s.rig.Close()
				want.check(t, c.name, s.rig.steps())
			})
		})
	}
}

// A load is not proven while a machine of the run is out of sight.
func TestHoldOfAPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &heldServer{capacity: 100, rig: newRig(metrics.Plan{Rate: 20, Goodput: ttftSLO})}
		s.rig.engine.load = s.rig.state.Value
		s.rig.Whole = func() bool { return s.rig.now() > seconds(200) }
		s.rig.Begin()
		s.run(seconds(3))
		s.rig.order(order{3, metrics.Command{Do: metrics.HoldLoad}})
		s.run(seconds(190))
		assert.Lacks(t, fmt.Sprint(s.rig.steps()), "proven (")
		s.run(seconds(500))
		assert.Has(t, fmt.Sprint(s.rig.steps()), "proven (")
		s.rig.Close()
	})
}

// Objectives that are set later make a hold possible, and judge it.
func TestHoldByOtherObjectives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &heldServer{capacity: 100, rig: newRig(metrics.Plan{Rate: 20})}
		s.rig.engine.load = 20
		s.rig.Begin()
		objectives := func(limit float64) {
			slo := metrics.SLO{{Metric: metrics.TTFT, LimitMS: limit}}
			s.rig.Looks.Take(&event.Event{Kind: event.Fact, Value: metrics.LogEntry{Objectives: &slo}})
		}
		objectives(300)
		if said, ok := s.rig.Command(metrics.Command{Do: metrics.HoldLoad}); !ok {
			t.Fatalf("said %q", said)
		}
		s.run(5 * time.Second)
		objectives(50) // which no request meets
		s.run(250 * time.Second)
		if s.rig.held != nil {
			t.Errorf("it is held: %+v", s.rig.held)
		}
		if last := s.rig.steps(); !slices.ContainsFunc(last,
			func(line string) bool { return strings.Contains(line, "warn: 20 req/s SLO missed") }) {
			t.Errorf("%q", last)
		}
	})
}

// The log has the confidence of the screen, which is rounded down.
func TestConfidenceInWords(t *testing.T) {
	if got := standingWords(&metrics.LevelVerdict{Standing: metrics.LevelWithin, Confidence: 0.939}); got != "within "+
		"SLO (93 %)" {
		t.Errorf("0.939 reads %q", got)
	}
}

// A confirmation begins when the answers of the plan have ended: a server that batches them all has no queue, and is
// slowed by them.
func TestConfirmWaitsForAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := metrics.Answer{}
		a.Estimate = metrics.Range{Load: 20, Low: 18, High: 24}
		plan := metrics.Plan{Ramp: planRamp("linear", 1, 40, 2), Duration: 2 * time.Second, Goodput: ttftSLO,
			Confirm: time.Minute, Burstiness: 1}
		s := &heldServer{capacity: 100, rig: newRig(plan)}
		s.rig.answer = a
		s.rig.Begin()
		q := metrics.NewRequest(1000)
		q.Due, q.FirstChunk, q.LastChunk = 0, time.Second, time.Second
		s.rig.Looks.Take(&event.Event{Kind: event.Due, Request: &q})
		s.rig.Looks.Take(&event.Event{Kind: event.Chunk, Request: &q})
		begun := func() bool { return strings.Contains(strings.Join(s.rig.lines, "\n"), "confirming ") }
		if s.run(20 * time.Second); begun() {
			t.Error("it began while an answer of the plan was running")
		}
		q.Done = s.rig.now()
		s.rig.Looks.Take(&event.Event{Kind: event.Done, Request: &q})
		if s.run(22 * time.Second); !begun() {
			t.Error("it did not begin after the last answer of the plan")
		}
		s.rig.Close()
	})
}
