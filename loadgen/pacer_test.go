package loadgen

import (
	"context"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Both pacers keep the same promises: never early, woken by steering, pause and the end of the run. Only bounds that hold
// on any machine are checked here; how late they are is measured in benchmarks.
func TestPacers(t *testing.T) {
	for _, kind := range PacerKinds() {
		t.Run(kind, func(t *testing.T) {
			run := func(body func(p *pacer)) {
				done := make(chan struct{})
				go func() { // its thread ends with it
					defer close(done)
					p, err := newPacer(runClock{time.Now()}, kind, &steering{speed: 1})
					if err != nil {
						t.Error(err)
						return
					}
					defer p.close()
					body(p)
				}()
				<-done
			}
			t.Run("never early", func(t *testing.T) {
				run(func(p *pacer) {
					for i := range 20 {
						want := time.Duration(i) * 2 * time.Millisecond
						due, ok := p.wait(t.Context(), want)
						if now := p.clock.now(); !ok || due != want || now < want {
							t.Errorf("due %s (%v) at %s, want %s", due, ok, now, want)
						}
					}
				})
			})
			t.Run("the end of the run wakes it", func(t *testing.T) {
				run(func(p *pacer) {
					ctx, cancel := context.WithCancel(t.Context())
					time.AfterFunc(10*time.Millisecond, cancel)
					if _, ok := p.wait(ctx, time.Hour); ok {
						t.Error("an hour passed")
					}
				})
			})
			t.Run("steering wakes it", func(t *testing.T) {
				run(func(p *pacer) {
					time.AfterFunc(10*time.Millisecond, func() { p.steer.setSpeed(p.clock.now(), 1e6) })
					if _, ok := p.wait(t.Context(), time.Hour); !ok {
						t.Error("stopped")
					}
				})
			})
			t.Run("pause holds and resume releases", func(t *testing.T) {
				run(func(p *pacer) {
					p.steer.setSpeed(p.clock.now(), 0)
					time.AfterFunc(30*time.Millisecond, func() { p.steer.setSpeed(p.clock.now(), 1) })
					if _, ok := p.wait(t.Context(), time.Millisecond); !ok || p.clock.now() < 30*time.Millisecond {
						t.Errorf("went on at %s while paused until 30ms", p.clock.now())
					}
				})
			})
		})
	}
}

// The map from schedule time to run time is exact at every bend.
func TestSteering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := newPacer(runClock{time.Now()}, "timer", &steering{speed: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer p.close()
		at := func(after, speed float64) {
			time.AfterFunc(time.Duration(after*float64(time.Second)), func() { p.steer.setSpeed(p.clock.now(), speed) })
		}
		at(10, 2)  // schedule 10 s
		at(15, 0)  // schedule 20 s
		at(25, .5) // schedule 20 s
		for _, c := range []struct{ schedule, run float64 }{{5, 5}, {10, 10}, {12, 11}, {20, 15}, {21, 27}, {25, 35}} {
			if c.schedule == 20 {
				continue // at the very moment of the pause either side is right
			}
			due, ok := p.wait(t.Context(), time.Duration(c.schedule*float64(time.Second)))
			if now := p.clock.now(); !ok || now.Seconds() != c.run || due != now {
				t.Errorf("schedule %v s came at %s (due %s), want %v s", c.schedule, now, due, c.run)
			}
		}
	})
}

// What is never due stays so, whatever the speed and however often it changed.
func TestSteeringAtTheEdge(t *testing.T) {
	const never = time.Duration(math.MaxInt64)
	for _, speeds := range [][]float64{{1}, {0.5}, {0, 1}, {2, 0.25}, {1e-300}, {0, 2, 0.5}} {
		s := &steering{speed: 1}
		now := time.Second
		for _, x := range speeds {
			s.setSpeed(now, x)
			now += time.Second
		}
		if due, ok := s.due(never); !ok || due < never/8 {
			t.Errorf("speeds %v: the end of time is due at %s (%v)", speeds, due, ok)
		}
	}
	for _, x := range []float64{0, -1, math.NaN()} {
		s := &steering{speed: 1}
		s.setSpeed(time.Second, x)
		if due, ok := s.due(2 * time.Second); ok {
			t.Errorf("speed %v: due at %s, want a pause", x, due)
		}
	}
	s := &steering{speed: 1}
	s.setSpeed(0, math.Inf(1))
	s.setSpeed(24*time.Hour, 1)
	if due, ok := s.due(time.Hour); !ok || due > 24*time.Hour {
		t.Errorf("after a day at the highest speed, what was due in its first hour is due at %s", due)
	}
}

func TestPacerNames(t *testing.T) {
	if _, err := newSleeper("sundial"); err == nil {
		t.Error("an unknown pacer was accepted")
	}
}

// BenchmarkPacer reports lateness as a quantile of many waits.
func BenchmarkPacer(b *testing.B) {
	for _, kind := range PacerKinds() {
		b.Run(kind, func(b *testing.B) {
			var late []time.Duration
			done := make(chan struct{})
			go func() {
				defer close(done)
				p, err := newPacer(runClock{time.Now()}, kind, &steering{speed: 1})
				if err != nil {
					b.Error(err)
					return
				}
				defer p.close()
				for i := range b.N {
					due, _ := p.wait(context.Background(), time.Duration(i)*time.Millisecond)
					late = append(late, p.clock.now()-due)
				}
			}()
			<-done
			slices.Sort(late)
			b.ReportMetric(float64(late[len(late)/2].Microseconds()), "µs-late-p50")
			b.ReportMetric(float64(late[len(late)*99/100].Microseconds()), "µs-late-p99")
		})
	}
}
