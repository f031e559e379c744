package conn

import (
	"context"
	"errors"
	"sync"

	"benchtop/loadgen/target"
)

// Pools are the connections of a run to its servers, a pool for each in the same order.
type Pools []*Pool

// NewPools opens nothing yet; timestamps are as for NewPool.
func NewPools(targets []*target.Target, timestamps string) (all Pools) {
	for _, t := range targets {
		all = append(all, NewPool(t, timestamps))
	}
	return all
}

// Open opens connections ahead of need until n are open, in equal parts; see Pool.Open.
func (p Pools) Open(ctx context.Context, n int) error {
	errs := make([]error, len(p))
	var opening sync.WaitGroup
	for i, pool := range p {
		opening.Go(func() { errs[i] = pool.Open(ctx, (n+len(p)-1-i)/len(p)) })
	}
	opening.Wait()
	return errors.Join(errs...)
}

// Stats adds up those of all pools; each sees the same steps of the clock.
func (p Pools) Stats() (all Stats) {
	for _, pool := range p {
		s := pool.Stats()
		all.Open += s.Open
		all.Dialled += s.Dialled
		all.ClockSteps = max(all.ClockSteps, s.ClockSteps)
	}
	return all
}

// Peak adds up the largest numbers of connections open at a time since its last call; with several servers these may be
// of different moments.
func (p Pools) Peak() (most int) {
	for _, pool := range p {
		most += pool.Peak()
	}
	return most
}

// SetClock sets the clock of the run before any connection is taken.
func (p Pools) SetClock(clock Clock) {
	for _, pool := range p {
		pool.SetClock(clock)
	}
}

// Close cuts every connection and refuses new ones.
func (p Pools) Close() {
	for _, pool := range p {
		pool.Close()
	}
}
