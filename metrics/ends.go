package metrics

import (
	"cmp"
	"math/bits"
	"slices"
)

// EndsBy is a property by which the requests that end are counted.
type EndsBy uint8

// Successes by the tokens of their prompts and answers: at place k those of more than 2^(k-1) and at most 2^k; and all
// requests but cancelled and abandoned ones by FinishReasons.
const (
	ByPromptLength EndsBy = iota
	ByAnswerLength
	ByFinish
	numEndsBy
)

// FinishReasons are the places by ByFinish: successes without a reason, failures, and successes with one; the last
// place is for all others.
var FinishReasons = [...]string{"none", "failed", "stop", "length", "tool_calls", "other"}

// EndsPlaces is the number of places, the last one for all lengths beyond.
const EndsPlaces = 21 // up to a million tokens

// Ends count the requests that ended in a second by their properties.
type Ends [numEndsBy][EndsPlaces]uint32

// endsOf are the counts of a single request.
func endsOf(q *Request) (e Ends) {
	finish := 1 // failed
	if q.OK() {
		for by, tokens := range [...]int{ByPromptLength: q.InputTokens, ByAnswerLength: q.OutputTokens} {
			if tokens > 0 {
				e[by][min(bits.Len(uint(tokens-1)), EndsPlaces-1)] = 1
			}
		}
		if finish = slices.Index(FinishReasons[:], cmp.Or(q.Finish, "none")); finish < 0 {
			finish = len(FinishReasons) - 1
		}
	}
	e[ByFinish][finish] = uint32(one(q.Failure != Cancelled && q.Failure != Abandoned))
	return e
}

// Merge returns the counts with others added to them. Both may be nil, which stands for none.
func (e *Ends) Merge(o *Ends) *Ends {
	switch {
	case o == nil:
		return e
	case e == nil:
		e = new(Ends)
	}
	for by := range o {
		for k, n := range o[by] {
			e[by][k] += n
		}
	}
	return e
}
