package metrics

import "time"

// Counts count the requests of a set: of a second, of the run, of a class, of a server. Those of a single request are
// CountsOf, and Merge adds them up, so that every set counts by the same rules.
type Counts struct {
	// Due and Sent requests; Completed are the successes, Cancelled those that were cut when the run ended. WarmedUp
	// are the requests of the warm-up that ended, with any outcome; the other counts of a run leave them out, but for
	// Due and Sent.
	Due, Sent, Completed, Failed, Cancelled, WarmedUp int
	// Tokens and Inputs of the successes: a request may carry several prompts.
	InputTokens, OutputTokens, Inputs int
	// Cached is by the usage of the successes; Ideal are the hits of a prefix cache without bounds: see
	// Request.IdealTokens.
	Cached, Ideal TokenShare
	// By the usage of the successes, Reasoning are the output tokens before the visible answer, Accepted the draft
	// tokens that the model took over.
	Reasoning, Accepted TokenShare
	// Calling are the successes whose answer calls tools, Calls how many in all.
	Calling, Calls int
	// Abandoned requests are those whose users left, Unanswered of them without a token. WastedOutput are the tokens
	// that came to them, WastedInput those of the prompts that the server had when they left without one: not of those
	// whom it had turned away.
	Abandoned, Unanswered, WastedInput, WastedOutput int
	// Tallies are of requests with any outcome. Retried are the requests with retries, GaveUp those of them that
	// failed in the end. GoodUsers and GoodTries are the successes that met the objectives of the plan from their due
	// time, and in their last try alone; see Request.OfUser. They are counted where the plan has users try again.
	Tallies
	Retried, GaveUp, GoodUsers, GoodTries int
	// Audio is the length of the recordings of the successes.
	Audio time.Duration
	// Refusals are the successes whose answer is a refusal. Judged answers had to have a form: Correct ones had it,
	// Lenient ones by the rule of vLLM's benchmark.
	Refusals, Judged, Correct, Lenient int
	// MetCount is of the successes, by the objectives in force; PlannedGood met those of the plan, by which gates go.
	MetCount
	PlannedGood int
}

