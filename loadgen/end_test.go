package loadgen

import (
	"context"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/internal/hf/numpy"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/shape"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// orderCheck is a listener that checks the order of the events of each request.
type orderCheck struct {
	t    *testing.T
	mu   sync.Mutex
	due  map[*metrics.Request]bool // true once done
	sent map[*metrics.Request]bool
}

func newCounting(t *testing.T) *orderCheck {
	return &orderCheck{t: t, due: map[*metrics.Request]bool{}, sent: map[*metrics.Request]bool{}}
}

func (c *orderCheck) Due(q *metrics.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.due[q]; known {
		c.t.Errorf("request %d is due twice", q.Index)
	}
	c.due[q] = false
}

func (c *orderCheck) Sent(q *metrics.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if done, known := c.due[q]; !known || done || c.sent[q] {
		c.t.Errorf("request %d sent: due %v, done %v, sent %v before", q.Index, known, done, c.sent[q])
	}
	c.sent[q] = true
}

func (c *orderCheck) Chunk(q *metrics.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.sent[q] || c.due[q] {
		c.t.Errorf("request %d: a chunk, sent %v, done %v", q.Index, c.sent[q], c.due[q])
	}
}

func (c *orderCheck) Done(q *metrics.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if done, known := c.due[q]; !known || done {
		c.t.Errorf("request %d done: due %v, done before %v", q.Index, known, done)
	}
	c.due[q] = true
}

// Any number of causes may end a run at the same moment: each due request is done once, and Run returns.
func TestAllEndsAtOnce(t *testing.T) {
	const at = 2 * time.Second
	ends := map[string]func(*Engine, context.CancelFunc){
		"duration alone": nil,
		"drain":          func(e *Engine, _ context.CancelFunc) { e.Drain(0) },
		"drain twice":    func(e *Engine, _ context.CancelFunc) { go e.Drain(0); go e.Drain(time.Hour) },
		"abort":          func(e *Engine, _ context.CancelFunc) { e.Abort() },
		"abort twice":    func(e *Engine, _ context.CancelFunc) { go e.Abort(); go e.Abort() },
		"context":        func(_ *Engine, cancel context.CancelFunc) { cancel() },
		"everything together": func(e *Engine, cancel context.CancelFunc) {
			go cancel()
			go e.Drain(0)
			go e.Abort()
			go e.Drain(at)
		},
		"and a new limit": func(e *Engine, _ context.CancelFunc) {
			go e.SetLimit(100)
			go e.Drain(0)
			go e.Pause()
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			// A duration counts the arrival at its very end; a drain or an abort at that moment may come before or
			// after it.
			least := 4
			if end == nil {
				least = 5
			}
			endAllAt(t, at, every(500*time.Millisecond, 30), end, least, 5)
			beside := []time.Duration{0, at / 4, at / 2, at - 1, at + 1, 2 * at}
			endAllAt(t, at, shape.At(beside), end, 4, 4)
		})
	}
}

// endAllAt runs a schedule of which everything ends at a moment: the answer, the request's time-out, the stall, the
// duration, and the caller's own end, nil for none. So many requests must have been due then.
func endAllAt(t *testing.T, at time.Duration, schedule shape.Schedule, end func(*Engine, context.CancelFunc),
	least, most int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newScripted(t,
			pieces(true, at/2, streamHead+chunk(text("a")), chunk(text("b")), chunk(sseEvent(finish))+lastChunk))
		book := newCounting(t)
		start := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		performUntil(ctx, t, s, &prompts{n: 30}, book, func(o *Options) {
			o.Schedule, o.Limit, o.Until, o.RequestTimeout, o.StallTimeout, o.Drain = schedule, 2, at, at, at/2, 0
			o.ProbeRate, o.Probe = 2, datasets.Turn{Text: "Hi"}
		}, func(e *Engine) {
			if end != nil {
				time.AfterFunc(at, func() { end(e, cancel) })
			}
		})
		if now := time.Since(start); now > 2*at {
			t.Errorf("Run returned after %s", now)
		}
		for q, done := range book.due {
			if !done {
				t.Errorf("request %d is not done", q.Index)
			}
		}
		if n := len(book.due); n < least || n > most {
			t.Errorf("%d requests were due in %s, want %d to %d", n, at, least, most)
		}
	})
}

// A rate for a duration sends all its requests every time, although the last of them falls on the end of the duration.
func TestDurationSendsAll(t *testing.T) {
	const n, rate, limit, until = 20, 10, 50, 2 * time.Second
	for seed := range uint32(100) {
		synctest.Test(t, func(t *testing.T) {
			offsets := shape.Rate{PerSecond: metrics.Rate(rate), Burstiness: 1}.Offsets(n, numpy.NewLegacy(seed))
			assert.Need(t, offsets[n-1], until, "seed %d: the last arrival is at, which tests nothing", seed)
			start := time.Now()
			var book logbook
			perform(t, newScripted(t, answer(time.Second)), &prompts{n: n}, &book, func(o *Options) {
				o.Schedule, o.Limit, o.Until = shape.At(offsets), limit, until
			}, nil)
			if book.due != n || book.sent != n || len(book.all) != n {
				t.Errorf("seed %d: %d due, %d sent, %d done; want %d of each", seed, book.due, book.sent, len(book.all),
					n)
			}
			if now := time.Since(start); now != until+time.Second {
				t.Errorf("seed %d: Run returned after %s, want the duration and one answer", seed, now)
			}
		})
	}
}

