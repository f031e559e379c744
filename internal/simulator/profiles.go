package simulator

import (
	"fmt"
	"strings"
	"time"
)

// Defaults returns the profile named "l40s-8b": a card of the 48 GB class that serves a model of 8 billion 8-bit weights.
// Reading the weights takes 11.5 ms, a prompt token 45 µs (about 20,000 tokens/s in full steps) and a token of context 150 ns,
// so that the mean inter-token latency is 12 ms alone and 30 ms in a full batch of 64 with the prefill that comes with it.
//
// Capacity, measured by TestRampSaturates with Poisson arrivals: 21 requests/s with prompts of 384 and answers of 96 tokens (31
// with 256 and 64, 14 with 512 and 128). At half of it the median time to first token is about 40 ms; at twice it, the queue
// grows by as many requests per second as are served. The cache holds 65,536 tokens: 64 sequences of a thousand tokens fill
// it, longer ones preempt each other.
func Defaults() Profile {
	return Profile{
		Name:             "l40s-8b",
		About:            "a card of 48 GB and 8 billion 8-bit weights",
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
		OutputMean:       96,
		Seed:             1,
		PrefixCache:      true,
		SpecAcceptance:   0.7,
	}
}

// tight returns "a10-8b-tight": a card of the 24 GB class whose memory the 16-bit weights of a model of 8 billion nearly fill.
// Its cache holds 10,240 tokens, not enough for the batch of 64: under load sequences preempt each other.
//
// Capacity, measured by TestProfilesHoldTheirWord: 4.2 requests/s with prompts of 384 and answers of 96 tokens (7.7 with 256 and
// 64, 2.6 with 512 and 128). There, every fifth sequence or more is preempted, below half of it hardly any. The mean inter-token
// latency is 30 ms alone and 53 ms at capacity.
func tight() Profile {
	p := Defaults()
	p.Name, p.Model = "a10-8b-tight", "sim-8b-fp16"
	p.About, p.Capacity = "a card of 24 GB and 8 billion 16-bit weights, so that little cache is left: it preempts", 7.7
	p.MaxModelLen, p.Blocks = 8192, 640
	p.StepBase, p.PrefillToken = 28*time.Millisecond, 220*time.Microsecond
	p.DecodeSequence, p.ContextToken = 80*time.Microsecond, 300*time.Nanosecond
	return p
}

// speculating returns "h100-70b-spec": four cards of the 80 GB class that serve a model of 70 billion 8-bit weights, with a
// small model that drafts three tokens a step, of which each is accepted with 0.7 if those before it were: 2.5 tokens a step.
//
// Capacity, measured by TestProfilesHoldTheirWord: 26 requests/s with prompts of 384 and answers of 96 tokens (39 with 256 and
// 64, 20 with 512 and 128). The mean inter-token latency is 6 ms alone and 42 ms at capacity, where verifying drafts no longer
// pays. The cache holds 524,288 tokens: nobody is preempted, and beginnings that prompts share stay for long.
func speculating() Profile {
	p := Defaults()
	p.Name, p.Model = "h100-70b-spec", "sim-70b"
	p.About, p.Capacity = "four cards of 80 GB and 70 billion 8-bit weights, with speculative decoding", 39
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
	return Profile{}, fmt.Errorf("no profile is called %q; there are %s", name, strings.Join(Names(), ", "))
}
