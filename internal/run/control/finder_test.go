package control

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/internal/search"
	"benchtop/metrics"
)

// server is a made-up one: a load within its capacity is fine once the queue that a higher one left is gone.
type server struct {
	capacity float64
	backlog  float64 // requests
	noise    *rand.Rand
	wrong    float64 // share of verdicts that are wrong near the capacity
	tires    float64 // the capacity sinks by this a second
	now      time.Duration
}

// try takes a step and says whether it was within the objectives.
func (s *server) try(step Step, unit metrics.Unit) []search.Evidence {
	if step.Phase == metrics.SearchDraining {
		rest := step.For
		if unit == metrics.Users {
			rest = time.Second
		} else if s.capacity > 0 {
			rest = min(rest, time.Duration(s.backlog/s.capacity*1e9))
		}
		s.now, s.backlog = s.now+rest, max(0, s.backlog-s.capacity*rest.Seconds())
		return nil
	}
	for _, d := range []time.Duration{step.Settle, step.For} {
		s.now += d
		s.capacity = max(0, s.capacity-s.tires*d.Seconds())
		if unit != metrics.Users {
			s.backlog = max(0, s.backlog+(step.Load-s.capacity)*d.Seconds())
		}
	}
	good := s.backlog <= s.capacity/10
	if unit == metrics.Users {
		good = step.Load <= s.capacity
	}
	if s.noise != nil && math.Abs(step.Load-s.capacity) < s.capacity/5 && s.noise.Float64() < s.wrong {
		return outcome(step, !good)
	}
	return outcome(step, good)
}

// outcome is that of a step whose requests were all good, or none; a load that is held is proven by that.
func outcome(step Step, within bool) []search.Evidence {
	e := search.Evidence{Requests: 100, Share: 0.95}
	if within {
		e.Good = e.Requests
		if step.Phase == metrics.SearchHolding {
			e.Confidence = 0.97
		}
	}
	return []search.Evidence{e}
}

// searched are the steps of a search, and the moments at which they begin.
func searched(f *Finder, s *server, unit metrics.Unit) (steps []Step, times []time.Duration) {
	for step := f.Step(); ; step = f.Next(s.try(step, unit)) {
		steps, times = append(steps, step), append(times, s.now)
		if step.Phase == metrics.SearchDone {
			return steps, times
		}
	}
}

// found is the load that was held, by the only tier.
func found(f *Finder) (load float64, ok bool) {
	for _, r := range f.Found() {
		return r.Passed, true
	}
	return 0, false
}

// checkFollowed follows a search by its settings, as a screen does. The state is that of the finder, and the time left
// about right: of a server with one capacity a bisection takes no longer, and a climb no less.
func checkFollowed(t *testing.T, find metrics.Find, steps []Step, times []time.Duration, found bool) {
	t.Helper()
	var s *metrics.Search
	end := times[len(times)-1]
	held := false
	for i, step := range steps {
		e := metrics.LogEntry{At: times[i], Mark: metrics.NotFoundMark, Search: &step.Told}
		if found {
			e.Mark = metrics.FoundMark
		}
		if step.Phase != metrics.SearchDone {
			e.Mark, e.Set = "", &metrics.LoadSetting{By: metrics.BySearch, Paused: step.Phase == metrics.SearchDraining,
				Load: find.Unit.Of(step.Load)}
		}
		s = s.Take(&e)
		now := s.At(times[i], &metrics.Plan{Find: &find})
		if now.Phase != step.Phase || now.Phase != metrics.SearchDone && (now.String() != step.Words ||
			now.Load != step.Load) || now.Phase == metrics.SearchDone && now.Found != found {
			t.Errorf("step %d: %s, %q, want %s, %q", i, now.Phase, now, step.Phase, step.Words)
		}
		left, holds := end-times[i], 0
		for _, later := range steps[i:] {
			if later.Phase == metrics.SearchHolding {
				holds++
			}
		}
		if held = held || step.Phase == metrics.SearchHolding; !found || held || holds != 1 {
			continue
		}
		settle, judged := find.Trial(s.Passed)
		longest := settle + judged
		slack := find.Step // a break may be shorter or longer than usual, as may be a step
		if now.AtLeast && now.Left > left+slack ||
			!now.AtLeast && (now.Left < left/3-slack || now.Left > 4*left+metrics.LongestStep*longest) {
			t.Errorf("step %d, %s: left %s, at least %t; in fact %s", i, step.Words, now.Left, now.AtLeast, left)
		}
	}
	if n := len(s.Tested); found && (!s.Tested[n-1].Held || !s.Tested[n-1].Passed || s.Tested[n-1].Load != s.Passed) {
		t.Errorf("tested %+v", s.Tested)
	}
}