// A dispatcher that is blocked delays the end of a duration a little and no more.
func TestDurationEndsABlockedDispatcher(t *testing.T) {
	const until, hour = 2 * time.Second, time.Hour
	for name, c := range map[string]struct {
		from  source
		due   int
		ended time.Duration
	}{
		"full backlog": {&prompts{n: 2 * backlogMost}, 1 + backlogMost, hour},
		"slow source":  {&slowSource{n: 3, pause: hour}, 3, hour},
	} {
		bubble(t, name, func(t *testing.T) {
			start := time.Now()
			var book dropCounter
			perform(t, newScripted(t, answer(hour)), c.from, &book, func(o *Options) {
				o.Schedule, o.Limit, o.Until, o.StallTimeout = every(0, 2*backlogMost), 1, until, 2*hour
			}, nil)
			assert.Equal(t, int(book.due.Load()), c.due, "due")
			assert.Equal(t, int(book.dropped.Load()), c.due-1, "dropped all but the one in flight")
			if last := time.Duration(book.last.Load()); last < until || last > until+50*time.Millisecond {
				t.Errorf("the last was dropped at %s, want %s and at most 50 ms", last, until)
			}
			assert.Equal(t, time.Since(start), c.ended, "Run returned after")
		})
	}
}

// slowSource pauses before it yields the conversation after the first n.
type slowSource struct {
	n     int
	pause time.Duration
	next  int
}

func (s *slowSource) Next() (datasets.Conversation, error) {
	if s.next == s.n {
		time.Sleep(s.pause)
	}
	s.next++
	return datasets.Conversation{Turns: []datasets.Turn{{Text: "hi", InputTokens: 1, MaxTokens: 8}}}, nil
}

// dropCounter counts due and dropped requests, and keeps the time of the last drop.
type dropCounter struct {
	deaf
	due, dropped, last atomic.Int64
}

func (b *dropCounter) Due(*metrics.Request) { b.due.Add(1) }

func (b *dropCounter) Done(q *metrics.Request) {
	if q.Failure == metrics.Cancelled {
		b.dropped.Add(1)
		b.last.Store(max(b.last.Load(), int64(q.Done))) // only the goroutine that halts the run drops
	}
}

// An end before the start of a run, or after its end, is harmless.
func TestEndsOutOfTime(t *testing.T) {
	for name, end := range map[string]func(*Engine){
		"drain": func(e *Engine) { e.Drain(time.Hour) },
		"abort": (*Engine).Abort,
	} {
		bubble(t, name, func(t *testing.T) {
			for _, before := range []bool{true, false} {
				var book logbook
				want := 2
				end(perform(t, newScripted(t, answer(time.Second)), &prompts{n: 2}, &book, nil, func(e *Engine) {
					if before {
						want = 0
						end(e)
					}
				}))
				if book.due != want || len(book.all) != want {
					t.Errorf("ended before %v: %d due, %d done, want %d", before, book.due, len(book.all), want)
				}
			}
		})
	}
}

// obedient is a dial that goes on until it is given up.
func obedient(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A run that is aborted while it dials gives up the dial, or the connection if the dial succeeds.
func TestAbortWhileDialling(t *testing.T) {
	for name, dial := range map[string]target.DialFunc{
		"obedient": obedient,
		"deaf": func(context.Context, string, string) (net.Conn, error) {
			time.Sleep(5 * time.Second)
			client, _ := net.Pipe()
			return client, nil
		},
	} {
		bubble(t, name, func(t *testing.T) {
			var book logbook
			perform(t, newScripted(t), &prompts{n: 1}, &book,
				func(o *Options) { o.Target = targetOf(t, target.Options{Dial: dial}) },
				func(e *Engine) { time.AfterFunc(time.Second, e.Abort) })
			if q := book.all[0]; q.Failure != metrics.Cancelled || q.Sent != metrics.Never || book.sent != 0 {
				t.Errorf("%q %q, sent %s", q.Failure, q.Error, q.Sent)
			}
		})
	}
}

// panicSource is a source with a bug in its second conversation.
type panicSource struct{ prompts }

func (p *panicSource) Next() (datasets.Conversation, error) {
	if p.next == 1 {
		panic("out of cheese")
	}
	return p.prompts.Next()
}

// A bug in the source ends the run in order: requests in flight finish, and the error has a stack trace.
func TestSourcePanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScripted(t, answer(time.Second))
		var book logbook
		o := Defaults()
		o.Target, o.Start, o.Pacer, o.Schedule = s.target(), time.Now(), "timer", shape.Immediately()
		e, err := New(o, sinkOf{&book})
		assert.Fine(t, err)
		err = e.Run(t.Context(), flow(&panicSource{prompts{n: 3}}))
		if err == nil || !strings.Contains(err.Error(), "out of cheese") ||
			!strings.Contains(err.Error(), "end_test.go") {
			t.Errorf("%v, want the panic and where it was", err)
		}
		check(t, book.all, []want{{0, 0, 1, ""}})
		s.close()
	})
}

// A turn that cannot be encoded fails by itself, is never sent, and has an error with a remedy.
func TestTurnThatCannotBeAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScripted(t, answer(0))
		o := Defaults()
		o.Target, o.Protocol = s.target(), protocol.Chat{}
		q := Try(t.Context(), o, []datasets.Turn{{TokenIDs: []int{1}}}, 1)[0]
		if q.Failure != metrics.FailedMalformed || !strings.Contains(q.Error, "--backend openai") ||
			q.Sent != metrics.Never || s.dials != 0 {
			t.Errorf("%q %q, sent %s, %d dials", q.Failure, q.Error, q.Sent, s.dials)
		}
		s.close()
	})
}
