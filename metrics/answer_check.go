package metrics

import (
	"math"
	"math/bits"
	"time"
)

// OutputToken is a token of an answer as its server tells it.
type OutputToken struct {
	// ID is -1 where only the text is known.
	ID   int
	Text string // foreign; "" where only the id is known
	// Logprob is its log probability; Unsaid where the server does not tell it.
	Logprob float64
}

// Is reports whether two tokens are the same: by id where both have one, else by text.
func (t OutputToken) Is(o OutputToken) bool {
	if t.ID >= 0 && o.ID >= 0 {
		return t.ID == o.ID
	}
	return t.Text == o.Text
}

// AnswerBasis is what two answers were compared by.
type AnswerBasis string

// By ids or, with log probabilities, by texts of tokens; else by the characters of the text.
const (
	ByTokenIDs AnswerBasis = "token ids"
	ByTokens   AnswerBasis = "tokens"
	ByText     AnswerBasis = "text"
)

// AnswerCheck is a known prompt that was sent in addition to the load, and how its answer compares with the one that
// the same prompt had alone. It is in no figure of the load.
type AnswerCheck struct {
	At time.Duration
	// Prompt is its number. Alone is 1 and 2 for the first and the second time that it was sent before the load, 0
	// beside the load. The first answer is the one that later ones are compared with.
	Prompt, Alone int
	// InFlight are the requests of the load that were in flight when it was sent.
	InFlight int
	Failure  Failure
	Error    string // foreign text
	// Sampled: the server refuses temperature 0, so that the same prompt may have another answer.
	Sampled bool
	// Tokens of prompt and answer.
	Tokens int
	// TPOT of the answer; Never where it came at once.
	TPOT time.Duration
	// By is "" where nothing was compared, as with two empty answers. Common is how many tokens or characters are the
	// same at the beginning, of Of in the longer answer.
	By         AnswerBasis
	Changed    bool
	Common, Of int
	// Before and Now are the log probabilities of the two tokens at the first difference, each by its own answer;
	// Unsaid where they are not known.
	Before, Now float64
}

// A model that gives two tokens nearly the same probability chooses either, by rounding in sums whose order depends on
// the batch. Log probabilities that differ by up to closeLogprobs are nearly the same. Two such tokens cannot both have
// more than half of the probability, beyond what rounding adds.
const closeLogprobs = 0.5

// Tie reports whether rounding explains the first difference of an answer that changed. It is not known without the log
// probabilities.
func (c *AnswerCheck) Tie() (tie, known bool) {
	most := math.Log(0.5) + closeLogprobs/2
	known = c.Changed && Said(c.Before) && Said(c.Now)
	return known && math.Abs(c.Before-c.Now) <= closeLogprobs && max(c.Before, c.Now) <= most, known
}

// ChangedShare counts answers that were compared, and those that changed.
type ChangedShare struct{ Compared, Changed int }

// Share is that of the changed answers, of 1; Unsaid where none was compared.
func (s ChangedShare) Share() float64 { return over(float64(s.Changed), float64(s.Compared)) }

// Bounds are those of the share with 95 % confidence, by Wilson's score interval (Wilson 1927, "Probable inference, the
// law of succession, and statistical inference"); 0 and 1 where nothing was compared.
func (s ChangedShare) Bounds() (low, high float64) {
	const z = 1.959964
	n := float64(s.Compared)
	if n == 0 {
		return 0, 1
	}
	p := s.Share()
	middle, spread := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, (middle-spread)/(1+z*z/n)), min(1, (middle+spread)/(1+z*z/n))
}

// EnoughChecks is the number of compared answers from which on their share is known well enough for a gate. It is too
// where enoughChanged of fewer changed.
const (
	EnoughChecks  = 20
	enoughChanged = 5
)

// Known reports whether the share is known well enough for a gate.
func (s ChangedShare) Known() bool { return s.Compared >= EnoughChecks || s.Changed >= enoughChanged }

// CheckLevel are the answers that were compared while From to To requests of the load were in flight.
type CheckLevel struct {
	From, To int
	ChangedShare
}

// checkLevels are enough for any number of requests in flight: 0, 1, 2 to 3, 4 to 7 …
const checkLevels = 32

// mostTPOTs bounds the times per output token that are kept of checks.
const mostTPOTs = 1000

// AnswerChecks sum up the checks of answers of a run.
type AnswerChecks struct {
	// Sent are the prompts with an answer alone, Repeated those with two. Unsteady are those of them whose answers
	// differ, and which are sent no more, Empty those whose answers are empty.
	Sent, Repeated, Unsteady, Empty int
	// Failed are the checks that failed, FailedBeside those of them that were sent beside the load; Error is that of
	// the first, foreign text.
	Failed, FailedBeside int
	Error                string
	// Sampled: the server refuses temperature 0, so that a change tells nothing of the load.
	Sampled bool
	By      AnswerBasis
	// Beside are the checks beside the load, Tokens those of their prompts and answers.
	Beside, Tokens int
	// ChangedShare is that of the checks beside the load, and Loads the same by the number of bits of the number in
	// flight; see Levels.
	ChangedShare
	Loads [checkLevels]ChangedShare
	// Ties are the changes that rounding explains, NoTies those that it does not, as far as log probabilities are
	// known.
	Ties, NoTies int
	// Common adds up the shares of the changed answers that were the same.
	Common float64
	// Fastest is the least TPOT of a first answer alone, 0 for none. AgainTPOT are those of second ones alone, and
	// BesideTPOT those beside requests of the load; the first thousand of each.
	Fastest               time.Duration
	AgainTPOT, BesideTPOT []time.Duration
}

