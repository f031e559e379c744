package datasets

import (
	"errors"
	"fmt"
	"math"
)

// SonnetOptions describes prompts put together from the lines of a poem. Lengths are in tokens.
type SonnetOptions struct {
	Path      string `json:"path"`    // a text, a verse on each line; "" takes the sonnets built in
	Prompts   int    `json:"prompts"` // how many prompts
	InputLen  int    `json:"input_len"`
	OutputLen int    `json:"output_len"`
	PrefixLen int    `json:"prefix_len"` // of what all prompts begin with
	Rendered  bool   `json:"rendered"`   // send what the chat template makes of a prompt; back ends that speak chat render it themselves
	IDPrefix  string `json:"request_id_prefix"`
}

// SonnetDefaults are vLLM's, on the sonnets built in: 1000 prompts of up to 550 tokens, about 200 of which all begin
// with, 150 tokens out.
func SonnetDefaults() SonnetOptions {
	return SonnetOptions{Prompts: 1000, InputLen: 550, OutputLen: 150, PrefixLen: 200}
}

// Validate reports every problem with the options, without looking at the file.
func (o SonnetOptions) Validate() error {
	err := errors.Join(
		within("number of prompts", o.Prompts, 1, math.MaxInt32),
		within("input length", o.InputLen, 1, maxLen),
		within("output length", o.OutputLen, 1, maxLen),
		within("prefix length", o.PrefixLen, 0, maxLen),
	)
	if err != nil {
		return fmt.Errorf("dataset sonnet: %w", err)
	}
	return nil
}

// within is an error unless lo ≤ value ≤ hi.
func within(what string, value, lo, hi int) error {
	if value < lo || value > hi {
		return fmt.Errorf("%s %d must be between %d and %d", what, value, lo, hi)
	}
	return nil
}
