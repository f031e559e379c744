package pace

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/loadgen/shape"
)

// All pacers are never early, and woken by steering, pause and the end of the run. The bounds here hold on any machine;
// benchmarks measure the lateness.
func TestPacers(t *testing.T) {
	kinds := map[string]func() (sleeper, error){
		"":                func() (sleeper, error) { return newSleeper("") },
		"spin on a timer": func() (sleeper, error) { return newTimerSpinSleeper(), nil },
	}
	for _, kind := range Kinds() {
		kinds[kind] = func() (sleeper, error) { return newSleeper(kind) }
	}
	for kind, build := range kinds {
		t.Run(kind, func(t *testing.T) { testPacer(t, build) })
	}
}

func testPacer(t *testing.T, build func() (sleeper, error)) {
	const soon = 10 * time.Millisecond
	for _, c := range []struct {
		name string
		body func(t *testing.T, p *Pacer)
	}{
		{"never early", func(t *testing.T, p *Pacer) {
			for i := range 50 {
				want := time.Duration(i*i) * 20 * time.Microsecond // from closer than spinning begins to further away
				due, ok := p.Wait(t.Context(), want, true)
				if late := time.Since(p.start) - want; !ok || due != want || late < 0 {
					t.Errorf("due %s (%v) %s late, want %s", due, ok, late, want)
				}
			}
		}},
		{"the end of the run wakes it", func(t *testing.T, p *Pacer) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(soon, cancel)
			if _, ok := p.Wait(ctx, time.Hour, true); ok {
				t.Error("an hour passed")
			}
			if _, ok := p.Wait(ctx, 0, true); ok {
				t.Error("it went on after the end")
			}
		}},
		{"another end, after one that never came", func(t *testing.T, p *Pacer) {
			if _, ok := p.Wait(t.Context(), time.Millisecond, true); !ok {
				t.Error("stopped")
			}
			ctx, cancel := context.WithTimeout(context.Background(), soon)
			defer cancel()
			if _, ok := p.Wait(ctx, time.Hour, true); ok {
				t.Error("an hour passed")
			}
		}},
		{"the end of the duration", func(t *testing.T, p *Pacer) {
			p.end = soon
			if due, ok := p.Wait(t.Context(), time.Hour, true); ok || due != soon || now(p) < soon {
				t.Errorf("due %s (%v) at %s, want the end at %s", due, ok, now(p), soon)
			}
		}},
		{"steering wakes it", func(t *testing.T, p *Pacer) {
			time.AfterFunc(soon, func() { p.steer(now(p), 1e6) })
			if _, ok := p.Wait(t.Context(), time.Hour, true); !ok {
				t.Error("stopped")
			}
		}},
		{"pause holds and resume releases", func(t *testing.T, p *Pacer) {
			p.steer(now(p), 0)
			time.AfterFunc(3*soon, func() { p.steer(now(p), 1) })
			if _, ok := p.Wait(t.Context(), time.Millisecond, true); !ok || now(p) < 3*soon {
				t.Errorf("went on at %s while paused until %s", now(p), 3*soon)
			}
		}},
		{"a wake before the wait costs nothing but time", func(t *testing.T, p *Pacer) {
			p.sleeper.wake()
			p.sleeper.wake()
			if due, ok := p.Wait(t.Context(), soon, true); !ok || due != soon || now(p) < soon {
				t.Errorf("due %s (%v) at %s, want %s", due, ok, now(p), soon)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			<-apart(func() { // a thread may end with it
				s, err := build()
				if err != nil {
					t.Error(err)
					return
				}
				p := New(time.Now(), 0, 0)
				p.use(s)
				c.body(t, p)
				p.Close()
				s.wake() // too late, and harmless
			})
		})
	}
}

// apart runs f on a goroutine of its own; the channel closes when it is over.
func apart(f func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	return done
}