// CountsOf are the counts of a request that ended, without the objectives that it met.
func CountsOf(q *Request) Counts {
	c := Counts{Tallies: q.Tallies, Retried: one(q.Retries() > 0)}
	switch {
	case q.OK():
	case q.Failure == Cancelled:
		c.Cancelled = 1
		return c
	case q.Failure == Abandoned:
		c.Abandoned, c.WastedOutput, c.Unanswered = 1, q.OutputTokens, one(q.FirstChunk == Never)
		if waited := q.Status == 0 || q.Status == 200; c.Unanswered == 1 && waited && q.Sent != Never {
			c.WastedInput = q.InputTokens
		}
		return c
	default:
		c.Failed, c.GaveUp = 1, c.Retried
		return c
	}
	c.Completed, c.InputTokens, c.OutputTokens, c.Inputs = 1, q.InputTokens, q.OutputTokens, max(1, q.Inputs)
	c.Cached, c.Ideal, c.Audio = q.Cached(), q.Ideal(), q.Audio
	c.Reasoning, c.Accepted = q.Reasoning(), q.Accepted()
	c.Calling, c.Calls = one(q.Calls > 0), q.Calls
	c.Refusals, c.Judged = one(q.Refusal), one(q.Judgement.Judged)
	c.Correct, c.Lenient = one(q.Judgement.Correct()), one(q.Judgement.Judged && q.Judgement.Lenient)
	return c
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// Merge adds the counts of another set.
func (c *Counts) Merge(o *Counts) {
	c.Due, c.Sent, c.Completed = c.Due+o.Due, c.Sent+o.Sent, c.Completed+o.Completed
	c.Failed, c.Cancelled, c.WarmedUp = c.Failed+o.Failed, c.Cancelled+o.Cancelled, c.WarmedUp+o.WarmedUp
	c.InputTokens, c.OutputTokens = c.InputTokens+o.InputTokens, c.OutputTokens+o.OutputTokens
	c.Abandoned, c.Unanswered = c.Abandoned+o.Abandoned, c.Unanswered+o.Unanswered
	c.WastedInput, c.WastedOutput = c.WastedInput+o.WastedInput, c.WastedOutput+o.WastedOutput
	for i, n := range o.Tallies {
		c.Tallies[i] += n
	}
	c.Retried, c.GaveUp = c.Retried+o.Retried, c.GaveUp+o.GaveUp
	c.GoodUsers, c.GoodTries = c.GoodUsers+o.GoodUsers, c.GoodTries+o.GoodTries
	c.Inputs, c.Audio = c.Inputs+o.Inputs, c.Audio+o.Audio
	c.Cached.Join(o.Cached)
	c.Ideal.Join(o.Ideal)
	c.Reasoning.Join(o.Reasoning)
	c.Accepted.Join(o.Accepted)
	c.Calling, c.Calls = c.Calling+o.Calling, c.Calls+o.Calls
	c.Refusals, c.Judged = c.Refusals+o.Refusals, c.Judged+o.Judged
	c.Correct, c.Lenient = c.Correct+o.Correct, c.Lenient+o.Lenient
	c.MetCount.Join(o.MetCount)
	c.PlannedGood += o.PlannedGood
}

// Ended are the requests whose outcome says something of the server; see Request.Undecided.
func (c *Counts) Ended() int { return c.Completed + c.Failed + c.Unanswered }

// GoodShare is the share of good requests among those that Ended, of 1; Unsaid without one.
func (c *Counts) GoodShare() float64 { return over(float64(c.Good), float64(c.Ended())) }

// CorrectShare is the share of the judged answers that were correct, of 1; Unsaid without one.
func (c *Counts) CorrectShare() float64 { return over(float64(c.Correct), float64(c.Judged)) }

// RequestThroughput and OutputThroughput are successes and their tokens per second of a run of so many seconds.
func (c *Counts) RequestThroughput(seconds float64) float64 {
	return PerSecond(float64(c.Completed), seconds)
}

// OutputThroughput is explained at RequestThroughput.
func (c *Counts) OutputThroughput(seconds float64) float64 {
	return PerSecond(float64(c.OutputTokens), seconds)
}

// TokenGoodput are the tokens of the good ones per second.
func (c *Counts) TokenGoodput(seconds float64) float64 {
	return PerSecond(float64(c.GoodTokens), seconds)
}

// Slice holds the figures of some requests of a run without its warm-up.
type Slice struct {
	Counts
	// InFlight is a level, with the warm-up; Busy adds up the seconds in flight of the requests that ended by
	// themselves.
	InFlight int
	Busy     float64
	// Histograms of the latencies that objectives may limit.
	Histograms [NumObjectives]Histogram
	// Statistics are the exact figures of the same latencies, in a report only.
	Statistics [NumObjectives]Statistic
}

// add counts a request that ended, with the latencies of a success.
func (s *Slice) add(q *Request, counts *Counts) {
	s.Merge(counts)
	if q.Failure != Cancelled {
		s.Busy += max(0, Since(q.Sent, q.Done)).Seconds()
	}
	for l := range NumObjectives {
		if v := rows[l].of(q); v != Never && l.Counts(q) {
			s.Histograms[l].Add(v)
		}
	}
}

// TokenShare are some of the tokens of successful requests, such as those of prompts that came from a prefix cache.
type TokenShare struct {
	Tokens int
	// Requests are those of which it is known how many, if only 0; they have Of tokens in all.
	Requests, Of int
}

// Rate is the share of the tokens, of the requests of which it is known; Unsaid without one.
func (h TokenShare) Rate() float64 { return over(float64(h.Tokens), float64(h.Of)) }

// A cache that knows cacheExcess more of the tokens than the prompts share is no coincidence, once cacheTokens were
// looked up.
const (
	cacheExcess = 0.2
	cacheTokens = 1000
)

// MostTemplate are the tokens that a server's chat template may put before every prompt, as far as nothing else is
// known: those of today's models take some twenty to two hundred.
const MostTemplate = 256

// CacheKnowsMore reports whether a prefix cache that had a share of so many tokens knew much more than the share of
// them that prompts have in common.
func CacheKnowsMore(had, tokens, common float64) bool {
	return tokens >= cacheTokens && had >= common+cacheExcess
}

// Join adds other hits.
func (h *TokenShare) Join(o TokenShare) {
	h.Tokens, h.Requests, h.Of = h.Tokens+o.Tokens, h.Requests+o.Requests, h.Of+o.Of
}
