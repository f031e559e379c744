package simulator

import (
	"errors"
	"fmt"
	"time"
)

// Profile says which server is simulated: its sizes, its speed and its seed. The zero value is not usable; start from
// Defaults or Named, change what matters, and ask Validate.
type Profile struct {
	// Name is what Named finds the profile by.
	Name string
	// About says in a few words what it is, and Capacity how many requests per second it serves with prompts of 256 and
	// answers of 64 tokens, as measured. Both are for people; the engine does not look at them.
	About    string
	Capacity float64
	// Model is the id under which the model is served; it is also its root.
	Model string
	// MaxModelLen is the longest sequence in tokens, prompt and output together.
	MaxModelLen int

	// BlockSize is the number of tokens in one block of the key-value cache.
	BlockSize int
	// Blocks is the number of such blocks. Together they must hold at least one sequence of MaxModelLen.
	Blocks int
	// MaxSequences is the largest batch: sequences running at the same time.
	MaxSequences int
	// MaxBatchedTokens is the number of tokens one step may compute: one per decoding sequence, the rest is prefill.
	MaxBatchedTokens int

	// StepBase is what every step costs: reading the weights once, and the launch.
	StepBase time.Duration
	// PrefillToken is added for each prompt token computed in the step.
	PrefillToken time.Duration
	// DecodeSequence is added for each sequence that decodes in the step.
	DecodeSequence time.Duration
	// ContextToken is added for each token whose keys and values are read, that is those of earlier steps.
	ContextToken time.Duration

	// OutputMean is the mean number of tokens after which an answer ends by itself, where the request lets it.
	OutputMean int
	// Seed decides lengths and texts of all answers. What a request is answered depends on the seed and on what it
	// asks, not on when it came, so requests that arrive at the same moment cannot exchange their answers.
	Seed uint64

	// PrefixCache lets sequences share the blocks of beginnings that are the same, whether those before are running or over,
	// and skip computing them. Blocks that nobody holds stay until their place is needed.
	PrefixCache bool
	// RequestMetrics tells with every answer how long it waited and was computed, as vLLM does with
	// --enable-per-request-metrics.
	RequestMetrics bool

	// SpecTokens is how many tokens speculative decoding drafts for each sequence and step; 0 turns it off. Verifying a
	// draft costs PrefillToken for each token of it, drafting is free.
	SpecTokens int
	// SpecAcceptance is the probability that a drafted token is accepted if all before it were, so that position k, counted
	// from 1, is accepted with the k-th power. Draws depend on Seed and on what a request asks.
	SpecAcceptance float64

	// Faults are what goes wrong, and for which requests; of several that hit a request, the first happens.
	Faults []Fault
}

// Validate reports every problem of p at once, or nil.
func (p Profile) Validate() error {
	var problems []error
	require := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf("profile: "+format, args...))
		}
	}
	require(p.Model != "", "the model needs a name")
	require(p.MaxModelLen >= 2, "max model len is %d, must be at least 2: a prompt token and an output token", p.MaxModelLen)
	require(p.BlockSize >= 1, "block size is %d, must be at least 1", p.BlockSize)
	// A sequence that is alone must fit, else it would preempt itself for ever. Divided, because a product may overflow.
	require(p.BlockSize < 1 || p.Blocks >= blocksFor(p.MaxModelLen, p.BlockSize),
		"%d blocks of %d tokens cannot hold one sequence of %d tokens", p.Blocks, p.BlockSize, p.MaxModelLen)
	require(p.MaxSequences >= 1, "max sequences is %d, must be at least 1", p.MaxSequences)
	drafts := p.SpecTokens >= 0 && p.SpecTokens <= maxSpecTokens
	require(drafts, "spec tokens is %d, must be from 0 to %d", p.SpecTokens, maxSpecTokens)
	require(p.SpecAcceptance >= 0 && p.SpecAcceptance <= 1, "spec acceptance is %v, must be from 0 to 1", p.SpecAcceptance)
	require(!drafts || p.MaxBatchedTokens/(1+p.SpecTokens) >= p.MaxSequences,
		"max batched tokens is %d, too few for max sequences %d with %d tokens each: not all could decode in one step",
		p.MaxBatchedTokens, p.MaxSequences, 1+p.SpecTokens)
	// Shorter steps than this would be the timer's, not the profile's; and a step of no time at all would never end.
	require(p.StepBase >= time.Microsecond, "step base is %v, must be at least 1µs", p.StepBase)
	require(p.PrefillToken >= 0, "prefill token is %v, must not be negative", p.PrefillToken)
	require(p.DecodeSequence >= 0, "decode sequence is %v, must not be negative", p.DecodeSequence)
	require(p.ContextToken >= 0, "context token is %v, must not be negative", p.ContextToken)
	require(p.OutputMean >= 1, "output mean is %d, must be at least 1", p.OutputMean)
	for _, f := range p.Faults {
		if err := f.check(); err != nil {
			problems = append(problems, fmt.Errorf("profile: %w", err))
		}
	}
	return errors.Join(problems...)
}

// maxSpecTokens is far beyond what pays.
const maxSpecTokens = 64

// load is what one step has to compute.
type load struct {
	prefillTokens int // prompt tokens computed, and drafted tokens verified
	decodes       int // sequences that compute one token each
	contextTokens int // tokens of earlier steps whose keys and values are read
}

// stepTime returns how long a step with that load lasts.
func (p Profile) stepTime(l load) time.Duration {
	return p.StepBase +
		time.Duration(l.prefillTokens)*p.PrefillToken +
		time.Duration(l.decodes)*p.DecodeSequence +
		time.Duration(l.contextTokens)*p.ContextToken
}
