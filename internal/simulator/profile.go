package simulator

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Profile describes the simulated server: its sizes, its speed and its seed. The zero value is not usable; start from
// Defaults or Named, and call Validate after changes.
type Profile struct {
	// Name is the key for Named.
	Name string
	// About is a short description, and Capacity the measured number of requests per second with prompts of 256 and
	// answers of 64 tokens. Both are for people; the engine ignores them.
	About    string
	Capacity float64
	// Model is the id under which the model is served; it is also its root.
	Model string
	// MaxModelLen is the longest sequence in tokens, prompt and output together.
	MaxModelLen int

	// BlockSize is the number of tokens in one block of the key-value cache.
	BlockSize int
	// Blocks is the number of such blocks. Together they must hold at least one sequence of MaxModelLen. 0 stands for a
	// cache that grows as it is used: it keeps the blocks of all prompts and answers, and no sequence is preempted.
	Blocks int
	// MaxSequences is the largest batch: sequences running at the same time.
	MaxSequences int
	// MaxBatchedTokens is the number of tokens one step may compute: one per decoding sequence, the rest is prefill.
	MaxBatchedTokens int

	// StepBase is the cost of every step: reading the weights once, and the launch.
	StepBase time.Duration
	// Prioritized: sequences of lower priority go first, as with vLLM's --scheduling-policy priority.
	Prioritized bool
	// PrefillToken is added for each prompt token computed in the step.
	PrefillToken time.Duration
	// DecodeSequence is added for each sequence that decodes in the step.
	DecodeSequence time.Duration
	// ContextToken is added for each token whose keys and values are read, that is those of earlier steps.
	ContextToken time.Duration
	// Speed divides all these costs, and the time for the compilation of a constraint. 1 is the speed of the profile;
	// it must not make a step shorter than a microsecond.
	Speed float64

	// OutputMean is the mean number of tokens after which an answer ends by itself, where the request lets it.
	OutputMean int
	// Seed decides lengths and texts of all answers. An answer depends on the seed and on the request, not on its
	// time, so requests that arrive at the same moment cannot exchange their answers.
	Seed uint64

	// PrefixCache lets sequences share the blocks of equal prefixes with running and finished ones, and skip their
	// computation. Free blocks stay until their place is needed.
	PrefixCache bool
	// RequestMetrics adds the server's own times to every answer, like vLLM's --enable-per-request-metrics.
	RequestMetrics bool

	// SpecTokens is how many tokens speculative decoding drafts for each sequence and step; 0 turns it off. Verifying a
	// draft costs PrefillToken for each token of it, drafting is free.
	SpecTokens int
	// SpecAcceptance is the probability that a drafted token is accepted if all before it were, so that position k,
	// counted from 1, is accepted with the k-th power. Draws depend on Seed and on the request.
	SpecAcceptance float64

	// Adapters are the LoRA adapters that are served beside the model.
	Adapters []Adapter

	// Faults are the injected faults, made by ParseFault; of several that hit a request, the first is injected.
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
	require(p.MaxModelLen >= 2, "max model len is %d, must be at least 2: a prompt token and an output token",
		p.MaxModelLen)
	require(p.BlockSize >= 1, "block size is %d, must be at least 1", p.BlockSize)
	require(p.Blocks >= 0 && p.Blocks <= maxBlocks, "the number of blocks is %d, must be from 0 to %d", p.Blocks,
		maxBlocks)
	// A single sequence must fit, else it would preempt itself for ever. A product might overflow.
	require(p.BlockSize < 1 || p.Blocks < 1 || p.Blocks >= blocksFor(p.MaxModelLen, p.BlockSize),
		"%d blocks of %d tokens cannot hold one sequence of %d tokens", p.Blocks, p.BlockSize, p.MaxModelLen)
	require(p.MaxSequences >= 1, "max sequences is %d, must be at least 1", p.MaxSequences)
	drafts := p.SpecTokens >= 0 && p.SpecTokens <= maxSpecTokens
	require(drafts, "spec tokens is %d, must be from 0 to %d", p.SpecTokens, maxSpecTokens)
	require(p.SpecAcceptance >= 0 && p.SpecAcceptance <= 1, "spec acceptance is %v, must be from 0 to 1",
		p.SpecAcceptance)
	require(!drafts || p.MaxBatchedTokens/(1+p.SpecTokens) >= p.MaxSequences,
		"max batched tokens is %d, too few for max sequences %d with %d tokens each: not all could decode in one step",
		p.MaxBatchedTokens, p.MaxSequences, 1+p.SpecTokens)
	// Shorter steps would depend on the timer, and a step of no time would never end.
	require(p.StepBase >= time.Microsecond, "step base is %v, must be at least 1µs", p.StepBase)
	require(p.PrefillToken >= 0, "prefill token is %v, must not be negative", p.PrefillToken)
	require(p.DecodeSequence >= 0, "decode sequence is %v, must not be negative", p.DecodeSequence)
	require(p.ContextToken >= 0, "context token is %v, must not be negative", p.ContextToken)
	require(p.Speed > 0 && p.Speed <= fastest, "speed is %v, must be above 0 and at most %.0f", p.Speed,
		float64(fastest))
	require(!(p.Speed > 0) || p.StepBase < time.Microsecond || float64(p.StepBase)/p.Speed >= float64(time.Microsecond),
		"speed is %v, which makes a step of %v shorter than 1µs; use at most %.0f", p.Speed, p.StepBase,
		float64(p.StepBase/time.Microsecond))
	require(p.OutputMean >= 1, "output mean is %d, must be at least 1", p.OutputMean)
	if err := p.checkAdapters(); err != nil {
		problems = append(problems, fmt.Errorf("profile: %w", err))
	}
	return errors.Join(problems...)
}

