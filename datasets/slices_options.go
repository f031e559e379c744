package datasets

import (
	"errors"
	"fmt"
	"math"
)

// SlicesOptions describes prompts cut from a text. Lengths are in tokens.
type SlicesOptions struct {
	Path      string     `json:"path"`    // a text, in UTF-8
	Prompts   int        `json:"prompts"` // how many prompts
	InputLen  int        `json:"input_len"`
	OutputLen int        `json:"output_len"` // output length asked for, at least 1 once drawn
	Ratio     RangeRatio `json:"range_ratio"`
	Seed      int64      `json:"seed"`
}

// SlicesDefaults are vLLM's: 1000 prompts of 1024 tokens, 128 tokens out, all alike in length. The path is left to be
// filled in.
func SlicesDefaults() SlicesOptions {
	return SlicesOptions{Prompts: 1000, InputLen: 1024, OutputLen: 128}
}

// Validate reports every problem with the options, without looking at the file.
func (o SlicesOptions) Validate() error {
	var errs []error
	if o.Path == "" {
		errs = append(errs, errors.New("a path to the text is required"))
	}
	errs = append(errs,
		within("number of prompts", o.Prompts, 1, math.MaxInt32),
		within("input length", o.InputLen, 1, maxLen),
		within("output length", o.OutputLen, 0, maxLen),
	)
	if o.Seed < 0 {
		errs = append(errs, fmt.Errorf("seed %d must not be negative", o.Seed))
	}
	for _, ratio := range []struct {
		what  string
		value float64
	}{{"input", o.Ratio.Input}, {"output", o.Ratio.Output}} {
		if !(ratio.value >= 0 && ratio.value < 1) {
			errs = append(errs, fmt.Errorf("%s range ratio %v must be at least 0 and below 1", ratio.what, ratio.value))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("text slices: %w", err)
	}
	return nil
}
