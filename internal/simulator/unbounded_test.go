package simulator

import (
	"slices"
	"testing"
)

// A cache without bounds keeps every prefix, preempts nobody, and has no more blocks than were cached or in use at once.
func TestUnboundedCache(t *testing.T) {
	for _, shared := range []bool{false, true} {
		p := round()
		p.MaxSequences, p.Blocks, p.PrefixCache = 8, 0, shared
		s := newScheduler(p)
		most := 0
		for id := uint64(1); id <= 400 || len(s.running)+len(s.waiting) > 0; id++ {
			if id <= 400 {
				seq := newSequence(1+int(id*37%400), 1+int(id*101%30), "length", id)
				if shared {
					seq.names = newBlockNames(p.BlockSize, "", randomPrompt(seq.prompt, id%4), randomAnswer(id%4))
				}
				s.waiting = append(s.waiting, seq)
			}
			for _, sh := range s.plan().shares {
				sh.seq.advance(sh.tokens, 0)
			}
			held := s.pool.total - s.pool.free
			most = max(most, held)
			if err := s.pool.check(slices.Concat(s.running, s.waiting)); err != nil {
				t.Fatal(err)
			}
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

// A sequence that is passed over without a search for its prefix would not have been admitted with one.
func TestRefusedWithoutSearch(t *testing.T) {
	p := round()
	p.MaxSequences, p.PrefixCache = 8, true
	s := newScheduler(p)
	skipped := 0
	for id := uint64(1); id <= 3000; id++ {
		if len(s.waiting) < 5 {
			seq := newSequence(1+int(id*37%400), 1+int(id*101%300), "length", id)
			seq.names = newBlockNames(p.BlockSize, "", randomPrompt(seq.prompt, id%4), randomAnswer(id%4))
			s.waiting = append(s.waiting, seq)
		}
		for _, sh := range s.plan().shares {
			sh.seq.advance(sh.tokens, 0)
		}
		for _, seq := range s.waiting {
			if !seq.want.pending(&s.pool) {
				continue
			}
			skipped++
			held := 0
			for _, i := range s.pool.beginning(seq) {
				held += int(min(s.pool.blocks[i].holders, 1))
			}
			if blocksFor(seq.known, p.BlockSize)-held <= s.pool.free {
				t.Fatalf("round %d: a sequence of %d tokens, of which %d blocks are held, waits with %d free", id, seq.known, held, s.pool.free)
			}
		}
		s.drop((*sequence).done)
	}
	if skipped < 100 {
		t.Errorf("only %d times", skipped)
	}
}
