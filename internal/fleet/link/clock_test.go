package link

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
)

// The offset is within its bound, whatever the delays are: long and short, all of them one way, with jitter.
func TestClock(t *testing.T) {
	ways := map[string]func(*rand.Rand, bool) time.Duration{
		"even":    func(r *rand.Rand, _ bool) time.Duration { return time.Millisecond + time.Duration(r.IntN(1e6)) },
		"one way": func(_ *rand.Rand, back bool) time.Duration { return map[bool]time.Duration{true: 20e6 + 1}[back] },
		"outliers": func(r *rand.Rand, _ bool) time.Duration {
			return time.Duration(100_001 * r.ExpFloat64() * r.ExpFloat64())
		},
		"none": func(*rand.Rand, bool) time.Duration { return 0 },
	}
	for name, delay := range ways {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(50) {
				synctest.Test(t, func(t *testing.T) { testClock(t, seed, name, delay) })
			}
		})
	}
}

func testClock(t *testing.T, seed uint64, name string, delay func(*rand.Rand, bool) time.Duration) {
	f := newFake(seed)
	back := false
	f.delay = func(r *rand.Rand) time.Duration { back = !back; return delay(r, !back) }
	offset := time.Duration(f.rand.Int64N(int64(240*time.Hour))) - 120*time.Hour
	stop, _ := AnswerClock(f, "clock", func() time.Time { return time.Now().Add(offset).Round(0) })
	defer stop()
	o := assert.Must(MeasureClock(t.Context(), f, "clock", time.Now))(t)
	if off := (o.Value - offset).Abs(); off > o.Bound {
		t.Errorf("seed %d: offset %v, want %v within %v", seed, o.Value, offset, o.Bound)
	}
	assert.Equal(t, f.requests, 64, "round trips")
	if name == "one way" && o.Bound != 10e6+1 {
		t.Errorf("bound %v of round trips of 20 ms", o.Bound)
	}
}

// A clock that answers a while is known by those answers, one that never does is not known.
func TestClockUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1)
		assert.Is(t, assert.Failure(MeasureClock(t.Context(), f, "clock", time.Now)), ErrNobody)
		stop, _ := AnswerClock(f, "clock", func() time.Time { return time.Now().Add(time.Hour) })
		defer stop()
		f.delay = func(*rand.Rand) time.Duration { return time.Millisecond }
		f.from, f.until = time.Now().Add(20*time.Millisecond), time.Now().Add(time.Hour)
		o := assert.Must(MeasureClock(t.Context(), f, "clock", time.Now))(t)
		assert.Equal(t, o, Offset{time.Hour, time.Millisecond}, "offset")
		if o, err := MeasureClock(t.Context(), f, "clock", time.Now); err == nil {
			t.Errorf("an offset of %v from no answer", o)
		}
	})
}
