package cli

import (
	"testing"

	"benchtop/internal/session"
)

// The simulated server reports the length of its model's context.
func TestServeChecksTheContext(t *testing.T) {
	url := simulated(t, nil)
	args := []string{"serve", "--base-url", url, "--vocab-size", "300", "--num-prompts", "2", "--random-output-len",
		"2", "--random-input-len"}
	r := benchtop(append(args, "40000")...)
	r.expect(t, session.ExitUsage, "2 of 2 prompts exceed the model's context of ", "--max-model-len")
	benchtop(append(args, "9")...).expect(t, session.ExitFine)
}

// Embeddings take no room for an answer, and the prompts of a batch do not share a context.
func TestServeChecksTheContextOfEmbeddings(t *testing.T) {
	url := simulated(t, nil) // with a context of 32768 tokens
	args := []string{"serve", "--base-url", url, "--backend", "openai-embeddings", "--vocab-size", "300",
		"--num-prompts", "40", "--random-input-len", "1000"}
	benchtop(append(args, "--random-batch-size", "40")...).expect(t, session.ExitFine,
		"Total input tokens:                      40000")
}
