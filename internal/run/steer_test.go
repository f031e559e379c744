package run

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
	"benchtop/metrics/report"
)

// marks are the marks of all loads that were set.
func marks(run *metrics.Run) (all []string) {
	for _, e := range run.Events {
		if e.Set != nil {
			all = append(all, e.Mark)
		}
	}
	return all
}

// rates counts what was due in each second.
func dueIn(r *Run, from, to int) (n int) {
	windows := r.view.Snapshot().Windows
	for i := from; i < min(to, len(windows)); i++ {
		n += windows[i].Due
	}
	return n
}

// Once the load was set the number of planned requests is unknown, in a result of the run so far as in the last.
func TestSteeredSoFar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simulated(t, metrics.Plan{Rate: 2, Burstiness: math.Inf(1), Duration: 20 * time.Second, Requests: 40}, 1)
		c.Unwatched = false
		var offsets []time.Duration
		for i := range 40 {
			offsets = append(offsets, time.Duration(i+1)*500*time.Millisecond)
		}
		c.Load.Schedule = shape.At(offsets)
		r := begin(t, c)
		counts := make(chan int, 2)
		for _, at := range []time.Duration{5250 * time.Millisecond, 15 * time.Second} {
			time.AfterFunc(at, func() { r.call(func() { counts <- r.soFar().Unsent }) })
		}
		time.AfterFunc(10*time.Second, func() { r.Command(metrics.Command{Do: metrics.SetLoad, Value: 1}) })
		run := measureAll(t, r)
		unsent := []int{<-counts, <-counts}
		if want := []int{30, 0}; !slices.Equal(unsent, want) || run.Unsent != 0 {
			t.Errorf("%d were unsent, want %d, and %d in the end", unsent, want, run.Unsent)
		}
		if n := len(run.Client); n < 20 || run.GPUsAbsent != "a test has none" {
			t.Errorf("%d samples of the client, GPUs %q", n, run.GPUsAbsent)
		}
	})
}

// A command that comes when nothing more is sent changes nothing, and its answer says so.
func TestOrderThatComesTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simulated(t, metrics.Plan{Rate: 2, Burstiness: math.Inf(1), Requests: 4}, 1)
		c.Load.Schedule = shape.At([]time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second})
		r := begin(t, c)
		time.AfterFunc(3010*time.Millisecond, func() { // all is sent, and some of it in flight
			if said, ok := r.Command(metrics.Command{Do: metrics.SetLoad, Value: 5}); ok ||
				said != "all requests have been sent" {
				t.Errorf("said %q", said)
			}
		})
		run := measureAll(t, r)
		if got := marks(&run); got != nil || r.view.Snapshot().Steering.Changes != 0 {
			t.Errorf("loads were set: %q", got)
		}
	})
}

// Commands change the rate while the run is on, and each change is in the journal.
func TestSteerRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := simulated(t, metrics.Plan{Rate: 2, Burstiness: math.Inf(1), Duration: 40 * time.Second, Requests: 80}, 1)
		var offsets []time.Duration
		for i := range 80 {
			offsets = append(offsets, time.Duration(i+1)*500*time.Millisecond)
		}
		c.Load.Schedule = shape.At(offsets)
		r := begin(t, c)
		said := make(chan string, 20)
		at := func(seconds float64, o metrics.Command) {
			time.AfterFunc(time.Duration(seconds*1e9), func() { words, _ := r.Command(o); said <- words })
		}
		at(4.9, metrics.Command{Do: metrics.Resume})
		at(5.1, metrics.Command{Do: metrics.SetLoad, Value: 10})
		at(10.1, metrics.Command{Do: metrics.Pause})
		at(10.2, metrics.Command{Do: metrics.Pause})
		at(15.1, metrics.Command{Do: metrics.Resume})
		at(20.1, metrics.Command{Do: metrics.RampLoad, Value: 20, Over: 10 * time.Second})
		run := measureAll(t, r)
		r.Command(metrics.Command{Do: metrics.Pause})
		var words []string
		for range 6 {
			words = append(words, <-said)
		}
		if got, want := strings.Join(words, "|"),
			"not paused|10 req/s|paused|already paused|resumed|ramping to 20 req/s over 10s"; got != want {
			t.Errorf("said %q, want %q", got, want)
		}
		assert.Equal(t, strings.Join(marks(&run), "|"), "10 req/s|paused|10 req/s|→ 20 req/s|20 req/s", "marks")
		for _, c := range []struct{ from, to, least, most int }{{0, 5, 9, 10}, {6, 10, 40, 40}, {11, 15, 0, 0},
			{16, 20, 40, 40}, {21, 30, 137, 142}, {31, 39, 160, 160}, {41, 60, 0, 0}} {
			if n := dueIn(r, c.from, c.to); n < c.least || n > c.most {
				t.Errorf("%d requests from %d s to %d s, want %d to %d", n, c.from, c.to, c.least, c.most)
			}
		}
		if run.Unsent != 0 || run.Reason != "" {
			t.Errorf("%d unsent, reason %q", run.Unsent, run.Reason)
		}
		if st := r.view.Snapshot().Steering; st.Steerable || st.Why == "" || st.Changes != 5 || st.Rate() != 20 ||
			st.Paused {
			t.Errorf("at the end %+v", st)
		}
		if got, ok := r.Command(metrics.Command{Do: metrics.SetLoad, Value: 1}); ok || got != "the run is over" {
			t.Errorf("afterwards %q", got)
		}
	})
}

