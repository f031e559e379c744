package simulator

import (
	"math/rand/v2"
	"time"
)

// sequence is one request inside the engine. It knows tokens only by number:
//
//	|<------ prompt ------>|<-- generated -->|
//	|<-- computed -->|<------ pending ------>|
//	|<--------------- known ---------------->|
//
// A step computes some of the pending tokens; when none is left, it has produced one more. Prefill, decode and the second
// prefill after a preemption are therefore one rule. The submitter reads prompt, limit and out only; all else is the engine's.
type sequence struct {
	prompt int    // tokens, at least 1
	limit  int    // tokens to generate, at least 1
	pooled bool   // its one token only says that the prompt was read
	reason string // why it ends after limit tokens: "length" or "stop"
	key    uint64 // orders sequences that arrive at the same moment

	known    int         // prompt and generated tokens
	computed int         // those whose keys and values are in the cache
	blocks   []int32     // held of the pool, in order of the tokens
	named    int         // of them, those whose content others can find
	names    *blockNames // nil if it shares nothing
	cached   int         // tokens that were in the cache when it was first admitted

	// out carries how many tokens each step produced. It has room for all of them, so the engine never waits for a
	// client, and is closed after the last; closed before limit tokens came, it means that the engine gave up.
	out     chan int
	aborted bool // guarded by engine.mu; the engine drops the sequence before its next step

	odds *rand.Rand // which drafts are accepted; nil before the first

	// The last three are zero until then. Who has got a token from out may read what led to it.
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

// decoding says that all but the token it produced last is in the cache.
func (s *sequence) decoding() bool { return s.generated() > 0 && s.pending() == 1 }

// advance files n pending tokens as computed and returns how many new ones came of it: one, and those drafted ones that were
// accepted, up to the limit.
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