// A spinning pacer leaves the core alone while the next arrival is far away, and can be woken while it spins.
func TestSpinning(t *testing.T) {
	var slept time.Duration
	s := &spinSleeper{sleeper: sleepRecord{&slept}, ahead: time.Millisecond}
	for _, d := range []time.Duration{-1, time.Hour, 2 * time.Millisecond} {
		slept = 0
		s.sleep(d)
		assert.Equal(t, slept, max(d-s.ahead, -1), "%s away it sleeps for", d)
	}
	slept = 0
	began := time.Now()
	s.sleep(time.Millisecond)
	if took := time.Since(began); took < time.Millisecond || slept != 0 {
		t.Errorf("it spun for %s and slept for %s, want a millisecond and none", took, slept)
	}
	s.ahead = time.Hour
	time.AfterFunc(time.Millisecond, s.wake)
	s.sleep(time.Hour) // would be over long after the test was
}

// sleepRecord does not sleep, and keeps the duration.
type sleepRecord struct{ slept *time.Duration }

func (r sleepRecord) sleep(d time.Duration) { *r.slept = d }
func (sleepRecord) wake()                   {}
func (sleepRecord) close()                  {}

// Waiting allocates nothing, so that it never causes a collection.
func TestWaitsAllocateNothing(t *testing.T) {
	for _, kind := range Kinds() {
		if kind == "timer" || runtime.GOOS != "linux" {
			continue // a Go timer is allocated
		}
		<-apart(func() {
			p := New(time.Now(), 0, 0)
			defer p.Close()
			if err := p.Open(kind); err != nil {
				t.Error(err)
				return
			}
			if n := testing.AllocsPerRun(100, func() { p.Wait(t.Context(), now(p)+200*time.Microsecond, true) }); n !=
				0 {
				t.Errorf("%s: %v allocations for a wait", kind, n)
			}
		})
	}
}

// The lateness of waits is measured for as many as were asked for, and never negative.
func TestLateness(t *testing.T) {
	for _, kind := range append(Kinds(), "") {
		late, err := Lateness(t.Context(), kind, 2000, 50, 1)
		if err != nil || len(late) != 50 || slices.Min(late) < 0 {
			t.Errorf("pacer %q: %v: %v", kind, err, late)
		}
	}
	ended, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(errors.New("enough")) })
	if late, err := Lateness(ended, "", 1e-3, 50, 1); len(late) != 0 || err == nil || err.Error() != "enough" {
		t.Errorf("%d waits, %v", len(late), err)
	}
	for _, c := range []struct {
		kind  string
		rate  float64
		n     int
		words string
	}{
		{"sundial", 1, 1, `pacer "sundial": this system has`},
		{"", 0, 1, "positive rate"}, {"", -1, 1, "positive rate"}, {"", math.NaN(), 1, "positive rate"},
		{"", 1, -1, "-1 arrivals"}, {"", 1, shape.MostArrivals + 1, "at most"},
	} {
		_, err := Lateness(t.Context(), c.kind, c.rate, c.n, 1)
		assert.Fails(t, fmt.Sprint(c), err, c.words)
	}
	assert.Equal(t, len(assert.Must(Lateness(t.Context(), "", math.Inf(1), 5, 1))(t)), 5, "all at once")
}

// steer sets the speed of the schedule. No command does this, but it is the simplest way to bend the map.
func (p *Pacer) steer(now time.Duration, speed float64) { p.change(func() { p.setSpeed(now, speed) }) }

// now is the offset of the run.
func now(p *Pacer) time.Duration { return time.Since(p.start).Round(time.Microsecond) }