// Users are steered by their number; stages that were planned end with the first order, but not with a pause.
func TestSteerUsers(t *testing.T) {
	second := time.Second
	synctest.Test(t, func(t *testing.T) {
		c := simulated(t, metrics.Plan{
			Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 1, Duration: 20 * second,
			Stages: []metrics.Stage{{Load: metrics.Users.Of(1), Length: 5 * second},
				{Start: 5 * second, Load: metrics.Users.Of(2), Length: 5 * second},
				{Start: 10 * second, Load: metrics.Users.Of(3), Length: 10 * second}},
		}, 1)
		r := begin(t, c)
		var levels [20]atomic.Int64
		for i := range levels {
			time.AfterFunc(time.Duration(i)*second+900*time.Millisecond, func() {
				n := r.view.Snapshot().Totals
				levels[i].Store(int64(n.Sent - n.Completed - n.Failed))
			})
		}
		for at, o := range map[float64]metrics.Command{
			2.1: {Do: metrics.Pause}, 4.1: {Do: metrics.Resume}, 7.1: {Do: metrics.SetLoad, Value: 4.2},
			15.1: {Do: metrics.RampLoad, Value: 8, Over: 2 * second},
		} {
			time.AfterFunc(time.Duration(at*1e9), func() { r.Command(o) })
		}
		run := measureAll(t, r)
		// Seconds in which something changed are left out.
		for second, want := range map[int]int{1: 1, 3: 0, 4: 1, 6: 2, 8: 4, 11: 4, 14: 4, 18: 8} {
			if got := levels[second].Load(); got != int64(want) {
				t.Errorf("%d in flight after %d s, want %d", got, second, want)
			}
		}
		assert.Equal(t, strings.Join(marks(&run), "|"), "paused|1 user|2 users|4 users|→ 8 users|8 users", "marks")
		if st := r.view.Snapshot().Steering; st.Load != metrics.Users.Of(8) {
			t.Errorf("at the end %+v", st)
		}
	})
}

// A pause moves the stages of rates that come after it, and not those of users: their events say when each began, so
// that the target line and the levels of the report are those of the loads there were.
func TestPauseMovesStages(t *testing.T) {
	t.Parallel()
	second := time.Second
	stages := func(users bool) (all []metrics.Stage) {
		for i, load := range []int{2, 4, 8} {
			stage := metrics.Stage{Start: time.Duration(10*i) * second, Length: 10 * second,
				Load: metrics.Load{Value: float64(load)}}
			if users {
				stage.Unit = metrics.Users
			}
			all = append(all, stage)
		}
		return all
	}
	for name, c := range map[string]struct {
		plan   metrics.Plan
		events string
		levels string
	}{
		"rates": {
			metrics.Plan{Rate: 2, Burstiness: math.Inf(1), Duration: 30 * second, Stages: stages(false)},
			"8.1s paused hand|12.1s 2 req/s hand|14s 4 req/s plan|24s 8 req/s plan", "2 4 8",
		},
		"users": {
			metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 8, Duration: 30 * second,
				Stages: stages(true)},
			"8.1s paused hand|10s 4 users plan|12.1s 4 users hand|20s 8 users plan", "2 4 8",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := simulated(t, c.plan, 1)
				if c.plan.MaxConcurrency == 0 {
					var offsets []time.Duration
					for _, stage := range c.plan.Stages {
						for at := stage.Start; at < stage.End(); at += time.Duration(1e9 / stage.Rate()) {
							offsets = append(offsets, at)
						}
					}
					o.Load.Schedule = shape.At(offsets)
				}
				r := begin(t, o)
				for at, do := range map[float64]metrics.CommandKind{8.1: metrics.Pause, 12.1: metrics.Resume} {
					time.AfterFunc(time.Duration(at*1e9), func() { r.Command(metrics.Command{Do: do}) })
				}
				run := measureAll(t, r)
				var events []string
				for _, e := range run.Events {
					if e.Set != nil {
						events = append(events, fmt.Sprint(e.At.Round(10*time.Millisecond), " ", e.Mark, " ", e.Set.By))
					}
				}
				assert.Equal(t, strings.Join(events, "|"), c.events, "events")
				result := assert.Must(report.Of(r.journal.Events()))(t)
				levels := metrics.Each(result.Levels, func(l metrics.LoadLevel) string {
					return fmt.Sprint(math.Round(l.Offered))
				})
				assert.Equal(t, strings.Join(levels, " "), c.levels, "levels")
				if result.Steered != 2 {
					t.Errorf("steered %d times, want 2", result.Steered)
				}
			})
		})
	}
}

