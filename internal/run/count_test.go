package run

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/metrics"
)

// Whatever ends the counting, what was counted until then is kept, and it is said why the rest was not.
func TestCountTexts(t *testing.T) {
	lost := errors.New("connection refused")
	for _, c := range []struct {
		name    string
		count   func(ctx context.Context, n int) (int, error) // of the n-th text, from 1
		counted int
		err     error
		atMost  time.Duration
	}{
		{"all", func(context.Context, int) (int, error) { return 7, nil }, 100, nil, 0},
		{"one is refused", func(_ context.Context, n int) (int, error) {
			if n == 3 {
				return 0, lost
			}
			return 7, nil
		}, 99, lost, 0},
		{"the server is lost", func(_ context.Context, n int) (int, error) {
			if n > 40 {
				time.Sleep(time.Second)
				return 0, lost
			}
			return 7, nil
		}, 40, lost, 2 * time.Second},
		{"it hangs", func(ctx context.Context, n int) (int, error) {
			if n > 50 {
				<-ctx.Done()
				return 0, ctx.Err()
			}
			return 7, nil
		}, 50, errEnough, 10 * time.Second},
		{"no tokens", func(context.Context, int) (int, error) { return 0, nil }, 0, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancelCause(t.Context())
				time.AfterFunc(10*time.Second, func() { stop(errEnough) })
				asked := atomic.Int64{}
				all := func(yield func(metrics.Request, error) bool) {
					for i := range 103 {
						q := metrics.NewRequest(i)
						q.Done, q.OutputSource, q.Text = 0, metrics.TokensFromChunks, "x"
						switch i {
						case 5:
							q.TextPart = true
						case 6:
							q.Failure = metrics.FailedReset
						case 7:
							q.OutputSource = metrics.TokensFromUsage
						}
						if !yield(q, nil) {
							return
						}
					}
				}
				began, kept := time.Now(), map[int]int{}
				counted, err := countTexts(ctx, all, func(ctx context.Context, _ string) (int, error) { return c.count(ctx, int(asked.Add(1))) },
					func(index, tokens, n int) {
						if kept[index] = tokens; n != len(kept) {
							t.Errorf("%d counted, %d kept", n, len(kept))
						}
					})
				if counted != c.counted || len(kept) != counted || !errors.Is(err, c.err) || time.Since(began) > c.atMost {
					t.Errorf("%d counted, %d kept, error %v after %s", counted, len(kept), err, time.Since(began))
				}
				stop(nil)
			})
		})
	}
}