// The map from schedule time to run time is exact at every bend.
func TestSteering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(time.Now(), 0, 0)
		defer p.Close()
		assert.Fine(t, p.Open("timer"))
		at := func(after, speed float64) {
			time.AfterFunc(time.Duration(after*float64(time.Second)), func() { p.steer(now(p), speed) })
		}
		at(10, 2)  // schedule 10 s
		at(15, 0)  // schedule 20 s
		at(25, .5) // schedule 20 s
		for _, c := range []struct{ schedule, run float64 }{{5, 5}, {10, 10}, {12, 11}, {20, 15}, {21, 27}, {25, 35}} {
			if c.schedule == 20 {
				continue // at the very moment of the pause either side is right
			}
			due, ok := p.Wait(t.Context(), time.Duration(c.schedule*float64(time.Second)), true)
			if now := now(p); !ok || now.Seconds() != c.run || due != now {
				t.Errorf("schedule %v s came at %s (due %s), want %v s", c.schedule, now, due, c.run)
			}
		}
	})
}

// An arrival that is never due stays so at any speed, after any changes.
func TestSteeringAtTheEdge(t *testing.T) {
	for _, speeds := range [][]float64{{1}, {0.5}, {0, 1}, {2, 0.25}, {1e-300}, {0, 2, 0.5}} {
		s := New(time.Now(), 0, 0)
		now := time.Second
		for _, x := range speeds {
			s.steer(now, x)
			now += time.Second
		}
		if due, over := s.due(never, true); over || due < never/8 {
			t.Errorf("speeds %v: the end of time is due at %s (%v)", speeds, due, over)
		}
	}
	for _, x := range []float64{0, -1, math.NaN()} {
		s := New(time.Now(), 0, 0)
		s.steer(time.Second, x)
		if due, _ := s.due(2*time.Second, true); due != never {
			t.Errorf("speed %v: due at %s, want a pause", x, due)
		}
	}
	s := New(time.Now(), 0, 0)
	s.steer(0, math.Inf(1))
	s.steer(24*time.Hour, 1)
	if due, _ := s.due(time.Hour, true); due > 24*time.Hour {
		t.Errorf("after a day at the highest speed, what was due in its first hour is due at %s", due)
	}
}

// With enough cores, the default is the most exact pacer; the default is always named first.
func TestPacerNames(t *testing.T) {
	roomy, narrow := kinds(true), kinds(false)
	if slices.Contains(roomy, "timerfd") && (roomy[0] != "spin" || narrow[0] != "timerfd") {
		t.Errorf("%v with many cores, %v with few", roomy, narrow)
	}
	if !slices.Equal(slices.Sorted(slices.Values(roomy)), slices.Sorted(slices.Values(narrow))) {
		t.Errorf("%v with many cores, %v with few", roomy, narrow)
	}
	if _, err := newSleeper("sundial"); err == nil {
		t.Error("an unknown pacer was accepted")
	}
}

// Arrivals that were due before a change keep their time, however late they are waited for; none moves into the past.
func TestLateArrivalsKeepTheirLine(t *testing.T) {
	s := New(time.Now(), 0, 0)
	s.SetRate(0, 100)
	s.SetRate(10*time.Second, 1) // arrival 1000 is due now
	s.SetPaused(20*time.Second, true)
	s.SetPaused(30*time.Second, false)
	s.SetRate(40*time.Second, 1000)
	for _, c := range []struct {
		arrivals, due float64
	}{{1, .01}, {500, 5}, {999, 9.99}, {1000, 10}, {1001, 11}, {1009, 19}, {1011, 31}, {1019, 39}, {1020, 40},
		{2020, 41}} {
		due, over := s.due(shape.Rounded(c.arrivals*1e9), false)
		if math.Abs(due.Seconds()-c.due) > 1e-9 || over {
			t.Errorf("arrival %v is due at %s (%v), want %v s", c.arrivals, due, over, c.due)
		}
	}
	if len(s.lines) != 1 {
		t.Errorf("%d lines are kept, want the one in force", len(s.lines))
	}
}

// BenchmarkSetRate is the cost of a change, with a pacer to wake.
func BenchmarkSetRate(b *testing.B) {
	p := New(time.Now(), 0, 0)
	p.use(newTimerSleeper())
	defer p.Close()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		now := time.Duration(i) * time.Millisecond
		p.SetRate(now, float64(1+i%7))
		p.due(p.lines[len(p.lines)-1].schedule, false)
	}
}
