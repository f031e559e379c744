package loadgen

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// answer is a stream that takes a time from request to end.
func answer(d time.Duration) script {
	return pieces(true, d, streamHead, chunk(sseEvent(finish))+lastChunk)
}

type want struct {
	due, admitted, done float64 // seconds
	failure             metrics.Failure
}

func check(t *testing.T, all []metrics.Request, wants []want) {
	t.Helper()
	assert.Need(t, len(all), len(wants), "requests")
	for i, w := range wants {
		q := all[i]
		if q.Due.Seconds() != w.due || (w.admitted >= 0) != (q.Admitted != metrics.Never) ||
			w.admitted >= 0 && q.Admitted.Seconds() != w.admitted || q.Done.Seconds() != w.done ||
			q.Failure != w.failure {
			t.Errorf("request %d: due %s, admitted %s, done %s, failure %q; want %+v", i, q.Due, q.Admitted, q.Done,
				q.Failure, w)
		}
	}
}

func every(d time.Duration, n int) shape.Schedule {
	var at []time.Duration
	for i := range n {
		at = append(at, time.Duration(i)*d)
	}
	return shape.At(at)
}

// Runs of every shape, in virtual time, with an engine that may be steered on the way.
func TestRuns(t *testing.T) {
	const never = -1
	second := time.Second
	for _, c := range []struct {
		name   string
		n      int
		turns  int
		server script
		change func(*Options)
		steer  func(*Engine)
		want   []want
	}{
		{name: "open loop", n: 3, server: answer(4 * second),
			change: func(o *Options) { o.Schedule, o.Limit = every(second, 3), 0 },
			want:   []want{{0, 0, 4, ""}, {1, 1, 5, ""}, {2, 2, 6, ""}}},
		{name: "limit holds back in order", n: 4, server: answer(4 * second),
			change: func(o *Options) { o.Schedule, o.Limit = every(second, 4), 2 },
			want:   []want{{0, 0, 4, ""}, {1, 1, 5, ""}, {2, 4, 8, ""}, {3, 5, 9, ""}}},
		{name: "closed loop has no held requests", n: 4, server: answer(4 * second),
			change: func(o *Options) { o.Schedule, o.Limit, o.ClosedLoop = shape.Immediately(), 2, true },
			want:   []want{{0, 0, 4, ""}, {0, 0, 4, ""}, {4, 4, 8, ""}, {4, 4, 8, ""}}},
		{name: "a duration ends the sending", n: 9, server: answer(4 * second),
			change: func(o *Options) {
				o.Schedule, o.Limit, o.ClosedLoop, o.Until = shape.Immediately(), 1, true, 9*second
			},
			want: []want{{0, 0, 4, ""}, {4, 4, 8, ""}, {8, 8, 12, ""}}},
		{name: "a duration drops what is held", n: 3, server: answer(4 * second),
			change: func(o *Options) { o.Schedule, o.Limit, o.Until = every(second, 3), 1, 6*second },
			want:   []want{{0, 0, 4, ""}, {1, 4, 8, ""}, {2, never, 6, metrics.Cancelled}}},
		{name: "also one that is due at its end", n: 3, server: answer(4 * second),
			change: func(o *Options) { o.Schedule, o.Limit, o.Until = every(second, 3), 1, 2*second },
			want:   []want{{0, 0, 4, ""}, {1, never, 2, metrics.Cancelled}, {2, never, 2, metrics.Cancelled}}},
		{name: "what is due after a duration is not sent", n: 9, server: answer(4 * second),
			change: func(o *Options) {
				o.Schedule, o.Limit, o.Until = shape.At([]time.Duration{0, 2 * second, 2*second + 1, 2*second + 9}), 4,
					2*second
			},
			want: []want{{0, 0, 4, ""}, {2, 2, 6, ""}}},
		{name: "a duration is in the time of the run, not of the schedule", n: 9, server: answer(second),
			change: func(o *Options) { o.Schedule, o.Limit, o.Until = every(2*second, 9), 4, 4250*time.Millisecond },
			steer:  func(e *Engine) { e.SetRate(1) },
			want:   []want{{0, 0, 1, ""}, {2, 2, 3, ""}, {3.5, 3.5, 4.5, ""}}},
		{name: "a duration ends a pause", n: 9, server: answer(5 * second),
			change: func(o *Options) { o.Schedule, o.Limit, o.Until = every(2*second, 9), 1, 4*second },
			steer:  func(e *Engine) { e.Pause() },
			want:   []want{{0, 0, 5, ""}, {2, never, 4, metrics.Cancelled}}},
		{name: "a higher limit lets waiting ones go", n: 3, server: answer(4 * second),
			change: func(o *Options) { o.Schedule, o.Limit = every(0, 3), 1 },
			steer:  func(e *Engine) { e.SetLimit(3) }, // after 2.5 s
			want:   []want{{0, 0, 4, ""}, {0, 2.5, 6.5, ""}, {0, 2.5, 6.5, ""}}},
		{name: "no limit lets all waiting ones go", n: 3, server: answer(4 * second),
			change: func(o *Options) { o.Schedule, o.Limit = every(0, 3), 1 },
			steer:  func(e *Engine) { e.SetLimit(0) },
			want:   []want{{0, 0, 4, ""}, {0, 2.5, 6.5, ""}, {0, 2.5, 6.5, ""}}},
		{name: "a lower limit waits for running ones", n: 4, server: answer(4 * second),
			change: func(o *Options) { o.Schedule, o.Limit = every(0, 4), 2 },
			steer:  func(e *Engine) { e.SetLimit(1) },
			want:   []want{{0, 0, 4, ""}, {0, 0, 4, ""}, {0, 4, 8, ""}, {0, 8, 12, ""}}},
		{name: "drain lets running ones end and drops held ones", n: 4, server: answer(4 * second),
			change: func(o *Options) { o.Schedule, o.Limit = every(second, 4), 2 },
			steer:  func(e *Engine) { e.Drain(30 * second) },
			want:   []want{{0, 0, 4, ""}, {1, 1, 5, ""}, {2, never, 2.5, metrics.Cancelled}}},
		{name: "drain ends by force", n: 2, server: answer(40 * second),
			change: func(o *Options) { o.Schedule, o.Limit = every(second, 2), 0 },
			steer:  func(e *Engine) { e.Drain(10 * second); e.Drain(time.Second) },
			want:   []want{{0, 0, 12.5, metrics.Cancelled}, {1, 1, 12.5, metrics.Cancelled}}},
		{name: "abort cuts at once", n: 3, server: answer(40 * second),
			change: func(o *Options) { o.Schedule, o.Limit = every(second, 3), 1 },
			steer:  func(e *Engine) { e.Drain(10 * second); e.Abort() },
			want: []want{{0, 0, 2.5, metrics.Cancelled}, {1, never, 2.5, metrics.Cancelled},
				{2, never, 2.5, metrics.Cancelled}}},
		{name: "turns go one after the other and keep the slot", n: 2, turns: 2, server: answer(2 * second),
			change: func(o *Options) { o.Schedule, o.Limit = every(0, 2), 1 },
			want:   []want{{0, 0, 2, ""}, {2, 2, 4, ""}, {0, 4, 6, ""}, {6, 6, 8, ""}}},
	} {
		bubble(t, c.name, func(t *testing.T) {
			var book logbook
			perform(t, newScripted(t, c.server), &prompts{n: c.n, turns: c.turns}, &book, c.change, func(e *Engine) {
				if c.steer != nil {
					time.AfterFunc(2500*time.Millisecond, func() { c.steer(e) })
				}
			})
			check(t, book.all, c.want)
		})
	}
}

