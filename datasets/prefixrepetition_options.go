package datasets

import "math"

// PrefixRepetitionOptions describes random prompts of which many begin alike. Lengths are in tokens.
type PrefixRepetitionOptions struct {
	Prompts        int   `json:"prompts"`      // how many prompts; what the prefixes cannot share evenly is left out
	PrefixLen      int   `json:"prefix_len"`   // of each beginning
	SuffixLen      int   `json:"suffix_len"`   // of each end
	Prefixes       int   `json:"num_prefixes"` // how many beginnings
	OutputLen      int   `json:"output_len"`   // output length asked for; 0 lets the server decide
	DisableShuffle bool  `json:"disable_shuffle"`
	Seed           int64 `json:"seed"`

	// Vocabulary is used when prompts are sent as token ids, or when the tokenizer does not tell the size of its own. Special
	// ids are not left out, as vLLM has it.
	Vocabulary Vocabulary `json:"vocabulary"`
}

// PrefixRepetitionDefaults are vLLM's: 1000 prompts, 10 prefixes of 256 tokens, suffixes of 256, 128 tokens out.
func PrefixRepetitionDefaults() PrefixRepetitionOptions {
	return PrefixRepetitionOptions{Prompts: 1000, PrefixLen: 256, SuffixLen: 256, Prefixes: 10, OutputLen: 128}
}

// Validate reports every problem with the options.
func (o PrefixRepetitionOptions) Validate() error {
	p := &problems{}
	p.between("number of prompts", o.Prompts, 1, math.MaxInt32)
	p.between("prefix length", o.PrefixLen, 0, maxLen)
	p.between("suffix length", o.SuffixLen, 0, maxLen)
	p.between("number of prefixes", o.Prefixes, 1, math.MaxInt32)
	p.between("output length", o.OutputLen, 0, maxLen)
	p.seed(o.Seed, math.MaxUint32)
	p.vocabulary(o.Vocabulary)
	if o.Prompts < o.Prefixes {
		p.add("number of prompts %d must be at least the number of prefixes %d; ask for more prompts or fewer prefixes",
			o.Prompts, o.Prefixes)
	}
	return p.of("prefix_repetition")
}
