// Package parallel works on many things at once: texts to be counted, prompts to be made, images to be loaded.
package parallel

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
)

// Do calls do for 0 … n-1, in this order, by as many goroutines as there are workers, and waits for them. Once
// one call returns false no other begins; those before it have all begun.
func Do(workers, n int, do func(i int) bool) {
	var next atomic.Int64
	var stopped atomic.Bool
	work := func() {
		for !stopped.Load() {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if !do(i) {
				stopped.Store(true)
			}
		}
	}
	var others sync.WaitGroup
	for range min(workers, n) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}

// Each is Do for calls that can fail. After a failure it begins nothing new; of several failures it returns that of the
// lowest number, and ctx's error if ctx ended first.
func Each(ctx context.Context, workers, n int, do func(i int) error) error {
	errs := make([]error, n)
	Do(workers, n, func(i int) bool {
		if ctx.Err() == nil {
			errs[i] = do(i)
		}
		return ctx.Err() == nil && errs[i] == nil
	})
	return cmp.Or(ctx.Err(), cmp.Or(errs...))
}