// maxSpecTokens is far more than is useful.
const maxSpecTokens = 64

// fastest is far more than a computer keeps up with.
const fastest = 1e6

// load is the work of one step.
type load struct {
	prefillTokens int // prompt tokens computed, and drafted tokens verified
	decodes       int // sequences that compute one token each
	contextTokens int // tokens of earlier steps whose keys and values are read
}

// stepTime returns how long a step with that load lasts.
func (p Profile) stepTime(l load) time.Duration {
	return p.sped(p.StepBase +
		time.Duration(l.prefillTokens)*p.PrefillToken +
		time.Duration(l.decodes)*p.DecodeSequence +
		time.Duration(l.contextTokens)*p.ContextToken)
}

// sped is a cost at the speed of the server.
func (p Profile) sped(cost time.Duration) time.Duration {
	if p.Speed == 1 {
		return cost // exactly
	}
	return time.Duration(float64(cost) / p.Speed)
}

// Defaults returns the profile named "l40s-8b": a card of the 48 GB class that serves a model of 8 billion 8-bit
// weights. Reading the weights takes 11.5 ms, a prompt token 45 µs (about 20,000 tokens/s in full steps) and a token of
// context 150 ns, so that the mean inter-token latency is 12 ms alone and 30 ms in a full batch of 64 with the prefill
// that comes with it.
//
// Capacity, measured by TestRampSaturates with Poisson arrivals: 21 requests/s with prompts of 384 and answers of 96
// tokens (31 with 256 and 64, 14 with 512 and 128). At half of it the median time to first token is about 40 ms; at
// twice it, the queue grows by as many requests per second as are served. The cache holds 65,536 tokens: 64 sequences
// of a thousand tokens fill it, longer ones preempt each other.
func Defaults() Profile {
	return Profile{
		Name:             "l40s-8b",
		About:            "one 48 GB GPU, 8 billion 8-bit weights",
		Capacity:         31,
		Model:            "sim-8b",
		MaxModelLen:      32768,
		BlockSize:        16,
		Blocks:           4096,
		MaxSequences:     64,
		MaxBatchedTokens: 2048,
		StepBase:         11500 * time.Microsecond,
		PrefillToken:     45 * time.Microsecond,
		DecodeSequence:   60 * time.Microsecond,
		ContextToken:     150 * time.Nanosecond,
		Speed:            1,
		OutputMean:       96,
		Seed:             1,
		PrefixCache:      true,
		SpecAcceptance:   0.7,
	}
}

// tight returns "a10-8b-tight": a card of the 24 GB class whose memory the 16-bit weights of a model of 8 billion
// nearly fill. Its cache holds 10,240 tokens, not enough for the batch of 64: under load sequences preempt each other.
//
// Capacity, measured by TestProfilesHoldTheirWord: 4.2 requests/s with prompts of 384 and answers of 96 tokens (7.7
// with 256 and 64, 2.6 with 512 and 128). There, every fifth sequence or more is preempted, below half of it hardly
// any. The mean inter-token latency is 30 ms alone and 53 ms at capacity.
func tight() Profile {
	p := Defaults()
	p.Name, p.Model = "a10-8b-tight", "sim-8b-fp16"
	p.About, p.Capacity = "one 24 GB GPU, 8 billion 16-bit weights, with little KV cache left, so it preempts", 7.7
	p.MaxModelLen, p.Blocks = 8192, 640
	p.StepBase, p.PrefillToken = 28*time.Millisecond, 220*time.Microsecond
	p.DecodeSequence, p.ContextToken = 80*time.Microsecond, 300*time.Nanosecond
	return p
}

// speculating returns "h100-70b-spec": four cards of the 80 GB class that serve a model of 70 billion 8-bit weights,
// with a small model that drafts three tokens a step, of which each is accepted with 0.7 if those before it were: 2.5
// tokens a step.
//
// Capacity, measured by TestProfilesHoldTheirWord: 26 requests/s with prompts of 384 and answers of 96 tokens (39 with
// 256 and 64, 20 with 512 and 128). The mean inter-token latency is 6 ms alone and 42 ms at capacity, where verifying
// drafts no longer pays. The cache holds 524,288 tokens: sequences are not preempted, and shared prefixes stay for
// long.
func speculating() Profile {
	p := Defaults()
	p.Name, p.Model = "h100-70b-spec", "sim-70b"
	p.About, p.Capacity = "four 80 GB GPUs, 70 billion 8-bit weights, speculative decoding", 39
	p.MaxModelLen, p.Blocks = 131072, 32768
	p.MaxSequences, p.MaxBatchedTokens = 128, 8192
	p.StepBase, p.PrefillToken = 14*time.Millisecond, 60*time.Microsecond
	p.DecodeSequence, p.ContextToken = 40*time.Microsecond, 40*time.Nanosecond
	p.SpecTokens, p.SpecAcceptance = 3, 0.7
	return p
}

// Profiles returns all that have a name, the default first.
func Profiles() []Profile { return []Profile{Defaults(), tight(), speculating()} }

// Names returns the names of all profiles, the default's first.
func Names() []string {
	var names []string
	for _, p := range Profiles() {
		names = append(names, p.Name)
	}
	return names
}

// Named returns the profile with that name; the error of an unknown one says which there are.
func Named(name string) (Profile, error) {
	for _, p := range Profiles() {
		if p.Name == name {
			return p, nil
		}
	}
	return Profile{}, fmt.Errorf("unknown profile %q; use one of %s", name, strings.Join(Names(), ", "))
}
