package agents

import (
	"fmt"
	"math"
	"slices"
	"time"
)

const (
	// MaxTokens bounds the lengths of prompts and answers.
	MaxTokens = 1 << 24
	// MaxBlockSize bounds a block in tokens.
	MaxBlockSize = 1 << 20
	// MaxRequests bounds the requests of a session.
	MaxRequests = 1 << 20
	// Longest bounds each time.
	Longest = 366 * 24 * time.Hour

	maxBlock = math.MaxUint64 - MaxTokens // so that a row's last number is one
)

// Validate finds the first problem with a session.
func (s *Session) Validate() error {
	if s.BlockSize < 1 || s.BlockSize > MaxBlockSize {
		return fmt.Errorf("a block of %d tokens; expected 1 to %d", s.BlockSize, MaxBlockSize)
	}
	if len(s.Requests) == 0 || len(s.Requests) > MaxRequests {
		return fmt.Errorf("%d requests in the session; expected 1 to %d", len(s.Requests), MaxRequests)
	}
	if s.Start < 0 || s.Start > Longest {
		return fmt.Errorf("it starts at %v; expected 0 to %v", s.Start, Longest)
	}
	for i := range s.Requests {
		if err := s.Requests[i].validate(i, s.BlockSize); err != nil {
			return inRequest(i, err)
		}
	}
	return nil
}

// validate finds a problem with the request at a place.
func (q *Request) validate(place, blockSize int) error {
	if q.Input < 1 || q.Input > MaxTokens || q.Output < 0 || q.Output > MaxTokens {
		return fmt.Errorf("%d tokens in and %d out; expected 1 and 0 to %d", q.Input, q.Output, MaxTokens)
	}
	room := q.Input / blockSize
	for _, run := range q.Blocks {
		if run.Count < 1 || run.Count > room || run.First > maxBlock {
			return fmt.Errorf("%d blocks from %d do not fit into %d tokens", run.Count, run.First, q.Input)
		}
		room -= run.Count
	}
	if n := len(q.After); n > 0 && (q.After[0] < 0 || q.After[n-1] >= place) || !slices.IsSorted(q.After) {
		return fmt.Errorf("it waits for %v; expected places before its own, ascending", q.After[:min(len(q.After), 20)])
	}
	if q.Delay < 0 || q.Delay > Longest || q.At < 0 || q.At > Longest {
		return fmt.Errorf("a delay of %v at %v; expected 0 to %v", q.Delay, q.At, Longest)
	}
	if q.Tools < 0 || q.Tools > q.Delay {
		return fmt.Errorf("tools take %v of a delay of %v", q.Tools, q.Delay)
	}
	return nil
}