func TestFinder(t *testing.T) {
	second := time.Second
	rates := metrics.Find{From: 1, Most: 1000, Step: 10 * second, Hold: 30 * second}
	users := metrics.Find{From: 1, Most: 1000, Step: 10 * second, Hold: 30 * second, Unit: metrics.Users}
	to := func(f metrics.Find, most float64) metrics.Find { f.Most = most; return f }
	from := func(f metrics.Find, from float64) metrics.Find { f.From = from; return f }
	for _, c := range []struct {
		name      string
		find      metrics.Find
		server    server
		low, high float64 // bounds of what is found; 0 for nothing
		least     time.Duration
		most      time.Duration // it takes at most
		last      string
	}{
		{"a rate", rates, server{capacity: 38}, 28, 38.5, 0, 10 * time.Minute,
			" req/s proven; by its tests, the border is between "},
		{"from above", from(rates, 300), server{capacity: 38}, 28, 38.5, 0, 10 * time.Minute,
			" req/s proven; by its tests, the border is between "},
		{"up to the most", to(rates, 20), server{capacity: 38}, 20, 20, 0, 6 * time.Minute,
			"20 req/s proven, the most that may be tried"},
		{"the most is the first", to(from(rates, 20), 20), server{capacity: 38}, 20, 20, 0, time.Minute,
			"20 req/s proven"},
		{"less than one a second", from(rates, 2), server{capacity: .4}, .3, .4, 0, time.Hour,
			" req/s proven; by its tests, the border is between "},
		{"never within", rates, server{}, 0, 0, 0, 30 * time.Minute, "even "},
		{"users", users, server{capacity: 38}, 28, 38, 0, 10 * time.Minute,
			" users proven; by its tests, the border is between "},
		{"one user", users, server{capacity: 1}, 1, 1, 0, 3 * time.Minute,
			"1 user proven; by its tests, the border is 1 user"},
		{"not one user", users, server{}, 0, 0, 0, 3 * time.Minute, "even 1 user misses the objectives"},
		{"all users", to(users, 7), server{capacity: 38}, 7, 7, 0, 3 * time.Minute,
			"7 users proven, the most that may be tried"},
		{"many users from above", from(users, 700), server{capacity: 38}, 28, 38, 0, 10 * time.Minute,
			" users proven; by its tests, the border is between "},
		{"a server that tires", rates, server{capacity: 60, tires: .1}, 5, 58, 0, time.Hour,
			" req/s proven; by its tests, the border is "},
		{"a server that dies", rates, server{capacity: 60, tires: .6}, 0, 0, 0, time.Hour, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := NewFinder(c.find)
			steps, times := searched(f, &c.server, c.find.Unit)
			load, ok := found(f)
			if c.high > 0 && (!ok || load < c.low || load > c.high) || c.high == 0 && ok {
				t.Errorf("found %v (%v), want %v to %v", load, ok, c.low, c.high)
			}
			assert.Has(t, steps[len(steps)-1].Words, c.last)
			if c.server.now > c.most {
				t.Errorf("it took %s, want at most %s", c.server.now, c.most)
			}
			checkSteps(t, c.find, steps)
			checkFollowed(t, c.find, steps, times, ok)
			if t.Failed() {
				for _, s := range steps {
					t.Logf("%-10s %8.4g  %6s+%-6s %s", s.Phase, s.Load, s.Settle, s.For, s.Words)
				}
			}
		})
	}
}

// checkSteps looks for what no search may do.
func checkSteps(t *testing.T, find metrics.Find, steps []Step) {
	t.Helper()
	for i, s := range steps {
		switch {
		case s.Words == "":
			t.Errorf("step %d has no words", i)
		case s.Phase == metrics.SearchDraining:
			if s.Load != 0 || s.For <= 0 {
				t.Errorf("step %d: %+v", i, s)
			}
		case !(s.Load > 0) || s.Load > find.Most || find.Unit == metrics.Users && s.Load != math.Floor(s.Load):
			t.Errorf("step %d sets %v", i, s.Load)
		case s.Phase != metrics.SearchDone &&
			(s.For <= 0 || s.Settle < 0 || s.For > max(find.Hold, 6*longestTrial*find.Step)):
			t.Errorf("step %d takes %s and %s", i, s.Settle, s.For)
		}
	}
	if len(steps) > mostSteps+2 {
		t.Errorf("%d steps", len(steps))
	}
}