// Impossible loads are refused in words.
func TestSteerRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		plan metrics.Plan
		o    metrics.Command
		want string
	}{
		{"zero", metrics.Plan{Rate: 1}, metrics.Command{Do: metrics.SetLoad}, "must be above 0"},
		{"no number", metrics.Plan{Rate: 1}, metrics.Command{Do: metrics.SetLoad, Value: math.NaN()},
			"must be above 0"},
		{"absurd", metrics.Plan{Rate: 1}, metrics.Command{Do: metrics.RampLoad, Value: 1e7, Over: time.Second},
			"at most 1e+06"},
		{"infinite", metrics.Plan{Rate: 1}, metrics.Command{Do: metrics.SetLoad, Value: math.Inf(1)}, "at most 1e+06"},
		{"a ramp without time", metrics.Plan{Rate: 1}, metrics.Command{Do: metrics.RampLoad, Value: 1},
			"a ramp needs a time"},
		{"nothing known", metrics.Plan{Rate: 1}, metrics.Command{Do: "sing"}, `unknown command "sing"`},
		{"all at once", metrics.Plan{Rate: metrics.Rate(math.Inf(1))}, metrics.Command{Do: metrics.SetLoad, Value: 1},
			"due at once"},
		{"no user", metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 2},
			metrics.Command{Do: metrics.SetLoad, Value: .4}, "1 to 1000000 users"},
		{"more users than sockets", metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 2},
			metrics.Command{Do: metrics.SetLoad, Value: 999_999}, "connections"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := begin(t, simulated(t, c.plan, 1))
				if got, _ := r.Command(c.o); !strings.Contains(got, c.want) {
					t.Errorf("%q, want %q", got, c.want)
				}
				if st := r.view.Snapshot().Steering; st.Steerable == (c.name == "all at once") ||
					st.Steerable == (st.Why != "") {
					t.Errorf("the screen knows %+v", st)
				}
				r.do(drain)
				if got, ok := r.Command(metrics.Command{Do: metrics.Pause}); ok || !strings.Contains(got, "ending") {
					t.Errorf("at the end %q", got)
				}
			})
		})
	}
}

// A key that is pressed twice at once counts twice.
func TestPauseTwiceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simulated(t, metrics.Plan{Rate: 5, Duration: 10 * time.Second}, 1)
		r := begin(t, c)
		var words []string
		for _, do := range []metrics.CommandKind{metrics.Pause, metrics.Pause, metrics.Resume, metrics.Resume,
			metrics.Pause} {
			said, _ := r.Command(metrics.Command{Do: do})
			words = append(words, said)
		}
		if got, want := strings.Join(words, "|"), "paused|already paused|resumed|not paused|paused"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

func judged(r *Run, slo metrics.SLO) string {
	said, _ := r.Command(metrics.Command{Do: metrics.SetObjectives, Objectives: slo})
	return said
}

// New objectives are an event.
func TestSetObjectives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simulated(t, metrics.Plan{Rate: 5}, 1)
		r := begin(t, c)
		if got := judged(r, metrics.SLO{{Metric: metrics.TTFT, LimitMS: 300}}); got != "objectives: ttft:300 (ms)" {
			t.Errorf("%q", got)
		}
		assert.Equal(t, judged(r, nil), "no objectives", "judged")
		events := gathered(t, r).Events
		i := slices.IndexFunc(events, func(e metrics.LogEntry) bool { return e.Objectives != nil })
		if i < 0 || events[i].Mark != "SLO" || len(*events[i].Objectives) != 1 {
			t.Errorf("%+v", events)
		}
	})
}