// wait includes the last job that a pause held back. The test is mostly for the race detector: the moment at which the
// job could be missed is short.
func TestWaitKnowsWhatAPauseHeldBack(t *testing.T) {
	e := &Engine{servers: &servers{all: []*server{{}}}, sink: event.Discard, cutting: context.Background()}
	e.stopping, e.stop = context.WithCancel(context.Background())
	cut, stop := context.WithCancel(context.Background())
	stop()
	e.cutting = cut // so that nothing is sent
	for range 2000 {
		l := &e.limiter
		l.paused = true
		j := &job{conversation: e.newConversation(datasets.Conversation{}, 0, 0), request: &metrics.Request{}}
		l.enter()
		l.submit(j)
		over := make(chan struct{})
		go func() { l.wait(); close(over) }()
		runtime.Gosched()
		l.setPaused(false)
		<-over
		select {
		case <-j.begun:
		default:
			t.Fatal("the wait was over before the last job had begun")
		}
	}
}

// Run returns after every due request is reported, however the run ends.
func TestNothingHeldIsLost(t *testing.T) {
	const n = 9000
	for name, end := range map[string]func(e *Engine){
		"duration": nil,
		"drain":    func(e *Engine) { e.Drain(0) },
		"abort":    func(e *Engine) { e.Abort() },
	} {
		bubble(t, name, func(t *testing.T) {
			var book slowbook
			perform(t, newScripted(t, answer(time.Second)), &prompts{n: n}, &book, func(o *Options) {
				if o.Schedule, o.Limit = every(0, n), 1; end == nil {
					o.Until = 1500 * time.Millisecond
				}
			}, func(e *Engine) {
				if end != nil {
					time.AfterFunc(1500*time.Millisecond, func() { end(e) })
				}
			})
			if due, done := book.due.Load(), book.done.Load(); due != n || done != n {
				t.Errorf("%d due, %d done when Run returned; want %d of both", due, done, n)
			}
		})
	}
}