// The words tell the story.
func TestFinderSays(t *testing.T) {
	f := NewFinder(metrics.Find{From: 10, Most: 100, Step: 10 * time.Second, Hold: 30 * time.Second})
	got := []string{f.Step().Words}
	for _, within := range []bool{true, false, true, false, true, true, true, false, true, true, true, false, true,
		true} {
		got = append(got, f.Next(outcome(f.Step(), within)).Words)
	}
	want := []string{
		"testing 10 req/s", "10 req/s passed; testing 40", "40 req/s failed; waiting for the queue to drain",
		"10 req/s passed, 40 failed; testing 18.6", "18.6 req/s failed; waiting for the queue to drain",
		"10 req/s passed, 18.6 failed; testing 12.7", "12.7 req/s passed, 18.6 failed; testing 14.5",
		"14.5 req/s passed, 18.6 failed; testing 15.6", "15.6 req/s failed; waiting for the queue to drain",
		"14.5 req/s passed, 15.6 failed; testing 14.1", "14.5 req/s passed, 15.6 failed; testing 14.1",
		"holding 13.3 req/s", "13.3 req/s failed; waiting for the queue to drain",
		"holding 11.3 req/s", "11.3 req/s proven; by its tests, the border is about 14.5 req/s",
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
	if s := f.Next(outcome(f.Step(), true)); s.Phase != metrics.SearchDone ||
		f.Next(outcome(f.Step(), false)).Words != s.Words {
		t.Errorf("%+v is not the end", s)
	}
}

// A server that flaps is searched in bounded time, and what is found is near the truth if its verdicts mostly are.
func TestFinderAgainstNoise(t *testing.T) {
	ci.SkipUnderRace(t)
	for _, wrong := range []float64{.1, .5, 1} {
		near := 0
		const n = 16
		for seed := range uint64(n) {
			find := metrics.Find{From: 1, Most: 500, Step: 10 * time.Second, Hold: 30 * time.Second,
				Unit: []metrics.Unit{metrics.RequestsPerSecond, metrics.Users}[seed%2]}
			s := server{capacity: 40, noise: rand.New(rand.NewPCG(seed, 0)), wrong: wrong}
			f := NewFinder(find)
			steps, _ := searched(f, &s, find.Unit)
			checkSteps(t, find, steps)
			if load, ok := found(f); ok && load >= 25 && load <= 50 {
				near++
			}
			if s.now > 2*time.Hour {
				t.Errorf("seed %d: it took %s", seed, s.now)
			}
		}
		if wrong == .1 && near < n*8/10 {
			t.Errorf("with a tenth of the verdicts wrong, %d of %d searches found what is near", near, n)
		}
	}
}

// A load that is rounded to be read is not more than what was asked for at most.
func TestFinderStaysBelowTheMost(t *testing.T) {
	for _, find := range []metrics.Find{{From: 99.96, Most: 99.96}, {From: 1, Most: 99.96},
		{From: 0.012345, Most: 0.012345}} {
		find.Step, find.Hold = 10*time.Second, 30*time.Second
		f := NewFinder(find)
		for f.Step().Phase != metrics.SearchDone {
			if f.Step().Load > find.Most {
				t.Errorf("%v of at most %v", f.Step().Load, find.Most)
			}
			f.Next(outcome(f.Step(), true))
		}
		if load, ok := found(f); !ok || load != find.Most {
			t.Errorf("found %v (%v), want %v", load, ok, find.Most)
		}
	}
}

// Tiers with the same highest load share the step that holds it; others have one each.
func TestTiersShareHolds(t *testing.T) {
	for second, want := range map[float64]int{16: 1, 100: 2} {
		f := NewFinder(metrics.Find{From: 8, Most: 1000, Step: time.Second, Hold: time.Minute, Unit: metrics.Users},
			"gold", "bronze")
		holds := 0
		for step := f.Step(); step.Phase != metrics.SearchDone; step = f.Next(
			append(outcome(step, step.Load <= 16), outcome(step, step.Load <= second)...)) {
			if step.Phase == metrics.SearchHolding {
				holds++
			}
		}
		if all := f.Found(); holds != want || len(all) != 2 || all[0].Passed > 16 || all[1].Passed > second {
			t.Errorf("borders of 16 and %v: %d holds found %+v", second, holds, all)
		}
	}
}

func ExampleFinder() {
	f := NewFinder(metrics.Find{From: 8, Most: 64, Step: 10 * time.Second, Hold: 30 * time.Second, Unit: metrics.Users})
	for step := f.Step(); step.Phase != metrics.SearchDone; step = f.Next(outcome(step, step.Load <= 12)) {
		fmt.Println(step.Words)
	}
	fmt.Println(found(f))
	// Output:
	// testing 8 users
	// 8 users passed; testing 32
	// 32 users failed; waiting for the queue to drain
	// 8 users passed, 32 failed; testing 16
	// 16 users failed; waiting for the queue to drain
	// 8 users passed, 16 failed; testing 11
	// 11 users passed, 16 failed; testing 13
	// 13 users failed; waiting for the queue to drain
	// holding 10 users
	// 10 true
}
