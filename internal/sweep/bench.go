package sweep

import "context"

// Bench performs one measurement of the client of vllm bench serve. Its arguments are the words behind that command; the flags
// --result-dir and --result-filename among them say where the result goes.
type Bench interface {
	// Check reports all problems of a command line, without a server.
	Check(args []string) error
	// Run measures, and returns when the result is saved. Cancelling the context cuts the run, which is an error.
	Run(ctx context.Context, args []string) error
}
