package conn

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"benchtop/internal/assert"
)

// fakeClocks are a wall clock and a monotonic one of which a test moves either. A reading of both takes 40 ns.
type fakeClocks struct {
	wall, mono int64
	fast       int64 // the wall clock's error in millionths
	held       []int64
	before     func() // is called before each reading
	looks      int
}

func newFakeClocks() (*fakeClocks, *wallClock) {
	c := &fakeClocks{wall: 1_700_000_000_000_000_000, mono: 12345}
	return c, newWallClock(c.now)
}

func (c *fakeClocks) pass(d time.Duration) {
	c.mono += int64(d)
	c.wall += int64(d) + int64(d)*c.fast/1_000_000
}

func (c *fakeClocks) now() reading {
	c.looks++
	if c.before != nil {
		c.before()
	}
	c.pass(20)
	r := reading{wall: c.wall}
	c.pass(20)
	if len(c.held) > 0 {
		c.pass(time.Duration(c.held[0]))
		c.held = c.held[1:]
	}
	r.mono = c.mono
	return r
}

// packet is one that has arrived and waits to be read.
type packet struct{ stamp, came int64 }

func (c *fakeClocks) packet() packet { return packet{c.wall, c.mono} }

func (p packet) read(w *wallClock, in reading, steps int) (off time.Duration, ok bool) {
	at, ok := w.monotonic(p.stamp, in, steps)
	return time.Duration(at - p.came).Abs(), ok
}

// The wall clock is steady, or slewed as fast as the kernel may; all stamps are used, for some readings more than those
// of the reads.
func TestWallClockSlewed(t *testing.T) {
	for fast, most := range map[int64]time.Duration{0: 100, 500: 30 * time.Microsecond, -500: 30 * time.Microsecond,
		30: 30 * time.Microsecond} {
		c, w := newFakeClocks()
		c.fast = fast
		looks := c.looks
		for range 6000 {
			c.pass(5 * time.Millisecond)
			p := c.packet()
			c.pass(5 * time.Millisecond)
			if off, ok := p.read(w, c.now(), 0); !ok || off > most {
				t.Fatalf("%d ppm: a stamp is off by %s, known %v", fast, off, ok)
			}
		}
		if more := c.looks - looks - 6000; w.steps() != 0 || more < 60 || fast == 0 && more > 300 {
			t.Errorf("%d ppm: %d steps, %d looks at the clocks in a minute, besides those of the reads", fast,
				w.steps(), more)
		}
	}
}

// The wall clock is set. Stamps from around the step are not used, all others are right.
func TestWallClockSteps(t *testing.T) {
	for _, step := range []time.Duration{5 * time.Second, -5 * time.Second, 2 * time.Millisecond, -2 * time.Millisecond,
		24 * 365 * time.Hour} {
		for _, late := range []time.Duration{0, 3 * time.Millisecond, 300 * time.Millisecond, 6 * time.Second} {
			c, w := newFakeClocks()
			c.pass(100 * time.Millisecond)
			waiting, another := c.packet(), c.packet() // on two connections that are not read for a while
			if off, ok := c.packet().read(w, c.now(), 0); !ok || off > 100 {
				t.Fatalf("before: off by %s, known %v", off, ok)
			}
			c.pass(4 * time.Millisecond)
			c.wall += int64(step)
			c.pass(4 * time.Millisecond)
			after := c.packet()
			c.pass(late)
			// The step is found here.
			if _, ok := waiting.read(w, c.now(), 0); ok {
				t.Errorf("step %s, read %s later: a stamp from before it was used", step, late)
			}
			assert.Equal(t, w.steps(), 1, "step %s steps", step)
			// The stamp is of the clock after the step, but may as well be of the clock before.
			if _, ok := after.read(w, c.now(), 0); ok {
				t.Errorf("step %s, read %s later: a stamp between the step and its discovery was used", step, late)
			}
			// Its connection seemed to be empty since, but was not.
			if off, ok := another.read(w, c.now(), 1); ok && step > 0 {
				t.Errorf("step %s, read %s later: a stamp from before it was used, off by %s", step, late, off)
			}
			for range 1000 {
				c.pass(5 * time.Millisecond)
				p := c.packet()
				c.pass(5 * time.Millisecond)
				if off, ok := p.read(w, c.now(), 1); !ok || off > 100 {
					t.Fatalf("after a step of %s: off by %s, known %v", step, off, ok)
				}
			}
			assert.Equal(t, w.steps(), 1, "step %s steps in the end", step)
		}
	}
}

