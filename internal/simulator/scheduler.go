package simulator

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"
)

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

func (p *plan) add(s share, l load) {
	p.shares = append(p.shares, s)
	p.load.decodes += l.decodes
	p.load.prefillTokens += l.prefillTokens
	p.load.contextTokens += s.seq.computed
}

func newScheduler(p Profile) *scheduler {
	return &scheduler{profile: p, pool: newBlockPool(p.BlockSize, p.Blocks)}
}

// queue takes sequences that arrived, in their order.
func (s *scheduler) queue(arrived []*sequence) {
	s.waiting = append(s.waiting, arrived...)
	if s.profile.Prioritized {
		slices.SortStableFunc(s.waiting, func(a, b *sequence) int {
			return cmp.Or(cmp.Compare(a.priority, b.priority), a.arrived.Compare(b.arrived))
		})
	}
}

// plan hands out the tokens of the next step: first one to each sequence that decodes, then what is left to prefills
// under way, then to new ones. An empty plan means that there is nothing to do.
func (s *scheduler) plan() plan {
	p := plan{shares: s.shares[:0]}
	budget := s.profile.MaxBatchedTokens
	before := s.preemptions

	// Preemption takes from the end of running, never a sequence that already has its share.
	for i := 0; i < len(s.running); i++ {
		if seq := s.running[i]; seq.decoding() && s.grow(seq) {
			drafts := s.drafts(seq)
			p.add(share{seq: seq, tokens: 1, drafts: drafts}, load{decodes: 1, prefillTokens: drafts})
			s.pool.publish(seq, seq.computed+1)
			budget -= 1 + drafts
		}
	}
	for _, seq := range s.running {
		if !seq.decoding() && budget > 0 {
			budget -= s.prefill(&p, seq, budget)
		}
	}
	// A preempted sequence is first in the queue; admitting it in the same step would preempt another.
	for s.preemptions == before && budget > 0 && s.admit() {
		budget -= s.prefill(&p, s.running[len(s.running)-1], budget)
	}
	s.shares = p.shares
	return p
}

// prefill gives seq as much of the budget as it can use and returns how much that is. Blocks that the step fills are
// published at once: as in vLLM, a sequence that is admitted in the same step shares them.
func (s *scheduler) prefill(p *plan, seq *sequence, budget int) int {
	n := min(seq.pending(), budget)
	p.add(share{seq: seq, tokens: n}, load{prefillTokens: n})
	s.pool.publish(seq, seq.computed+n)
	return n
}

// drafts returns how many tokens speculative decoding drafts for seq: not beyond the longest sequence, so that a single
// one always fits.
func (s *scheduler) drafts(seq *sequence) int {
	return min(s.profile.SpecTokens, s.profile.MaxModelLen-seq.known)
}

// grow makes sure that seq has blocks for its next tokens, at the expense of the youngest, which goes back to the front
// of the queue. It keeps its tokens, and computes again the part of its cache that others have taken by then. It
// returns false if the youngest was seq itself. A single sequence always fits, so the oldest always proceeds and there
// is no deadlock.
func (s *scheduler) grow(seq *sequence) bool {
	for !s.pool.hold(seq, seq.known+s.drafts(seq)) {
		youngest := s.running[len(s.running)-1]
		s.running = s.running[:len(s.running)-1]
		s.pool.release(youngest)
		youngest.computed, youngest.want = 0, blockShortage{}
		s.waiting = slices.Insert(s.waiting, 0, youngest)
		s.preemptions++
		if youngest == seq {
			return false
		}
	}
	return true
}

// admit moves the first waiting sequence to running if the batch and the cache have room for it. Later ones do not
// overtake.
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

// sequence is one request inside the engine. It knows tokens only by number:
//
//	|<------ prompt ------>|<-- generated -->|
//	|<-- computed -->|<------ pending ------>|
//	|<--------------- known ---------------->|
//
// A step computes some of the pending tokens; when none is left, it has produced one more. Prefill, decode and the
// second prefill after a preemption are therefore one rule. The submitter reads prompt, limit and out only; all else is
// the engine's.
type sequence struct {
	prompt   int    // tokens, at least 1
	limit    int    // tokens to generate, at least 1
	pooled   bool   // its one token marks the end of the prompt's computation
	reason   string // why it ends after limit tokens: "length" or "stop"
	priority int    // lower is more urgent, where the server heeds it
	key      uint64 // orders sequences that arrive at the same moment

	known    int           // prompt and generated tokens
	computed int           // those whose keys and values are in the cache
	blocks   []int32       // held of the pool, in order of the tokens
	named    int           // of them, those whose content others can find
	names    *blockNames   // nil if it shares nothing
	cached   int           // tokens that were in the cache when it was first admitted
	want     blockShortage // why it was not admitted

	// out carries how many tokens each step produced. It has room for all of them, so the engine never waits for a
	// client, and is closed after the last; closed before limit tokens came, it means that the engine gave up.
	out     chan int
	aborted bool // guarded by engine.mu; the engine drops the sequence before its next step

	draftDraws *rand.Rand // which drafts are accepted; nil before the first

	// The last three are zero until then. The receiver of a token from out may read its times.
	arrived    time.Time
	admitted   time.Time // first
	firstToken time.Time
	lastToken  time.Time
}

func newSequence(prompt, limit int, reason string, key uint64) *sequence {
	return &sequence{prompt: prompt, limit: limit, reason: reason, key: key, known: prompt, out: make(chan int, limit)}
}

func (s *sequence) generated() int { return s.known - s.prompt }
func (s *sequence) pending() int   { return s.known - s.computed }
func (s *sequence) done() bool     { return s.generated() == s.limit }

// decoding reports whether all but the last token is in the cache.
func (s *sequence) decoding() bool { return s.generated() > 0 && s.pending() == 1 }

// advance marks n pending tokens as computed and returns the number of new ones: one and the accepted drafts, up to the
// limit.
func (s *sequence) advance(n, accepted int) int {
	s.computed += n
	if s.pending() > 0 {
		return 0
	}
	produced := min(1+accepted, s.limit-s.generated())
	s.computed += produced - 1 // verifying a draft has computed it
	s.known += produced
	return produced
}

// speculation counts the drafts of speculative decoding.
type speculation struct {
	drafts      int   // steps of a sequence in which there was a draft
	draftTokens int   // in all of them
	accepted    []int // by position in the draft, as many as are drafted at most
}

func (s *speculation) step(drafted, accepted int) {
	s.drafts++
	s.draftTokens += drafted
	for position := range accepted {
		s.accepted[position]++
	}
}

func (s *speculation) acceptedTokens() (sum int) {
	for _, n := range s.accepted {
		sum += n
	}
	return sum
}

// verify returns how many drafted tokens of a share the model accepts: those before the first rejected one. As in vLLM,
// tokens beyond the end of the answer are counted and then dropped.
func (p Profile) verify(s share) (accepted int) {
	if s.drafts == 0 {
		return 0
	}
	if s.seq.draftDraws == nil {
		s.seq.draftDraws = rand.New(rand.NewPCG(p.Seed+2, s.seq.key))
	}
	for accepted < s.drafts && s.seq.draftDraws.Float64() < p.SpecAcceptance {
		accepted++
	}
	return accepted
}