// slowbook counts, and is slow with requests that were dropped.
type slowbook struct {
	deaf
	due, done atomic.Int64
}

func (b *slowbook) Due(*metrics.Request) { b.due.Add(1) }

func (b *slowbook) Done(q *metrics.Request) {
	if q.Sent == metrics.Never {
		time.Sleep(time.Millisecond)
	}
	b.done.Add(1)
}

// The end of the context drains, as Drain does.
func TestContextDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var book logbook
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		performUntil(ctx, t, newScripted(t, answer(4*time.Second)), &prompts{n: 100}, &book,
			func(o *Options) { o.Schedule = every(time.Second, 100) }, nil)
		check(t, book.all, []want{{0, 0, 4, ""}, {1, 1, 5, ""}})
	})
}

// Abort during the dial, during the request, and before Run leaves nothing behind.
func TestAbortEverywhere(t *testing.T) {
	for _, after := range []time.Duration{0, time.Millisecond, time.Second, 5 * time.Second} {
		bubble(t, fmt.Sprint(after), func(t *testing.T) {
			s := newScripted(t, func(c net.Conn, _ *http.Request, _ []byte) bool {
				time.Sleep(2 * time.Second)
				_, _ = io.WriteString(c, streamHead+chunk(text("a")))
				time.Sleep(time.Hour)
				return false
			})
			var book logbook
			e := perform(t, s, &prompts{n: 100}, &book, func(o *Options) { o.Schedule = every(time.Second, 100) },
				func(e *Engine) {
					if after == 0 {
						e.Abort()
					} else {
						time.AfterFunc(after, e.Abort)
					}
				})
			assert.Equal(t, e.Ended(), after, "ended after")
			for _, q := range book.all {
				assert.Equal(t, q.Failure, metrics.Cancelled, "request %d: %s", q.Index, q.Error)
			}
			assert.Equal(t, len(book.all), book.due, "%d due, %d done", book.due, len(book.all))
		})
	}
}
