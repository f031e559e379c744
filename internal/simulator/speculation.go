package simulator

import "math/rand/v2"

// speculation counts what speculative decoding drafted.
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

// verify returns how many drafted tokens of a share the model accepts: those before the first one that it would not have
// written itself. What lies beyond the end of the answer is counted and then thrown away, as vLLM does.
func (p Profile) verify(s share) (accepted int) {
	if s.drafts == 0 {
		return 0
	}
	if s.seq.odds == nil {
		s.seq.odds = rand.New(rand.NewPCG(p.Seed+2, s.seq.key))
	}
	for accepted < s.drafts && s.seq.odds.Float64() < p.SpecAcceptance {
		accepted++
	}
	return accepted
}
