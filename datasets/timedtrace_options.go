package datasets

import (
	"errors"
	"fmt"
	"math"
)

// TimedTraceOptions says what to take from a trace of requests with their times, and how the trace is written.
type TimedTraceOptions struct {
	Path     string `json:"path"`
	Prompts  int    `json:"prompts"` // how many prompts at most; the trace is not repeated
	IDPrefix string `json:"request_id_prefix"`

	ChunkSize  int         `json:"chunk_size"` // tokens that a hash id stands for
	Multiplier float64     `json:"multiplier"` // seconds in one unit of the time stamps
	Labels     TraceLabels `json:"labels"`     // what the fields are called

	// Vocabulary is used when there is no tokenizer that knows its own.
	Vocabulary Vocabulary `json:"vocabulary"`
}

// TraceLabels are the names of the fields of a trace.
type TraceLabels struct {
	Timestamp    string `json:"timestamp"`
	InputLength  string `json:"input_length"`  // tokens
	OutputLength string `json:"output_length"` // tokens
	HashIDs      string `json:"hash_ids"`      // of the blocks of tokens that the prompt consists of
}

// TimedTraceDefaults are vLLM's: 1000 prompts of a trace in Mooncake's format, in seconds and blocks of 16 tokens. The
// path is left to be filled in.
func TimedTraceDefaults() TimedTraceOptions {
	return TimedTraceOptions{Prompts: 1000, ChunkSize: 16, Multiplier: 1,
		Labels: TraceLabels{Timestamp: "timestamp", InputLength: "input_length", OutputLength: "output_length", HashIDs: "hash_ids"}}
}

// Validate reports every problem with the options, without looking at the file.
func (o TimedTraceOptions) Validate() error {
	var errs []error
	if o.Path == "" {
		errs = append(errs, errors.New("a path to the trace is required"))
	}
	errs = append(errs, within("number of prompts", o.Prompts, 1, math.MaxInt32), within("chunk size", o.ChunkSize, 1, maxLen))
	if !(o.Multiplier >= 0) || math.IsInf(o.Multiplier, 0) {
		errs = append(errs, fmt.Errorf("multiplier of the time stamps %v must be a number from 0 on", o.Multiplier))
	}
	for _, label := range []struct{ what, name string }{
		{"time stamp", o.Labels.Timestamp},
		{"input length", o.Labels.InputLength},
		{"output length", o.Labels.OutputLength},
		{"hash ids", o.Labels.HashIDs},
	} {
		if label.name == "" {
			errs = append(errs, fmt.Errorf("the field of the %s must have a name", label.what))
		}
	}
	if o.Vocabulary.Known() {
		errs = append(errs, o.Vocabulary.validate())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("dataset timed_trace: %w", err)
	}
	return nil
}
