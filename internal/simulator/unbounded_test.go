package simulator

import (
	"slices"
	"testing"

	"benchtop/internal/assert"
)

// A cache without bounds keeps every prefix, preempts nobody, and has no more blocks than were cached or in use at
// once.
func TestUnboundedCache(t *testing.T) {
	for _, shared := range []bool{false, true} {
		p := round()
		p.MaxSequences, p.Blocks, p.PrefixCache = 8, 0, shared
		s := newScheduler(p)
		most := 0
		for id := uint64(1); id <= 400 || len(s.running)+len(s.waiting) > 0; id++ {
			if id <= 400 {
				s.waiting = append(s.waiting, relative(p, id, 30))
			}
			for _, sh := range s.plan().shares {
				sh.seq.advance(sh.tokens, 0)
			}
			most = max(most, s.pool.total-s.pool.free)
			assert.Fine(t, s.pool.check(slices.Concat(s.running, s.waiting)))
			s.drop((*sequence).done)
		}
		if s.preemptions > 0 || s.pool.usage() != 0 {
			t.Errorf("%d preemptions, usage %v", s.preemptions, s.pool.usage())
		}
		if blocks := len(s.pool.blocks) - 1; blocks > len(s.pool.found)+most {
			t.Errorf("%d blocks for %d cached ones and at most %d in use", blocks, len(s.pool.found), most)
		}
		if shared && len(s.pool.found) < 4*400/p.BlockSize {
			t.Errorf("%d blocks are found, fewer than the longest prompts of four families", len(s.pool.found))
		}
	}
	bubble(t, func() Profile { p := cached(); p.Blocks, p.MaxBatchedTokens = 0, 4096; return p }(), func(c *client) {
		for i := range 20 {
			c.completion(run(1000*i, 400), "")
		}
		for i := range 20 {
			if got := c.completion(run(1000*i, 400), ""); got.cached != "384" {
				t.Errorf("prompt %d: %s tokens cached", i, got.cached)
			}
		}
		c.mustDo("POST", "/reset_prefix_cache", `{"success":true}`)
		if got := c.completion(run(0, 400), ""); got.cached != "0" {
			t.Errorf("%s tokens cached after a reset", got.cached)
		}
	})
}