// Take files a check. The order within the run is that of the checks.
func (a *AnswerChecks) Take(c *AnswerCheck) {
	if c.Alone == 0 {
		a.Beside, a.Tokens = a.Beside+1, a.Tokens+max(0, c.Tokens)
	}
	if c.Failure != "" {
		a.Failed, a.FailedBeside = a.Failed+1, a.FailedBeside+one(c.Alone == 0)
		if a.Error == "" {
			a.Error = string(c.Failure) + ": " + c.Error
		}
		return
	}
	a.Sampled = a.Sampled || c.Sampled
	a.time(c)
	switch {
	case c.Alone == 1:
		a.Sent++
	case c.By == "":
		a.Empty++
	case c.Alone > 1:
		a.By, a.Repeated, a.Unsteady = c.By, a.Repeated+1, a.Unsteady+one(c.Changed)
	default:
		s := ChangedShare{Compared: 1, Changed: one(c.Changed)}
		a.ChangedShare.join(s)
		a.Loads[min(bits.Len(uint(max(0, c.InFlight))), checkLevels-1)].join(s)
		a.change(c)
	}
}

func (a *AnswerChecks) change(c *AnswerCheck) {
	if !c.Changed {
		return
	}
	if c.Of > 0 {
		a.Common += float64(max(0, min(c.Common, c.Of))) / float64(c.Of)
	}
	tie, known := c.Tie()
	a.Ties, a.NoTies = a.Ties+one(tie), a.NoTies+one(known && !tie)
}

// time files the TPOT of an answer.
func (a *AnswerChecks) time(c *AnswerCheck) {
	switch {
	case c.TPOT < 0:
	case c.Alone == 1 && (a.Fastest == 0 || c.TPOT < a.Fastest):
		a.Fastest = max(1, c.TPOT)
	case c.Alone == 2 && len(a.AgainTPOT) < mostTPOTs:
		a.AgainTPOT = append(a.AgainTPOT, c.TPOT)
	case c.Alone == 0 && c.InFlight > 0 && len(a.BesideTPOT) < mostTPOTs:
		a.BesideTPOT = append(a.BesideTPOT, c.TPOT)
	}
}

func (s *ChangedShare) join(o ChangedShare) {
	s.Compared, s.Changed = s.Compared+o.Compared, s.Changed+o.Changed
}

// Levels are those with a check, from the fewest in flight to the most.
func (a *AnswerChecks) Levels() (out []CheckLevel) {
	for i, s := range a.Loads {
		if s.Compared > 0 {
			out = append(out, CheckLevel{From: 1 << i >> 1, To: 1<<i - 1, ChangedShare: s})
		}
	}
	return out
}

// Alone is the share of prompts whose second answer alone was another one.
func (a *AnswerChecks) Alone() ChangedShare { return ChangedShare{a.Repeated, a.Unsteady} }

// MoreThanAlone reports whether more answers change under load than alone, by the bounds of both shares; always where
// none did alone.
func (a *AnswerChecks) MoreThanAlone() bool {
	low, _ := a.Bounds()
	_, alone := a.Alone().Bounds()
	return a.Unsteady == 0 || low > alone
}

// CommonShare is how far answers that changed were the same from their beginning, on average, of 1; Unsaid without one.
func (a *AnswerChecks) CommonShare() float64 { return over(a.Common, float64(a.Changed)) }

// cachedPart of the least time per output token is less than any model needs, and cachedLeast checks are no accident.
const (
	cachedPart  = 0.25
	cachedLeast = 5
)

// Cached reports whether answers to the same prompt came from a cache of answers. A prefix cache shortens TTFT alone: a
// median TPOT below a quarter of the least one of first answers, of the same length, or of any answer of the load at
// the same time, is none of a model's. load is that least TPOT of the load, 0 where it is not known. It says nothing of
// a server that sends answers at once.
func (a *AnswerChecks) Cached(load time.Duration) (cached, known bool) {
	below := func(all []time.Duration, least time.Duration) bool {
		if len(all) < cachedLeast || least <= 0 {
			return false
		}
		known = true
		fast := 0
		for _, t := range all {
			fast += one(float64(t) < cachedPart*float64(least))
		}
		return 2*fast > len(all)
	}
	return below(a.AgainTPOT, a.Fastest) || below(a.BesideTPOT, load), known
}