// A stamp that is later than its read is not used. A step that no read has seen yet is found by the measurement that is
// due.
func TestWallClockStepWhileMeasured(t *testing.T) {
	c, w := newFakeClocks()
	future := c.packet()
	future.stamp += int64(time.Second)
	if _, ok := future.read(w, c.now(), 0); ok {
		t.Error("a stamp of the future was used")
	}
	c.pass(2 * time.Second)
	p, in := c.packet(), c.now()
	c.wall += int64(time.Minute)
	if _, ok := p.read(w, in, 0); ok || w.steps() != 1 {
		t.Errorf("the stamp was used: %v, %d steps", ok, w.steps())
	}
}

// Many small jumps are not a step, and followed.
func TestWallClockSmallJump(t *testing.T) {
	c, w := newFakeClocks()
	for range 20 {
		c.pass(50 * time.Millisecond)
		c.wall += int64(300 * time.Microsecond)
		p := c.packet()
		c.pass(time.Millisecond)
		if off, ok := p.read(w, c.now(), 0); !ok || off > 100 || w.steps() != 0 {
			t.Fatalf("off by %s, known %v, %d steps", off, ok, w.steps())
		}
	}
}

// The thread loses its core between the two clocks of a reading. This is not a step, even while measuring.
func TestWallClockPreempted(t *testing.T) {
	c, w := newFakeClocks()
	c.pass(10 * time.Millisecond)
	for _, held := range [][]int64{{5e6}, {25e3}, {5e6, 5e6, 5e6, 5e6}, {3e9, 0, 2e9}} {
		p := c.packet()
		c.held = held
		if off, ok := p.read(w, c.now(), 0); !ok || off > 100 {
			t.Errorf("held for %d: off by %s, known %v", held, off, ok)
		}
		c.pass(10 * time.Millisecond)
	}
	// A second one right after it is not measured; its read has no stamp.
	for i, want := range []bool{true, false, false} {
		p := c.packet()
		c.held = []int64{1e5}
		looks := c.looks
		_, ok := p.read(w, c.now(), 0)
		if measured := c.looks-looks > 1; ok != want || measured != want {
			t.Errorf("reading %d: known %v, measured %v", i, ok, measured)
		}
	}
	assert.Equal(t, w.steps(), 0, "steps")
}

// Concurrent reads while the clock is set: no wrong time, one step.
func TestWallClockAtOnce(t *testing.T) {
	start := time.Now()
	var set atomic.Int64
	look := func() reading {
		wall := set.Load()
		mono := int64(time.Since(start))
		return reading{wall: wall + mono, mono: mono}
	}
	w := newWallClock(look)
	var work sync.WaitGroup
	var used atomic.Int64
	for range 8 {
		work.Go(func() {
			for w.steps() == 0 && time.Since(start) < time.Minute {
				steps := w.steps() // the socket is empty
				came := look()
				if at, ok := w.monotonic(came.wall, look(), steps); ok {
					used.Add(1)
					if off := time.Duration(at - came.mono).Abs(); off > time.Second {
						t.Errorf("off by %s", off)
						return
					}
				}
			}
		})
	}
	for used.Load() < 1000 && time.Since(start) < time.Minute {
		time.Sleep(time.Millisecond)
	}
	set.Store(int64(time.Hour))
	work.Wait()
	if w.steps() != 1 || used.Load() == 0 {
		t.Errorf("%d steps, %d stamps used", w.steps(), used.Load())
	}
}

func BenchmarkWallClock(b *testing.B) {
	s := systemClock(time.Now())
	w := newWallClock(s)
	b.Run("now", func(b *testing.B) {
		for b.Loop() {
			s()
		}
	})
	b.Run("now and translate", func(b *testing.B) {
		for b.Loop() {
			in := s()
			w.monotonic(in.wall, in, 0)
		}
	})
	b.Run("measure", func(b *testing.B) {
		for b.Loop() {
			w.measure(w.known.Load())
		}
	})
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			w.measure(nil)
		}
	})
}
