package conn

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/loadgen/target"
)

// dialled is a target whose connections a test makes itself.
func dialled(t *testing.T, dial target.DialFunc) *target.Target {
	t.Helper()
	g, err := target.New(target.Options{BaseURL: "http://model.test", Dial: dial})
	assert.Fine(t, err)
	return g
}

// Whenever opening ends early, the error has the number of connections and the cause, these can be used, and none
// leaks.
func TestOpenFails(t *testing.T) {
	errFull := errors.New("the server is full")
	sec := time.Second
	for _, c := range []struct {
		name  string
		n     int
		room  int           // the server takes so many; 0 for none
		slow  time.Duration // duration of a dial
		once  bool          // only one dial fails, the server takes all others
		end   func(cancel context.CancelFunc, l *Pool)
		open  int
		dials int // at most
		took  time.Duration
		words string
	}{
		{name: "refused", n: 1000, dials: dialsAtOnce, words: "0 of 1000 connections are open: the server is full"},
		{name: "fewer than asked", n: 500, room: 100, open: 100, dials: 100 + dialsAtOnce,
			words: "100 of 500 connections are open: the server is full"},
		{name: "one failure", n: 500, once: true, open: 500, dials: 501},
		{name: "cancelled midway", n: 1000, room: 1000, slow: sec,
			end:  func(cancel context.CancelFunc, _ *Pool) { time.AfterFunc(sec*5/2, cancel) },
			open: 2 * dialsAtOnce, dials: 3 * dialsAtOnce, took: sec * 5 / 2,
			words: "128 of 1000 connections are open: context canceled"},
		{name: "cancelled before", n: 5, room: 5, end: func(cancel context.CancelFunc, _ *Pool) { cancel() },
			words: "0 of 5 connections are open: context canceled"},
		{name: "cut midway", n: 1000, room: 1000, slow: sec,
			end:   func(_ context.CancelFunc, l *Pool) { time.AfterFunc(sec*5/2, l.Close) },
			dials: 3 * dialsAtOnce, took: sec * 5 / 2, words: "0 of 1000 connections are open: use of closed"},
		{name: "cut before", n: 5, room: 5, end: func(_ context.CancelFunc, l *Pool) { l.Close() },
			words: "0 of 5 connections are open: use of closed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var dials atomic.Int64
				var mu sync.Mutex
				var servers []net.Conn
				pool := NewPool(dialled(t, func(ctx context.Context, _, _ string) (net.Conn, error) {
					n := dials.Add(1)
					select {
					case <-time.After(c.slow):
					case <-ctx.Done():
						return nil, ctx.Err()
					}
					if c.once && n == 7 || !c.once && n > int64(c.room) {
						return nil, errFull
					}
					client, server := net.Pipe()
					mu.Lock()
					defer mu.Unlock()
					servers = append(servers, server)
					return client, nil
				}), "")
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.end != nil {
					c.end(cancel, pool)
				}
				began := time.Now()
				err := pool.Open(ctx, c.n)
				assert.Fails(t, c.name, err, c.words)
				if took := time.Since(began); took != c.took && !c.once {
					t.Errorf("it took %s, want %s", took, c.took)
				}
				if n := int(dials.Load()); n > c.dials {
					t.Errorf("%d dials, want at most %d", n, c.dials)
				}
				assert.Equal(t, pool.Stats().Open, c.open, "are open")
				for i := range c.open {
					if pool.Take() == nil {
						t.Fatalf("%d connections can be taken, want %d", i, c.open)
					}
				}
				if pool.Take() != nil {
					t.Errorf("more than %d connections can be taken", c.open)
				}
				pool.Close()
				for _, s := range servers {
					if _, err := s.Read(make([]byte, 1)); err != io.EOF {
						t.Errorf("a connection was left behind: %v", err)
					}
				}
			})
		})
	}
}

// Calls at the same time do not open more than either asked for.
func TestOpenTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := NewPool(dialled(t, func(context.Context, string, string) (net.Conn, error) {
			client, _ := net.Pipe()
			return client, nil
		}), "")
		var calls sync.WaitGroup
		for _, n := range []int{10, 200, 100} {
			calls.Go(func() {
				if err := pool.Open(t.Context(), n); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
		assert.Equal(t, pool.Stats(), Stats{Open: 200, Dialled: 200}, "Stats")
		pool.Close()
	})
}
