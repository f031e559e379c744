package simulator

import "slices"

// scheduler decides what each step computes. It has no clock and no lock: the engine calls it.
type scheduler struct {
	profile     Profile
	pool        blockPool
	waiting     []*sequence // first come, first served; preempted ones return to the front
	running     []*sequence // in order of admission, so the last is the youngest
	preemptions int         // since the start

	shares []share // of the step in hand; reused
}

// share is what one sequence computes in a step.
type share struct {
	seq    *sequence
	tokens int // pending ones
	drafts int // drafted ones behind them, which the step verifies
}

// plan is one step before it is made. Its shares are valid until the next plan.
type plan struct {
	shares []share
	load   load
}

func newScheduler(p Profile) *scheduler {
	return &scheduler{profile: p, pool: newBlockPool(p.BlockSize, p.Blocks)}
}

// plan hands out the tokens of the next step: first one to each sequence that decodes, then what is left to prefills under
// way, then to new ones. An empty plan means that there is nothing to do.
func (s *scheduler) plan() plan {
	p := plan{shares: s.shares[:0]}
	budget := s.profile.MaxBatchedTokens
	before := s.preemptions

	// Preemption takes from the end of running, never a sequence that already has its share.
	for i := 0; i < len(s.running); i++ {
		if seq := s.running[i]; seq.decoding() && s.grow(seq) {
			drafts := s.drafts(seq)
			p.decode(seq, drafts)
			s.pool.publish(seq, seq.computed+1)
			budget -= 1 + drafts
		}
	}
	for _, seq := range s.running {
		if !seq.decoding() && budget > 0 {
			budget -= s.prefill(&p, seq, budget)
		}
	}
	// Who was just preempted stands first in line; admitting it in the same step would only preempt another.
	for s.preemptions == before && budget > 0 && s.admit() {
		budget -= s.prefill(&p, s.running[len(s.running)-1], budget)
	}
	s.shares = p.shares
	return p
}

// prefill gives seq as much of the budget as it can use and returns how much that is. Blocks that the step fills can be
// found at once: who is admitted in the same step shares them, as in vLLM.
func (s *scheduler) prefill(p *plan, seq *sequence, budget int) int {
	n := p.prefill(seq, budget)
	s.pool.publish(seq, seq.computed+n)
	return n
}

// drafts returns how many tokens speculative decoding drafts for seq: not beyond the longest sequence there may be, so that
// one that is alone fits.
func (s *scheduler) drafts(seq *sequence) int {
	return min(s.profile.SpecTokens, s.profile.MaxModelLen-seq.known)
}

// grow makes sure that seq has blocks for its next tokens, at the expense of the youngest. It returns false if the youngest
// was seq itself. A sequence that is alone always finds room, so the oldest always gets on and no deadlock can arise.
func (s *scheduler) grow(seq *sequence) bool {
	for !s.pool.hold(seq, seq.known+s.drafts(seq)) {
		youngest := s.running[len(s.running)-1]
		s.running = s.running[:len(s.running)-1]
		s.preempt(youngest)
		if youngest == seq {
			return false
		}
	}
	return true
}

// preempt sends seq back to the front of the queue. What it generated stays; of its cache it finds again later what was not
// taken by others, and computes the rest again.
func (s *scheduler) preempt(seq *sequence) {
	s.pool.release(seq)
	seq.computed = 0
	s.waiting = slices.Insert(s.waiting, 0, seq)
	s.preemptions++
}

// admit moves the first waiting sequence to running if the batch and the cache have room for it. Nobody overtakes.
func (s *scheduler) admit() bool {
	if len(s.waiting) == 0 || len(s.running) == s.profile.MaxSequences || !s.pool.enter(s.waiting[0]) {
		return false
	}
	s.running = append(s.running, s.waiting[0])
	s.waiting[0] = nil
	s.waiting = s.waiting[1:]
	return true
}

// drop removes the sequences for which gone is true, whether waiting or running, and frees their blocks.
func (s *scheduler) drop(gone func(*sequence) bool) {
	release := func(seq *sequence) bool {
		if !gone(seq) {
			return false
		}
		s.pool.release(seq)
		return true
	}
	s.waiting = slices.DeleteFunc(s.waiting, release)
	s.running = slices.DeleteFunc(s.running, release)
}

// retire removes the running sequences that are done.
func (s *scheduler) retire() {
	s.running = slices.DeleteFunc(s.running, func(seq *sequence) bool {
		if seq.done() {
			s.pool.release(seq)
		}
		return seq.done()
	})
}

func (p *plan) decode(seq *sequence, drafts int) {
	p.shares = append(p.shares, share{seq: seq, tokens: 1, drafts: drafts})
	p.load.decodes++
	p.load.prefillTokens += drafts
	p.load.contextTokens += seq.computed
}

// prefill gives seq as much of the budget as it can use and returns how much that is.
func (p *plan) prefill(seq *sequence, budget int) int {
	n := min(seq.pending(), budget)
	p.shares = append(p.shares, share{seq: seq, tokens: n})
	p.load.prefillTokens += n
	p.load.contextTokens += seq.computed
	return n
}
