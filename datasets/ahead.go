package datasets

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"benchtop/datasets/tokenizer"
)

// ahead fits prompts to their lengths, many at once, and hands them on one by one. What comes out is what fitting one
// after another gives, to the draw:
//
//	begin ──▶ a window of prompts ── each advances, in parallel ──▶ next: what is short draws, in order
//
// Decoding and encoding take the time, and few prompts come out short, so little is left to be done in order. Nothing runs
// between calls.
type ahead struct {
	tok   tokenizer.Tokenizer                     // nil: ids are sent as they are
	begin func() (ids []int, target int, ok bool) // the next prompt as it is to be tried first; it must not draw
	draw  func() int                              // an id for a prompt that is short

	window []*fitting // advanced, not handed on yet
}

// next is the next prompt, done; nil at the end. Once the tokenizer has failed it returns that error for good.
func (a *ahead) next() (*fitting, error) {
	if len(a.window) == 0 {
		a.fill()
	}
	if len(a.window) == 0 {
		return nil, nil
	}
	f := a.window[0]
	f.settle(a.tok, a.draw)
	if f.err != nil {
		return nil, f.err
	}
	a.window[0] = nil // what is handed on is not ours to keep
	a.window = a.window[1:]
	return f, nil
}

// Bounds on a window: a few prompts for each call in flight even out their lengths, more than two of them only while that is not so
// many that there is nothing to hand on for seconds, and ids of 8 bytes must fit memory.
const (
	windowPrompts = 8
	windowMost    = 128
	windowIDs     = 4 << 20
)

// fill begins a window of prompts and lets them advance.
func (a *ahead) fill() {
	workers := callsAtOnce(a.tok)
	most := min(windowPrompts*workers, max(windowMost, 2*workers))
	for ids := 0; len(a.window) < most && ids < windowIDs; {
		first, target, ok := a.begin()
		if !ok {
			break
		}
		a.window = append(a.window, &fitting{ids: first, target: target, retries: fitRetries})
		ids += target
	}
	inParallel(workers, len(a.window), func(i int) bool {
		a.window[i].advance(a.tok)
		return a.window[i].err == nil
	})
}

// maxCalls is how many calls may be in flight: enough to hide a server's response time, little enough to leave it alone.
const maxCalls = 64

// callsAtOnce is how many calls of tok make sense at a time: as many as there are processors, unless it says otherwise, as
// one does that waits for a server.
func callsAtOnce(tok tokenizer.Tokenizer) int {
	if tok == nil {
		return 1
	}
	if tok, ok := tok.(interface{ Concurrency() int }); ok {
		return min(max(1, tok.Concurrency()), maxCalls)
	}
	return runtime.GOMAXPROCS(0)
}

// inParallel calls do for 0 … n-1, in this order, by as many goroutines as there are workers, and waits for them. Once
// one call returns false no other begins; those before it have all begun.
func inParallel(workers, n int, do func(i int) bool) {
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

// atOnce is how many prompts are worked on at the same time, where the work may be to wait for a server.
const atOnce = 16

// eachAtOnce calls do for 0 … n-1, up to 16 at once. After a failure it begins nothing new; of several failures it returns
// that of the lowest number, and ctx's error if ctx ended first.
func eachAtOnce(ctx context.Context, n int, do func(i int) error) error {
	errs := make([]error, n)
	inParallel(atOnce, n, func(i int) bool {
		if ctx.Err() != nil {
			return false
		}
		errs[i] = do(i)
		return errs[i] == nil
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
