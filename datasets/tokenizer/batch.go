package tokenizer

import (
	"context"
	"sync"
	"sync/atomic"
)

// inFlight is how many texts CountAll has counted at once: enough to hide a server's response time, little enough to
// leave it alone.
const inFlight = 64

// contextCounter is a Counter that can be interrupted.
type contextCounter interface {
	CountContext(ctx context.Context, text string) (int, error)
}

// CountAll counts many texts, up to 64 at once, and returns the counts in the order of the texts. The first failure
// stops it; of several, the one of the earliest text is returned. It returns ctx's error when ctx ends first.
func CountAll(ctx context.Context, c Counter, texts []string) ([]int, error) {
	count := func(_ context.Context, text string) (int, error) { return c.Count(text) }
	if c, ok := c.(contextCounter); ok {
		count = c.CountContext
	}
	counts := make([]int, len(texts))
	errs := make([]error, len(texts))
	var next atomic.Int64
	var failed atomic.Bool
	var workers sync.WaitGroup
	for range min(inFlight, len(texts)) {
		workers.Go(func() {
			for !failed.Load() && ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(texts) {
					return
				}
				if counts[i], errs[i] = count(ctx, texts[i]); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return counts, nil
}
